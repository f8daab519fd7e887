import { configHash } from '../model/config-hash.ts'
import { FLEET_CONFIG_RULES, FREE_SELECTOR_RULES, readSelector } from '../selectors/read-selector.ts'
import type { CampaignRules, StoredCampaign } from '../store/campaigns.ts'
import type {
  CampaignChange,
  CampaignCreateRequest,
  CampaignLimits,
  CampaignScope,
  CampaignWave,
} from '../wire/campaigns.ts'
import type { Selector } from '../wire/selectors.ts'
import { DEFAULT_WAVES } from './waves.ts'
import { describeWindowFault } from './windows.ts'

/** What a campaign is asked to be, once it was checked. */
export type CampaignDraft = Pick<StoredCampaign, 'name' | 'description' | 'change' | 'scope' | 'rules'>

type Read<T> = { ok: true; value: T } | { ok: false; error: string }

const NAME_LENGTH_MAX = 128
const DESCRIPTION_LENGTH_MAX = 4_000
const CONFIG_LENGTH_MAX = 2_097_152
const IDS_MAX = 20_000
const WAVES_MAX = 20
const DWELL_SECONDS_MAX = 7 * 86_400
const WINDOWS_MAX = 14
const IN_FLIGHT = { standard: 500, max: 10_000 }
const CATCH_UP_DAYS = { standard: 7, max: 30 }
const DAY_SECONDS = 86_400
const UNSTORABLE = /\0|\p{Surrogate}/u

const refuse = (error: string) => ({ ok: false, error }) as const
const isCount = (value: number, most: number, least = 0): boolean =>
  Number.isInteger(value) && value >= least && value <= most

/** Check what was sent. */
export function readCampaign(
  sent: Omit<CampaignCreateRequest, 'name' | 'description'> & { name: string; description: string },
): Read<CampaignDraft> {
  const name = sent.name.trim()
  const description = sent.description.trim()
  if (name === '') return refuse('name is required')
  if (name.length > NAME_LENGTH_MAX) return refuse(`name exceeds ${NAME_LENGTH_MAX} characters`)
  if (description.length > DESCRIPTION_LENGTH_MAX)
    return refuse(`description exceeds ${DESCRIPTION_LENGTH_MAX} characters`)
  if (UNSTORABLE.test(name) || UNSTORABLE.test(description))
    return refuse('name and description must be Unicode text without null characters')
  const change = readChange(sent.change as CampaignChange)
  if (!change.ok) return change
  const scope = readScope(sent.scope as CampaignScope)
  if (!scope.ok) return scope
  const rules = readRules(sent)
  if (!rules.ok) return rules
  return {
    ok: true,
    value: { name, description, change: change.value, scope: scope.value, rules: rules.value },
  }
}

function readChange(sent: CampaignChange): Read<CampaignChange> {
  const text = sent.yaml ?? ''
  if (text.trim() === '') return refuse('change.yaml is required')
  if (text.length > CONFIG_LENGTH_MAX) return refuse(`change.yaml exceeds ${CONFIG_LENGTH_MAX} characters`)
  if (UNSTORABLE.test(text)) return refuse('change.yaml must be Unicode text without null characters')
  const takeover = sent.takeover === true ? { takeover: true } : {}
  return { ok: true, value: { kind: 'text', yaml: text, hash: configHash(text), ...takeover } }
}

function readScope(sent: CampaignScope): Read<CampaignScope> {
  const scope: CampaignScope = {}
  for (const key of ['selector', 'exclude_selector'] as const) {
    const asked = sent[key]
    if (asked === undefined || isEmpty(asked)) continue
    const read = readSelector(asked, FREE_SELECTOR_RULES)
    if (!read.ok) return refuse(`scope.${key}: ${read.error}`)
    scope[key] = read.selector
  }
  for (const key of ['workload_ids', 'exclude_ids'] as const) {
    const ids = [...new Set(sent[key] ?? [])]
    if (ids.length > IDS_MAX) return refuse(`scope.${key} has more than ${IDS_MAX} entries`)
    if (ids.length > 0) scope[key] = ids
  }
  if (scope.selector === undefined && scope.workload_ids === undefined)
    return refuse('scope needs a selector or workload_ids')
  return { ok: true, value: scope }
}

const isEmpty = (selector: Selector): boolean =>
  Object.values(selector).every((part) => Object.keys(part ?? {}).length === 0)

function readRules(sent: Pick<CampaignCreateRequest, keyof CampaignCreateRequest>): Read<CampaignRules> {
  const waves = readWaves((sent.waves ?? []) as CampaignWave[])
  if (!waves.ok) return waves
  const limits = readLimits(sent.limits ?? {})
  if (!limits.ok) return limits
  const maxInFlight = sent.max_in_flight ?? IN_FLIGHT.standard
  if (!isCount(maxInFlight, IN_FLIGHT.max, 1))
    return refuse(`max_in_flight must be a whole number from 1 to ${IN_FLIGHT.max}`)
  const catchUpSeconds = sent.catch_up_seconds ?? CATCH_UP_DAYS.standard * DAY_SECONDS
  if (!isCount(catchUpSeconds, CATCH_UP_DAYS.max * DAY_SECONDS))
    return refuse(`catch_up_seconds must be a whole number up to ${CATCH_UP_DAYS.max * DAY_SECONDS}`)
  const windows = (sent.windows ?? []) as CampaignRules['windows']
  if (windows.length > WINDOWS_MAX) return refuse(`windows has more than ${WINDOWS_MAX} entries`)
  const fault = describeWindowFault(windows)
  if (fault !== null) return refuse(fault)
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
  if (sent.length === 0) return { ok: true, value: DEFAULT_WAVES }
  if (sent.length > WAVES_MAX) return refuse(`waves has more than ${WAVES_MAX} entries`)
  const waves: CampaignWave[] = []
  for (const [index, { count, percentage, selector, dwell_seconds = 0 }] of sent.entries()) {
    const at = `waves[${index}]`
    if (count !== undefined && percentage !== undefined) return refuse(`${at} has both count and percentage`)
    if (count !== undefined && !isCount(count, 1_000_000, 1)) return refuse(`${at}.count must be 1 or more`)
    if (percentage !== undefined && !(percentage > 0 && percentage <= 100))
      return refuse(`${at}.percentage must be more than 0 and at most 100`)
    if (!isCount(dwell_seconds, DWELL_SECONDS_MAX))
      return refuse(`${at}.dwell_seconds must be a whole number up to ${DWELL_SECONDS_MAX}`)
    if (selector !== undefined && !isEmpty(selector)) {
      const read = readSelector(selector, FLEET_CONFIG_RULES)
      if (!read.ok) return refuse(`${at}.selector: ${read.error}`)
      waves.push({ selector: read.selector, ...sizeOf(count, percentage), dwell_seconds })
    } else waves.push({ ...sizeOf(count, percentage), dwell_seconds })
  }
  return { ok: true, value: waves }
}

const sizeOf = (count: number | undefined, percentage: number | undefined): CampaignWave =>
  count !== undefined ? { count } : percentage !== undefined ? { percentage } : {}

/** Limits as they were sent: whole numbers, where there are any. */
export function readLimits(sent: CampaignLimits): Read<CampaignLimits> {
  const limits: CampaignLimits = {}
  for (const key of ['failed', 'unhealthy', 'silent'] as const) {
    const value = sent[key]
    if (value === undefined) continue
    if (!isCount(value, 1_000_000)) return refuse(`limits.${key} must be a whole number`)
    limits[key] = value
  }
  return { ok: true, value: limits }
}
