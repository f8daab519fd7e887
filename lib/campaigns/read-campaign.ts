import {
  CATCH_UP_DAYS,
  COUNT_MAX,
  DWELL_SECONDS_MAX,
  IN_FLIGHT,
  LIMITED,
  STANDARD_WAVES,
  WAVES_MAX,
  WINDOWS_MAX,
} from '../model/campaign-rules.ts'
import { configHash } from '../model/config-hash.ts'
import { faultOf } from '../model/faults.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { isStorableJson } from '../model/storable.ts'
import { isGlob } from '../selectors/glob.ts'
import {
  FLEET_CONFIG_RULES,
  FREE_SELECTOR_RULES,
  readSelector,
  SELECTOR_ERRORS,
  type SelectorRefusal,
  type SelectorRules,
  TEXT_LENGTH_MAX,
} from '../selectors/read-selector.ts'
import type { CampaignRules, StoredCampaign, StoredChange } from '../store/campaigns.ts'
import type {
  CampaignChange,
  CampaignCreateRequest,
  CampaignLimits,
  CampaignScope,
  CampaignWave,
} from '../wire/campaigns.ts'
import type { Selector } from '../wire/selectors.ts'
import { findWindowFault } from './run/windows.ts'

/** What somebody asks of a campaign, as `readCampaign` has checked it. */
export type CampaignDraft = Pick<StoredCampaign, 'name' | 'description' | 'change' | 'scope' | 'rules'>

const OWN_ERRORS = [
  'campaign-change-invalid',
  'campaign-list-too-long',
  'campaign-number-invalid',
  'campaign-scope-empty',
  'campaign-text-invalid',
  'campaign-wave-ambiguous',
  'campaign-window-invalid',
  'description-too-long',
  'name-required',
  'name-too-long',
] as const

/** Codes that a sent campaign can be refused with. */
export const CAMPAIGN_ERRORS = [...OWN_ERRORS, ...SELECTOR_ERRORS] as const

type CampaignRefusal = SelectorRefusal | Refusal<(typeof OWN_ERRORS)[number]>
type Read<T> = { ok: true; value: T } | CampaignRefusal

const NAME_LENGTH_MAX = 128
const DESCRIPTION_LENGTH_MAX = 4_000
const CONFIG_LENGTH_MAX = 2_097_152
const PATCH_LENGTH_MAX = 262_144
const IDS_MAX = 20_000
/** Ids of workloads are shorter. */
const ID_LENGTH_MAX = 64
/** Names that are left out, and how many of them may be globs: each glob is compared with every workload. */
const NAMES_MAX = 1_000
const GLOBS_MAX = 50
const DAY_SECONDS = 86_400

const isCount = (value: number, most: number, least = 0): boolean =>
  Number.isInteger(value) && value >= least && value <= most

const refuseNumber = (field: string, min: number, max: number) =>
  refuse('campaign-number-invalid', { field, min, max })

/** Check a campaign as it was sent, and fill in what was left out. */
export function readCampaign(
  sent: Omit<CampaignCreateRequest, 'name' | 'description'> & { name: string; description: string },
): Read<CampaignDraft> {
  const name = sent.name.trim()
  const description = sent.description.trim()
  if (name === '') return refuse('name-required')
  if (name.length > NAME_LENGTH_MAX) return refuse('name-too-long', { max: NAME_LENGTH_MAX })
  if (description.length > DESCRIPTION_LENGTH_MAX)
    return refuse('description-too-long', { max: DESCRIPTION_LENGTH_MAX })
  // Most of it is stored as JSON, so all its texts are checked for characters that cannot be stored at once.
  if (!isStorableJson(sent)) return refuse('campaign-text-invalid')
  const change = readChange(sent.change as CampaignChange)
  if (!change.ok) return change
  const scope = readScope(sent.scope as CampaignScope, change.value.kind === 'version')
  if (!scope.ok) return scope
  const rules = readRules(sent)
  if (!rules.ok) return rules
  return {
    ok: true,
    value: { name, description, change: change.value, scope: scope.value, rules: rules.value },
  }
}

function readChange(sent: CampaignChange): Read<StoredChange> {
  if (sent.kind === 'version') return readVersion(sent)
  return sent.kind === 'patch' ? readPatch(sent) : readText(sent)
}

