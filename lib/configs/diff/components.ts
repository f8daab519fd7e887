import { compareText } from '../../model/text-order.ts'
import type { DiffChangedField, DiffComponent } from '../../wire/diff.ts'
import type { RiskLevel } from '../../wire/plan.ts'
import { PIPELINE_SECTIONS } from '../../wire/values.ts'
import { componentType } from '../check/components.ts'
import { isOff, isOn } from '../check/switches.ts'
import { holdsSecretKey, isSecretPath, redactName, redactString, redactValue } from '../redact/redact.ts'
import { isSameValue } from '../yaml/equal.ts'
import { type ConfigObject, type ConfigValue, emptyObject, isObject, sortedKeys } from '../yaml/value.ts'
import { hostsOf } from './endpoints.ts'
import { guardRule, isDropping, isSampling, weakensRedaction } from './guards.ts'
import { type ComparedConfig, type ComparedPart, maxRisk, partRef, sectionIds } from './model.ts'
import { type Renamings, storesByItsId } from './renamings.ts'
import { ruleRisk } from './rules.ts'

/** One field of a component that differs, before anything is masked. */
export interface FieldChange {
  /** The keys that lead from the component's settings down to the field. */
  keys: string[]
  hasBefore: boolean
  hasAfter: boolean
  before: ConfigValue
  after: ConfigValue
  rule: FieldRule | null
}

/** The rules that one changed field can break; `risk.ts` has their words. */
export type FieldRule =
  | 'auth_header_modified'
  | 'transport_security_weakened'
  | 'sampling_rate_strongly_changed'
  | 'sampling_policy_modified'
  | 'memory_limit_lowered'
  | 'memory_limit_raised'
  | 'delivery_guard_weakened'

/** A component's difference with what later steps need of it. */
export interface ComponentDifference {
  part: ComparedPart
  shown: DiffComponent
  fields: FieldChange[]
}

/** Compare all components and other settings; sorted by id, equal ones left out. */
export function diffComponents(
  base: ComparedConfig,
  target: ComparedConfig,
  /** The exporters of the target that send to where nothing went before. */
  destinations: ReadonlySet<string>,
  renamings: Renamings,
): ComponentDifference[] {
  const keys = [...new Set([...base.parts.keys(), ...target.parts.keys()])].sort(compareText)
  const listing = pipelinesByPart(base, target)
  return keys.flatMap((key) => {
    const before = base.parts.get(key)
    const after = target.parts.get(key)
    const impacted = listing.get(key) ?? []
    // What refers to a component that only got another id refers to it by that.
    if (before && after) return modified(renamings.base.parts.get(key)!, after, impacted)
    const [to, from] = [renamings.to.get(key), renamings.from.get(key)]
    if (before && to !== undefined) return [renamed(before, target.parts.get(to)!, impacted)]
    if (after && from !== undefined) return [renamedFrom(after, base.parts.get(from)!, impacted)]
    return before ? [removed(before, impacted)] : [added(after!, impacted, destinations)]
  })
}

/** Addresses that are told of one new exporter. */
const ADDRESSES_SHOWN = 8

function added(
  part: ComparedPart,
  impacted: string[],
  destinations: ReadonlySet<string>,
): ComponentDifference {
  const after = shownBody(part)
  const rules =
    part.category === 'exporters' && destinations.has(part.id)
      ? ['destination_added']
      : part.category === 'processors' && isDropping(part.id) && impacted.length > 0
        ? [droppingRule(part)]
        : []
  const risk = maxRisk(['low', ...rules.map(ruleRisk)])
  const addresses = part.category === 'exporters' ? hostsOf(part).map(redactString) : []
  const shown = component(part, 'added', risk, rules, impacted, {
    ...(after === null ? {} : { after }),
    ...(addresses.length === 0 ? {} : { addresses: addresses.slice(0, ADDRESSES_SHOWN) }),
  })
  return { part, shown, fields: [] }
}

/** Who adds a sampler that says which share it keeps changes that from all to this. */
function droppingRule({ id, settings }: ComparedPart): string {
  const share = isObject(settings) ? settings['sampling_percentage'] : undefined
  const isStrong = isSampling(id) && share !== undefined && isStrongChange(100, share)
  return isStrong ? 'sampling_rate_strongly_changed' : 'dropping_processor_added'
}

