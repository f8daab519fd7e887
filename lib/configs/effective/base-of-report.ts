import { stringify } from 'yaml'
import { componentType } from '../check/components.ts'
import { editText } from '../patch/edit-text.ts'
import { isSameValue } from '../yaml/equal.ts'
import { parseConfig } from '../yaml/parse.ts'
import type { ReadConfig } from '../yaml/parse-memory.ts'
import { type ConfigObject, type ConfigValue, emptyObject, isObject } from '../yaml/value.ts'
import { fillMasked } from './fill-masked.ts'
import { isSameScalar } from './match.ts'

/** Longer texts are not spelt as the draft is: each difference reads the whole text once more. */
const SPELT_LENGTH_MAX = 32_768
/** Differences after which the two are so unlike that their lines would say nothing. */
const SPELT_STEPS_MAX = 40

/**
 * What a first config replaces: the normal form that instances report, without what the supervisor puts into every
 * config and will put into the next one, and with the draft's own value where the report hides one or writes the same
 * value otherwise (`1m0s` for `60s`). The reader may remember drafts.
 */
export function baseOfReport(reported: string, draft: string, readConfig: ReadConfig = parseConfig): string {
  const filled = fillMasked(reported, draft)
  const before = parseConfig(filled)
  if (!before.ok) return filled
  const after = readConfig(draft)
  const asked = after.ok ? after.document.root : emptyObject()
  const base = alignValue(withoutSupervisor(before.document.root, asked), asked) as ConfigObject
  if (isSameValue(base, before.document.root)) return filled
  return stringify(base, { aliasDuplicateObjects: false, lineWidth: 0, version: '1.1' })
}

/**
 * `baseOfReport`, with order, layout and comments of the draft, so that two texts side by side differ only where the
 * configs do; in its normal form where the two are too long or too unlike for that.
 */
export function baseInWordsOf(draft: string, reported: string, readConfig: ReadConfig = parseConfig): string {
  const base = baseOfReport(reported, draft, readConfig)
  if (base.length > SPELT_LENGTH_MAX || draft.length > SPELT_LENGTH_MAX) return base
  const read = parseConfig(base)
  if (!read.ok) return base
  const spelt = editText(draft, read.document.root, SPELT_STEPS_MAX)
  if (spelt === null) return base
  const again = parseConfig(spelt)
  return again.ok && isSameValue(again.document.root, read.document.root) ? spelt : base
}

/** A copy without what only the supervisor said, or nobody: nothing is left out that the draft says too. */
function withoutSupervisor(root: ConfigObject, draft: ConfigObject): ConfigObject {
  const ids = Object.keys(sectionOf(root, 'extensions')).filter(
    (id) => isOfSupervisor(id, sectionOf(root, 'extensions')[id]) && !(id in sectionOf(draft, 'extensions')),
  )
  const service = without(sectionOf(root, 'service'), [])
  const asked = sectionOf(draft, 'service')
  const { extensions, telemetry } = service
  if (Array.isArray(extensions))
    keepOrDrop(
      service,
      'extensions',
      extensions.filter((id) => !ids.includes(String(id))),
      asked,
    )
  if (isObject(telemetry)) {
    const kept = without(telemetry, isEmpty(telemetry['resource']) ? ['resource'] : [])
    keepOrDrop(service, 'telemetry', kept, asked)
  }
  const left = without(root, [])
  if (ids.length > 0) keepOrDrop(left, 'extensions', without(sectionOf(root, 'extensions'), ids), draft)
  if (isObject(root['service'])) left['service'] = service
  // The normal form writes sections that hold nothing, and say nothing. One without a service is no config.
  const isSaid = (name: string) => name === 'service' || name in draft || !isEmpty(left[name])
  return without(
    left,
    Object.keys(left).filter((name) => !isSaid(name)),
  )
}

/** Whether an extension is the one through which the supervisor speaks with the collector, on the same host. */
function isOfSupervisor(id: string, settings: ConfigValue | undefined): boolean {
  if (componentType(id) !== 'opamp') return false
  if (!isObject(settings)) return true
  // The normal form has no address where it is one of the host itself.
  return Object.values(sectionOf(settings, 'server')).every(
    (transport) => !isObject(transport) || !('endpoint' in transport),
  )
}

const sectionOf = (root: ConfigObject, name: string): ConfigObject => {
  const section = root[name]
  return isObject(section) ? section : emptyObject()
}

function without(object: ConfigObject, names: readonly string[]): ConfigObject {
  const copy = emptyObject()
  for (const key of Object.keys(object)) if (!names.includes(key)) copy[key] = object[key]!
  return copy
}

const isEmpty = (value: ConfigValue | undefined): boolean =>
  value === null ||
  (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0)

/** Put a section in its place, or leave it out where nothing is left in it and the draft has none. */
function keepOrDrop(into: ConfigObject, name: string, value: ConfigValue, draft: ConfigObject): void {
  if (isEmpty(value) && !(name in draft)) delete into[name]
  else into[name] = value
}

/** A value as the draft writes it, wherever both mean the same. */
function alignValue(value: ConfigValue, draft: ConfigValue | undefined): ConfigValue {
  if (draft === undefined) return value
  if (isEmpty(value) && isEmpty(draft)) return draft
  if (isObject(value) && isObject(draft)) {
    const aligned = emptyObject()
    for (const key of Object.keys(value)) aligned[key] = alignValue(value[key]!, draft[key])
    return aligned
  }
  if (Array.isArray(value) && Array.isArray(draft))
    return value.map((entry, index) => alignValue(entry, draft[index]))
  return isSameScalar(draft, value) ? draft : value
}