function readVersion(sent: Extract<CampaignChange, { kind: 'version' }>): Read<StoredChange> {
  const { fleet_config_id: id, number } = sent
  if (id === '' || id.length > NAME_LENGTH_MAX || !isCount(number, 1_000_000, 1))
    return refuse('campaign-change-invalid', faultOf('version_nameless'))
  const takeover = sent.takeover === true ? { takeover: true } : {}
  return { ok: true, value: { kind: 'version', fleet_config_id: id, number, ...takeover } }
}

function readText(sent: Extract<CampaignChange, { kind: 'text' }>): Read<StoredChange> {
  const text = sent.yaml ?? ''
  if (text.trim() === '') return refuse('campaign-change-invalid', faultOf('yaml_empty'))
  if (text.length > CONFIG_LENGTH_MAX)
    return refuse('campaign-change-invalid', faultOf('yaml_too_long', { max: CONFIG_LENGTH_MAX }))
  const takeover = sent.takeover === true ? { takeover: true } : {}
  return { ok: true, value: { kind: 'text', yaml: text, hash: configHash(text), ...takeover } }
}

function readPatch(sent: Extract<CampaignChange, { kind: 'patch' }>): Read<StoredChange> {
  const patch = sent.patch ?? {}
  const { remove, merge, pipeline, rename_component: renamings } = patch
  const text = JSON.stringify(patch)
  const changes = [remove, merge === undefined ? [] : Object.keys(merge), pipeline, renamings]
  if (changes.every((part) => part === undefined || part.length === 0))
    return refuse('campaign-change-invalid', faultOf('patch_empty'))
  if (text.length > PATCH_LENGTH_MAX)
    return refuse('campaign-change-invalid', faultOf('patch_too_long', { max: PATCH_LENGTH_MAX }))
  const isOneSided = ({ add, remove: taken }: NonNullable<typeof pipeline>[number]) =>
    (add === undefined) !== (taken === undefined)
  if (!(pipeline ?? []).every(isOneSided))
    return refuse('campaign-change-invalid', faultOf('patch_pipeline_ambiguous'))
  const longGlob = refuseLong(
    'change.patch.pipeline',
    (pipeline ?? []).flatMap(({ pipelines }) => pipelines),
  )
  if (longGlob !== null) return longGlob
  const unfit = sent.where_unfit === 'refuse' ? { where_unfit: 'refuse' as const } : {}
  return { ok: true, value: { kind: 'patch', patch, hash: configHash(text), ...unfit } }
}

/**
 * Check whom a campaign means. `hasEveryone`: without a selector and a list it means all that are under its fleet
 * config.
 */
export function readScope(sent: CampaignScope, hasEveryone: boolean): Read<CampaignScope> {
  const scope: CampaignScope = {}
  for (const key of ['selector', 'exclude_selector'] as const) {
    const asked = sent[key]
    if (asked === undefined || isEmpty(asked)) continue
    const read = readSelectorOf(`scope.${key}`, asked, FREE_SELECTOR_RULES)
    if (!read.ok) return read
    scope[key] = read.value
  }
  for (const key of ['workload_ids', 'exclude_ids'] as const) {
    const ids = [...new Set(sent[key] ?? [])]
    if (ids.length > IDS_MAX) return refuse('campaign-list-too-long', { field: `scope.${key}`, max: IDS_MAX })
    const longId = refuseLong(`scope.${key}`, ids, ID_LENGTH_MAX)
    if (longId !== null) return longId
    if (ids.length > 0) scope[key] = ids
  }
  const names = [...new Set((sent.exclude_names ?? []).map((name) => name.trim()))].filter(
    (name) => name !== '',
  )
  for (const [list, max] of [
    [names, NAMES_MAX],
    [names.filter(isGlob), GLOBS_MAX],
  ] as const)
    if (list.length > max) return refuse('campaign-list-too-long', { field: 'scope.exclude_names', max })
  const longName = refuseLong('scope.exclude_names', names)
  if (longName !== null) return longName
  if (names.length > 0) scope.exclude_names = names
  const isEmptyScope = scope.selector === undefined && scope.workload_ids === undefined
  if (isEmptyScope && !hasEveryone) return refuse('campaign-scope-empty')
  return { ok: true, value: scope }
}

/** Refuse texts of which one is longer than `max`, or than a selector's may be; null when none is. */
const refuseLong = (field: string, texts: readonly string[], max = TEXT_LENGTH_MAX) =>
  texts.some((text) => text.length > max) ? refuse('labels-have-long-text', { field, max }) : null