function removed(part: ComparedPart, impacted: string[]): ComponentDifference {
  const rule = removalRule(part)
  const before = shownBody(part)
  const body = { ...(before === null ? {} : { before }) }
  const shown = component(part, 'removed', rule ? 'high' : 'medium', rule ? [rule] : [], impacted, body)
  return { part, shown, fields: [] }
}

/** A component that is there under another id: nothing is lost but what it stored under the former one. */
function renamed(part: ComparedPart, after: ComparedPart, impacted: string[]): ComponentDifference {
  const rules = storesByItsId(part.settings) ? ['stored_state_left_behind'] : []
  const before = shownBody(part)
  const shown = component(part, 'removed', maxRisk(['low', ...rules.map(ruleRisk)]), rules, impacted, {
    ...(before === null ? {} : { before }),
    title: `${singular(part.category)} ${redactName(part.id)} renamed to ${redactName(after.id)}`,
    renamed_to: redactName(after.id),
  })
  return { part, shown, fields: [] }
}

function renamedFrom(part: ComparedPart, before: ComparedPart, impacted: string[]): ComponentDifference {
  const after = shownBody(part)
  const shown = component(part, 'added', 'low', [], impacted, {
    ...(after === null ? {} : { after }),
    title: `${singular(part.category)} ${redactName(part.id)} renamed from ${redactName(before.id)}`,
    renamed_from: redactName(before.id),
  })
  return { part, shown, fields: [] }
}

function modified(before: ComparedPart, after: ComparedPart, impacted: string[]): ComponentDifference[] {
  const left = bodyOf(before)
  const right = bodyOf(after)
  if (isSameValue(left, right)) return []
  const fields: FieldChange[] = []
  collectFields(left, right, [], before.id, fields)
  const isExposing = before.category === 'processors' && weakensRedaction(before.id, left, right)
  const rules: string[] = [
    ...new Set([...fields.flatMap(({ rule }) => rule ?? []), ...(isExposing ? ['redaction_weakened'] : [])]),
  ].sort()
  const risk = maxRisk(['low', ...rules.map(ruleRisk)])
  const shown = component(before, 'modified', risk, rules, impacted, {
    before: shownBody(before),
    after: shownBody(after),
    changed_fields: fields
      .map((field) => shownField(before, field))
      .sort((a, b) => compareText(a.path, b.path)),
  })
  return [{ part: before, shown, fields }]
}

function component(
  part: ComparedPart,
  kind: 'added' | 'removed' | 'modified',
  risk: RiskLevel,
  rules: string[],
  impacted: string[],
  rest: Partial<DiffComponent>,
): DiffComponent {
  return {
    id: redactName(part.key),
    kind,
    component: partRef(part, part.path),
    risk,
    title: `${singular(part.category)} ${redactName(part.id)} ${kind}`,
    changed_fields: [],
    impacted_pipelines: impacted,
    rules,
    ...rest,
  }
}

/** What one component of a category is called. */
export function singular(category: string): string {
  return category.endsWith('s') ? category.slice(0, -1) : category
}

/** Settings that are absent stand for defaults, like an empty mapping. */
function bodyOf(part: ComparedPart): ConfigValue {
  return part.settings === null ? emptyObject() : part.settings
}

function shownBody(part: ComparedPart): ConfigValue {
  return redactValue(part.settings, [part.id])
}

function collectFields(
  before: ConfigValue,
  after: ConfigValue,
  keys: string[],
  id: string,
  into: FieldChange[],
): void {
  if (!isObject(before) || !isObject(after)) {
    if (!isSameValue(before, after)) into.push(change(keys, before, after, id))
    return
  }
  for (const key of sortedKeys({ ...before, ...after } as ConfigObject)) {
    const path = [...keys, key]
    if (!Object.hasOwn(before, key)) into.push(change(path, undefined, after[key], id))
    else if (!Object.hasOwn(after, key)) into.push(change(path, before[key], undefined, id))
    else collectFields(before[key]!, after[key]!, path, id, into)
  }
}

function change(
  keys: string[],
  before: ConfigValue | undefined,
  after: ConfigValue | undefined,
  id: string,
): FieldChange {
  return {
    keys,
    hasBefore: before !== undefined,
    hasAfter: after !== undefined,
    before: before ?? null,
    after: after ?? null,
    rule: fieldRule(keys, before, after, id),
  }
}

