import {
  CATCH_UP_DAYS,
  COUNT_MAX,
  DWELL_SECONDS,
  DWELL_SECONDS_MAX,
  IN_FLIGHT,
  LIMITED,
  type Limited,
  STANDARD_WAVES,
} from '../../../lib/model/campaign-rules.ts'
import type {
  CampaignChange,
  CampaignCreateRequest,
  CampaignLimits,
  CampaignRecord,
  CampaignScope,
  CampaignWave,
  CampaignWindow,
} from '../../../lib/wire/campaigns.ts'
import type { Selector } from '../../../lib/wire/selectors.ts'
import { readWords } from './label-lines.ts'
import { readSelectorLines, selectorLines } from './selector-lines.ts'

/** How large a wave is: so many workloads, so many of a hundred, or all that meet its conditions. */
export const WAVE_SIZES = ['count', 'percentage', 'all'] as const
/** One of these sizes. */
export type WaveSize = (typeof WAVE_SIZES)[number]

/** A wave as it is typed. The last one takes the rest: only how long it is watched is asked of it. */
export interface WaveRow {
  by: WaveSize
  size: string
  lines: string
  dwell: string
}

/** A window as it is typed; no day means every day. */
export interface WindowRow {
  days: readonly number[]
  from: string
  to: string
}

/** Limits as they are typed; an empty one is not said. */
export type TypedLimits = Readonly<Record<Limited, string>>

/** No limit is said. */
export const NO_LIMITS: TypedLimits = { failed: '', unhealthy: '', drifted: '', silent: '' }

/** A campaign as it is typed. */
export interface CampaignValues {
  name: string
  description: string
  kind: NonNullable<CampaignChange['kind']>
  /** The config, or the patch as JSON. */
  text: string
  takeover: boolean
  /** Of a patch: nobody can ask for it where it does not fit somewhere. */
  unfitRefuses: boolean
  /** The version that is carried, where one is. */
  version: { fleetConfigId: string; number: number } | null
  lines: string
  /** Workloads that were chosen elsewhere; null where this tab does not know them any more. */
  ids: readonly string[] | null
  excludeLines: string
  excludeNames: string
  waves: readonly WaveRow[]
  limits: TypedLimits
  maxInFlight: string
  catchUpDays: string
  windows: readonly WindowRow[]
  retryQuarantined: boolean
}

/** What is wrong with a field. `missing`: it has to be filled in; `line`: `about` is no condition. */
export type Fault =
  | { kind: 'missing' | 'json' | 'time' | 'nobody' | 'unknown' }
  | { kind: 'line'; about: string }
  | { kind: 'number'; min: number; max: number }

/** The faults of a form by field, named as the server names fields: `limits.failed`, `waves[0].count`. */
export type Faults = Readonly<Record<string, Fault>>

const DAY_SECONDS = 86_400

/** A form in which everything stands as it is where nothing is said. */
export const emptyValues = (): CampaignValues => ({
  name: '',
  description: '',
  kind: 'text',
  text: '',
  takeover: false,
  unfitRefuses: false,
  version: null,
  lines: '',
  ids: [],
  excludeLines: '',
  excludeNames: '',
  waves: STANDARD_WAVES.map(toWaveRow),
  limits: NO_LIMITS,
  maxInFlight: String(IN_FLIGHT.standard),
  catchUpDays: String(CATCH_UP_DAYS.standard),
  windows: [],
  retryQuarantined: false,
})

/** A campaign that was stored, as it is typed. */
export function toValues(of: CampaignRecord): CampaignValues {
  const { change, scope, limits } = of
  return {
    name: of.name,
    description: of.description,
    kind: change.kind ?? 'text',
    text: textOfChange(change),
    takeover: change.kind !== 'patch' && change.takeover === true,
    unfitRefuses: change.kind === 'patch' && change.where_unfit === 'refuse',
    version:
      change.kind === 'version' ? { fleetConfigId: change.fleet_config_id, number: change.number } : null,
    lines: linesOf(scope.selector),
    ids: scope.workload_ids ?? [],
    excludeLines: linesOf(scope.exclude_selector),
    excludeNames: [...(scope.exclude_names ?? []), ...(scope.exclude_ids ?? [])].join('\n'),
    waves: of.waves.map(toWaveRow),
    limits: Object.fromEntries(
      LIMITED.map((key) => [key, String(limits[key] ?? '')]),
    ) as CampaignValues['limits'],
    maxInFlight: String(of.max_in_flight),
    catchUpDays: String(of.catch_up_seconds / DAY_SECONDS),
    windows: of.windows.map(({ days = [], from, to }) => ({ days, from, to })),
    retryQuarantined: of.retry_quarantined,
  }
}