/** Check a selector. A refusal names the field that it is about. */
function readSelectorOf(field: string, sent: Selector, rules: SelectorRules): Read<Selector> {
  const read = readSelector(sent, rules)
  return read.ok ? { ok: true, value: read.selector } : { ...read, details: { ...read.details, field } }
}

const isEmpty = (selector: Selector): boolean =>
  Object.values(selector).every((part) => Object.keys(part ?? {}).length === 0)

function readRules(sent: Pick<CampaignCreateRequest, keyof CampaignCreateRequest>): Read<CampaignRules> {
  const waves = readWaves((sent.waves ?? []) as CampaignWave[])
  if (!waves.ok) return waves
  const limits = readLimits(sent.limits ?? {})
  if (!limits.ok) return limits
  const maxInFlight = sent.max_in_flight ?? IN_FLIGHT.standard
  if (!isCount(maxInFlight, IN_FLIGHT.max, 1)) return refuseNumber('max_in_flight', 1, IN_FLIGHT.max)
  const catchUpSeconds = sent.catch_up_seconds ?? CATCH_UP_DAYS.standard * DAY_SECONDS
  if (!isCount(catchUpSeconds, CATCH_UP_DAYS.max * DAY_SECONDS))
    return refuseNumber('catch_up_seconds', 0, CATCH_UP_DAYS.max * DAY_SECONDS)
  const sentWindows = (sent.windows ?? []) as CampaignRules['windows']
  if (sentWindows.length > WINDOWS_MAX)
    return refuse('campaign-list-too-long', { field: 'windows', max: WINDOWS_MAX })
  const windows = sentWindows.map((window) =>
    window.days === undefined ? window : { ...window, days: [...new Set(window.days)] },
  )
  const fault = findWindowFault(windows)
  if (fault !== null) return refuse('campaign-window-invalid', { field: 'windows', ...fault })
  const retryQuarantined = sent.retry_quarantined === true
  return {
    ok: true,
    value: {
      waves: waves.value,
      limits: limits.value,
      maxInFlight,
      catchUpSeconds,
      windows,
      retryQuarantined,
    },
  }
}

function readWaves(sent: readonly CampaignWave[]): Read<readonly CampaignWave[]> {
  if (sent.length === 0) return { ok: true, value: STANDARD_WAVES }
  if (sent.length > WAVES_MAX) return refuse('campaign-list-too-long', { field: 'waves', max: WAVES_MAX })
  const waves: CampaignWave[] = []
  for (const [index, { count, percentage, selector, dwell_seconds = 0 }] of sent.entries()) {
    const at = `waves[${index}]`
    if (count !== undefined && percentage !== undefined)
      return refuse('campaign-wave-ambiguous', { field: at })
    if (count !== undefined && !isCount(count, COUNT_MAX, 1)) return refuseNumber(`${at}.count`, 1, COUNT_MAX)
    if (percentage !== undefined && !(percentage > 0 && percentage <= 100))
      return refuseNumber(`${at}.percentage`, 0, 100)
    if (!isCount(dwell_seconds, DWELL_SECONDS_MAX))
      return refuseNumber(`${at}.dwell_seconds`, 0, DWELL_SECONDS_MAX)
    if (selector !== undefined && !isEmpty(selector)) {
      const read = readSelectorOf(`${at}.selector`, selector, FLEET_CONFIG_RULES)
      if (!read.ok) return read
      waves.push({ selector: read.value, ...sizeOf(count, percentage), dwell_seconds })
    } else waves.push({ ...sizeOf(count, percentage), dwell_seconds })
  }
  return { ok: true, value: waves }
}

const sizeOf = (count: number | undefined, percentage: number | undefined): CampaignWave =>
  count !== undefined ? { count } : percentage !== undefined ? { percentage } : {}

/** Check limits as they were sent: numbers of workloads from 0 to 1,000,000. A limit that is missing stays so. */
export function readLimits(sent: CampaignLimits): Read<CampaignLimits> {
  const limits: CampaignLimits = {}
  for (const key of LIMITED) {
    const value = sent[key]
    if (value === undefined) continue
    if (!isCount(value, COUNT_MAX)) return refuseNumber(`limits.${key}`, 0, COUNT_MAX)
    limits[key] = value
  }
  return { ok: true, value: limits }
}
