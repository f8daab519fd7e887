import { readTime } from '../model/times.ts'
import type { ReportInclude } from '../wire/reports.ts'
import { REPORT_INCLUDES } from '../wire/values.ts'
import { compareUtf8 } from './canonical.ts'

/** What a report covers, in normal form: ids sorted, trimmed and distinct, times RFC 3339 in UTC with milliseconds. */
export interface NormalScope {
  workload_ids?: string[]
  group_id?: string
  selector?: Record<string, string>
  whole_fleet?: boolean
  since?: string
  until?: string
}

/** A checked request with its defaults filled in: two requests that mean the same are the same. */
export interface NormalRequest {
  schema_version: 'report_export_request.v1'
  report_type: 'evidence_pack'
  scope: NormalScope
  include: Record<ReportInclude | 'signed_audit_metadata', boolean>
  redaction: 'strict'
}

/** Why a request was refused; `detail` says where, and never quotes more than a field's name. */
export interface RequestRefusal {
  ok: false
  code:
    | 'invalid-json-body'
    | 'unsupported-schema-version'
    | 'unsupported-report-type'
    | 'unsupported-redaction-mode'
    | 'invalid-scope'
    | 'invalid-time-range'
  detail: string
}

/** A checked request, or why it was refused. */
export type RequestOutcome = { ok: true; request: NormalRequest } | RequestRefusal

const INCLUDE_KEYS = [...REPORT_INCLUDES, 'signed_audit_metadata'] as const

const refuse = (code: RequestRefusal['code'], detail: string): RequestRefusal => ({ ok: false, code, detail })

/** Thrown inside this file only, where the JSON does not have the form of a request. */
class WrongForm extends Error {}

type Fields = Record<string, unknown>

/**
 * The fields of an object that are present; null counts as absent. An unknown field is refused, because it may be a
 * misspelt `since` or `until`.
 */
function readFields(value: unknown, where: string, known: readonly string[]): Fields {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw new WrongForm(`${where}: expected an object`)
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) throw new WrongForm(`${where}: unknown field`)
  }
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
}

function readText(value: unknown, where: string): string {
  if (typeof value !== 'string') throw new WrongForm(`${where}: expected a string`)
  // PostgreSQL holds no such text, so nothing could match it.
  if (value.includes('\0')) throw new WrongForm(`${where}: U+0000 is not allowed`)
  return value.replace(/\p{Surrogate}/gu, '\uFFFD')
}

const readOptionalText = (value: unknown, where: string) =>
  value === undefined ? undefined : readText(value, where)

/** A time as RFC 3339 text in UTC; undefined when absent. */
function readMoment(value: unknown, where: string): string | undefined {
  if (value === undefined) return undefined
  const time = readTime(readText(value, where))
  if (time === null) throw new WrongForm(`${where}: expected an RFC 3339 time with a zone`)
  return time.toISOString()
}

const SCOPE_FIELDS = ['workload_ids', 'group_id', 'selector', 'whole_fleet', 'since', 'until']

function readScope(value: unknown): { scope: NormalScope; kinds: number } {
  const fields = readFields(value, 'scope', SCOPE_FIELDS)
  const scope: NormalScope = {}
  let kinds = 0
  if (fields['workload_ids'] !== undefined) {
    if (!Array.isArray(fields['workload_ids'])) throw new WrongForm('scope.workload_ids: expected a list')
    const ids = fields['workload_ids'].map((id) => readText(id, 'scope.workload_ids').trim())
    if (ids.length > 0) {
      kinds++
      scope.workload_ids = [...new Set(ids.filter((id) => id !== ''))].sort(compareUtf8)
    }
  }
  const groupId = readOptionalText(fields['group_id'], 'scope.group_id')?.trim()
  if (groupId) {
    kinds++
    scope.group_id = groupId
  }
  if (fields['selector'] !== undefined) {
    const map = fields['selector']
    if (typeof map !== 'object' || map === null || Array.isArray(map))
      throw new WrongForm('scope.selector: expected an object')
    const pairs = Object.entries(map).map(
      ([key, text]) => [readText(key, 'scope.selector'), readText(text, 'scope.selector')] as const,
    )
    if (pairs.length > 0) {
      kinds++
      scope.selector = Object.fromEntries(pairs)
    }
  }
  const isWhole = fields['whole_fleet'] ?? false
  if (typeof isWhole !== 'boolean') throw new WrongForm('scope.whole_fleet: expected true or false')
  if (isWhole) {
    kinds++
    scope.whole_fleet = true
  }
  const since = readMoment(fields['since'], 'scope.since')
  const until = readMoment(fields['until'], 'scope.until')
  if (since !== undefined) scope.since = since
  if (until !== undefined) scope.until = until
  return { scope, kinds }
}

/** All eleven sections when nothing at all is asked for. */
function readInclude(value: unknown): NormalRequest['include'] {
  const fields = readFields(value, 'include', INCLUDE_KEYS)
  const include = {} as NormalRequest['include']
  for (const key of INCLUDE_KEYS) {
    const flag = fields[key] ?? false
    if (typeof flag !== 'boolean') throw new WrongForm(`include.${key}: expected true or false`)
    include[key] = flag
  }
  if (!Object.values(include).includes(true)) for (const key of REPORT_INCLUDES) include[key] = true
  return include
}

const TOP_FIELDS = ['schema_version', 'report_type', 'scope', 'include', 'redaction']

function readRequest(value: unknown): RequestOutcome {
  const fields = readFields(value, 'body', TOP_FIELDS)
  const version = readOptionalText(fields['schema_version'], 'schema_version') || 'report_export_request.v1'
  const type = readOptionalText(fields['report_type'], 'report_type') || 'evidence_pack'
  const redaction = readOptionalText(fields['redaction'], 'redaction') || 'strict'
  const { scope, kinds } = readScope(fields['scope'])
  const include = readInclude(fields['include'])
  if (version !== 'report_export_request.v1')
    return refuse('unsupported-schema-version', 'schema_version: expected report_export_request.v1')
  if (type !== 'evidence_pack')
    return refuse('unsupported-report-type', 'report_type: expected evidence_pack')
  if (redaction !== 'strict') return refuse('unsupported-redaction-mode', 'redaction: expected strict')
  if (kinds !== 1)
    return refuse(
      'invalid-scope',
      'scope: exactly one of workload_ids, group_id, selector, whole_fleet is required',
    )
  if (scope.since !== undefined && scope.until !== undefined && scope.since > scope.until)
    return refuse('invalid-time-range', 'scope: since is after until')
  return {
    ok: true,
    request: { schema_version: version, report_type: type, scope, include, redaction },
  }
}

/**
 * Read the body of a report request: first its form, then what it asks for. Of several faults the first one is
 * reported.
 */
export function parseReportRequest(body: string): RequestOutcome {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return refuse('invalid-json-body', 'the body is not one JSON value')
  }
  try {
    return readRequest(value)
  } catch (error) {
    if (error instanceof WrongForm) return refuse('invalid-json-body', error.message)
    throw error
  }
}