/** Whether the form can say all that a campaign says: its conditions know labels and identities only. */
export const canBeTyped = ({ scope, waves }: Pick<CampaignRecord, 'scope' | 'waves'>): boolean =>
  [scope.selector, scope.exclude_selector, ...waves.map(({ selector }) => selector)].every(
    (selector) => !selector?.types && !selector?.versions && !selector?.capabilities,
  )

/** The config or the patch of a campaign as it is typed; '' for a version, and where it is not shown. */
export function textOfChange(change: CampaignChange): string {
  if (change.kind === 'patch') return change.patch === undefined ? '' : JSON.stringify(change.patch, null, 2)
  return change.kind === 'version' ? '' : (change.yaml ?? '')
}

const linesOf = (selector: Selector | undefined): string => selectorLines(selector ?? {}).join('\n')

function toWaveRow({ count, percentage, selector, dwell_seconds = 0 }: CampaignWave): WaveRow {
  return {
    by: count !== undefined ? 'count' : percentage !== undefined ? 'percentage' : 'all',
    size: String(count ?? percentage ?? ''),
    lines: linesOf(selector),
    dwell: String(dwell_seconds),
  }
}

/** A wave for somebody to fill in. */
export const newWave = (): WaveRow => ({
  by: 'percentage',
  size: '25',
  lines: '',
  dwell: String(DWELL_SECONDS),
})

/** A window for somebody to fill in: working days, by UTC. */
export const newWindow = (): WindowRow => ({ days: [1, 2, 3, 4, 5], from: '09:00', to: '16:00' })

/** Reads typed values, and collects what is wrong with them. */
class Reader {
  readonly faults: Record<string, Fault> = {}

  text(field: string, value: string): string {
    const text = value.trim()
    if (text === '') this.faults[field] = { kind: 'missing' }
    return text
  }

  /** A number from `min` to `max`; undefined where nothing is typed and that is allowed. */
  number(
    field: string,
    value: string,
    { min, max, isWhole = true }: { min: number; max: number; isWhole?: boolean },
  ): number {
    const number = value.trim() === '' ? Number.NaN : Number(value)
    const fits = number >= min && number <= max && (!isWhole || Number.isInteger(number))
    if (!fits) this.faults[field] = { kind: 'number', min, max }
    return number
  }

  /** Conditions; undefined where there are none. */
  selector(field: string, lines: string): Selector | undefined {
    if (lines.trim() === '') return undefined
    const read = readSelectorLines(lines)
    if (!read.ok) {
      this.faults[field] = { kind: 'line', about: read.line }
      return undefined
    }
    const { match_labels = {}, match_expressions = [] } = read.conditions
    return {
      ...(Object.keys(match_labels).length > 0 ? { match_labels } : {}),
      ...(match_expressions.length > 0 ? { match_expressions } : {}),
    }
  }

  json(field: string, text: string): Record<string, unknown> {
    try {
      const found: unknown = JSON.parse(text)
      if (typeof found === 'object' && found !== null && !Array.isArray(found))
        return found as Record<string, unknown>
    } catch {
      // What is no JSON is a fault like JSON that is no object.
    }
    this.faults[field] = { kind: 'json' }
    return {}
  }
}

/** Whom a form means, or what is wrong with it. */
export function readScope(values: CampaignValues): { scope: CampaignScope; faults: Faults } {
  const reader = new Reader()
  return { scope: scopeOf(values, reader), faults: reader.faults }
}

function scopeOf(values: CampaignValues, reader: Reader): CampaignScope {
  const { ids, version } = values
  const selector = reader.selector('scope.selector', values.lines)
  const excludeSelector = reader.selector('scope.exclude_selector', values.excludeLines)
  const names = readWords(values.excludeNames)
  if (ids === null) reader.faults['scope.selector'] = { kind: 'unknown' }
  // A campaign for a version may mean all that are under its fleet config.
  else if (values.lines.trim() === '' && ids.length === 0 && version === null)
    reader.faults['scope.selector'] = { kind: 'missing' }
  const isId = (word: string) => /^[0-9a-f]{24}$/.test(word)
  const leftNames = names.filter((name) => !isId(name))
  const leftIds = names.filter(isId)
  return {
    ...(selector === undefined ? {} : { selector }),
    ...(ids === null || ids.length === 0 ? {} : { workload_ids: [...ids] }),
    ...(excludeSelector === undefined ? {} : { exclude_selector: excludeSelector }),
    ...(leftNames.length === 0 ? {} : { exclude_names: leftNames }),
    ...(leftIds.length === 0 ? {} : { exclude_ids: leftIds }),
  }
}