function shownField(part: ComparedPart, field: FieldChange): DiffChangedField {
  const path = [part.id, ...field.keys]
  return {
    path: fieldPath(part, field),
    ...(field.hasBefore ? { before: redactValue(field.before, path) } : {}),
    ...(field.hasAfter ? { after: redactValue(field.after, path) } : {}),
    risk: fieldRisk(field.rule),
  }
}

function fieldRisk(rule: FieldRule | null): RiskLevel {
  if (rule === 'auth_header_modified' || rule === 'transport_security_weakened') return 'high'
  return MEDIUM_FIELDS.has(rule) ? 'medium' : 'low'
}

const MEDIUM_FIELDS: ReadonlySet<FieldRule | null> = new Set([
  'memory_limit_lowered',
  'memory_limit_raised',
  'delivery_guard_weakened',
])

/** Where a changed field is, from the top of the config. */
export function fieldPath(part: ComparedPart, { keys }: FieldChange): string {
  return redactName([part.path, ...keys].join('.'))
}

const AUTH = /auth|bearer_token|api_key|client_secret|password|token|headers/i

function fieldRule(
  keys: readonly string[],
  before: ConfigValue | undefined,
  after: ConfigValue | undefined,
  id: string,
): FieldRule | null {
  const path = keys.join('.')
  if (
    AUTH.test(path) ||
    isSecretPath(keys) ||
    holdsSecretKey(before, keys.at(-1)) ||
    holdsSecretKey(after, keys.at(-1))
  ) {
    return 'auth_header_modified'
  }
  if (isInsecure(path, after) && !isInsecure(path, before)) return 'transport_security_weakened'
  if (isSampling(id) && path.includes('sampling_percentage')) {
    return isStrongChange(before, after) ? 'sampling_rate_strongly_changed' : 'sampling_policy_modified'
  }
  if (componentType(id) === 'memory_limiter') {
    if (isRaisedLimit(path, before, after)) return 'memory_limit_raised'
    if (LIMIT.test(path) && Number(after) < Number(before)) return 'memory_limit_lowered'
  }
  if (DELIVERY_GUARD.test(path) && isOff(after) && !isOff(before)) return 'delivery_guard_weakened'
  return null
}

/** Whether a memory limiter has a higher limit than before, or a `check_interval` that is zero or was taken out. */
function isRaisedLimit(
  path: string,
  before: ConfigValue | undefined,
  after: ConfigValue | undefined,
): boolean {
  if (path === 'check_interval') return /^0(?:[a-zµ]+)?$/.test(String(after ?? '0').trim())
  return LIMIT.test(path) && Number(after) > Number(before)
}

const LIMIT = /^limit_(?:mib|percentage)$/

/** A collector reads `tls::insecure` as `insecure` below `tls`. */
const INSECURE = /(?:^|\.|::)insecure(?:_skip_verify)?$|tls(?:\.|::)insecure/i
const DELIVERY_GUARD = /^(?:sending_queue|retry_on_failure)(?:\.|::)enabled$/

/** Whether a value at a path switches transport security off, itself or further down. */
function isInsecure(path: string, value: ConfigValue | undefined): boolean {
  if (isOn(value)) return INSECURE.test(path)
  if (!isObject(value)) return false
  return Object.entries(value).some(([key, entry]) => isInsecure(`${path}.${key}`, entry))
}

function isStrongChange(before: ConfigValue | undefined, after: ConfigValue | undefined): boolean {
  const old = Number(before ?? Number.NaN)
  const now = Number(after ?? Number.NaN)
  if (Number.isNaN(old) || Number.isNaN(now) || old === 0) return false
  return now / old <= 0.5 || now / old >= 2 || (old === 100 && now < 100)
}

function removalRule({ category, id, settings }: ComparedPart): string | null {
  if (category === 'exporters') return 'exporter_removed'
  return category === 'processors' ? guardRule(id, settings) : null
}

/** Which pipelines list a component in its section, on either side: `<category>:<id>` → sorted names. */
function pipelinesByPart(base: ComparedConfig, target: ComparedConfig): Map<string, string[]> {
  const names = new Map<string, Set<string>>()
  for (const { pipelines } of [base, target]) {
    for (const [name, pipeline] of pipelines) {
      for (const section of PIPELINE_SECTIONS) {
        for (const id of sectionIds(pipeline, section)) {
          const key = `${section}:${id}`
          const known = names.get(key)
          if (known) known.add(name)
          else names.set(key, new Set([name]))
        }
      }
    }
  }
  return new Map([...names].map(([key, found]) => [key, [...found].sort(compareText)]))
}