function changeOf(values: CampaignValues, reader: Reader): CampaignCreateRequest['change'] {
  const { kind, text, takeover, unfitRefuses, version } = values
  if (kind === 'version' && version !== null)
    return { kind, fleet_config_id: version.fleetConfigId, number: version.number, takeover }
  if (reader.text('change', text) === '') return { kind: 'text' }
  if (kind === 'patch')
    return { kind, patch: reader.json('change', text), ...(unfitRefuses ? { where_unfit: 'refuse' } : {}) }
  return { kind: 'text', yaml: text, takeover }
}

function wavesOf({ waves }: CampaignValues, reader: Reader): CampaignWave[] {
  return waves.map(({ by, size, lines, dwell }, index) => {
    const at = `waves[${index}]`
    const dwell_seconds = reader.number(`${at}.dwell_seconds`, dwell, { min: 0, max: DWELL_SECONDS_MAX })
    if (index === waves.length - 1) return { dwell_seconds }
    const selector = reader.selector(`${at}.selector`, lines)
    // A wave of all, without conditions, would leave nothing for those after it.
    if (by === 'all' && selector === undefined && lines.trim() === '')
      reader.faults[`${at}.selector`] = { kind: 'missing' }
    return { ...sizeOf(`${at}`, by, size, reader), ...(selector && { selector }), dwell_seconds }
  })
}

function sizeOf(at: string, by: WaveSize, size: string, reader: Reader): CampaignWave {
  if (by === 'count') return { count: reader.number(`${at}.count`, size, { min: 1, max: COUNT_MAX }) }
  if (by === 'all') return {}
  const percentage = reader.number(`${at}.percentage`, size, { min: 0, max: 100, isWhole: false })
  if (percentage === 0) reader.faults[`${at}.percentage`] = { kind: 'number', min: 0.1, max: 100 }
  return { percentage }
}

function windowsOf({ windows }: CampaignValues, reader: Reader): CampaignWindow[] {
  return windows.map(({ days, from, to }, index) => {
    if (from === '' || to === '' || from === to) reader.faults[`windows[${index}]`] = { kind: 'time' }
    return { ...(days.length === 0 || days.length === 7 ? {} : { days: [...days].sort() }), from, to }
  })
}

const limitsOf = (typed: TypedLimits, reader: Reader): CampaignLimits =>
  Object.fromEntries(
    LIMITED.flatMap((key) => {
      const text = typed[key].trim()
      return text === '' ? [] : [[key, reader.number(`limits.${key}`, text, { min: 0, max: COUNT_MAX })]]
    }),
  )

/** The limits of those fields in which something is typed, with what is wrong with them, by field. */
export function readTypedLimits(typed: TypedLimits): { limits: CampaignLimits; faults: Faults } {
  const reader = new Reader()
  return { limits: limitsOf(typed, reader), faults: reader.faults }
}

/** What is asked for, with everything that is wrong with it, by field. */
export function readValues(values: CampaignValues): { request: CampaignCreateRequest; faults: Faults } {
  const reader = new Reader()
  const days = { min: 0, max: CATCH_UP_DAYS.max, isWhole: false }
  const request = {
    name: reader.text('name', values.name),
    description: values.description.trim(),
    change: changeOf(values, reader),
    scope: scopeOf(values, reader),
    waves: wavesOf(values, reader),
    limits: limitsOf(values.limits, reader),
    max_in_flight: reader.number('max_in_flight', values.maxInFlight, { min: 1, max: IN_FLIGHT.max }),
    catch_up_seconds: Math.round(reader.number('catch_up_seconds', values.catchUpDays, days) * DAY_SECONDS),
    windows: windowsOf(values, reader),
    retry_quarantined: values.retryQuarantined,
  }
  return { request, faults: reader.faults }
}

/** The fields that refusals without a field are about, by the code of the refusal. */
const FIELD_OF_CODE: Readonly<Record<string, string>> = {
  name_required: 'name',
  name_too_long: 'name',
  description_too_long: 'description',
  campaign_change_invalid: 'change',
  campaign_scope_empty: 'scope.selector',
}

/** The field that a refusal of the server is about; null for one that concerns the whole. */
export function fieldOf({ code, body }: { code?: string; body: object }): string | null {
  const { field } = body as { field?: unknown }
  if (typeof field === 'string' && field !== '') return field
  return FIELD_OF_CODE[code ?? ''] ?? null
}
