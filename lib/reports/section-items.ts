import type { EvidenceItem, FactValue } from '../wire/reports.ts'
import { REMOVED, type Redactor } from './redaction.ts'

/** A section's item with the workload it is about. */
export interface BuiltItem {
  workloadId: string
  item: EvidenceItem
}

/** One section before row limits. */
export interface BuiltSection {
  id: string
  title: string
  order: number
  items: BuiltItem[]
}

/** An item as its section says it, before redaction. Facts that are null are not known and left out. */
export interface ItemDraft {
  id: string
  workloadId: string
  resource: string
  resourceId: string
  observedAt?: number | null
  severity?: string | null
  summary: string
  facts: Record<string, FactValue | undefined>
  contentHash?: string | null
  /** Something was left out before the item was drafted. */
  hasRemoved?: boolean
}

const DAY_MS = 86_400_000
const digits = (count: number, length: number) =>
  Array.from({ length: count }, (_, n) => String(n).padStart(length, '0'))
const TWO = digits(60, 2)
const THREE = digits(1_000, 3)
/** The day that was written last, up to the `T`: rows come by their time. */
let writtenDay = Number.NaN
let writtenDate = ''

/** RFC 3339 in UTC. A pack has a time a row, and what `Date` needs for one is ten times this. */
export function toTime(ms: number): string {
  const day = Math.floor(ms / DAY_MS)
  if (day !== writtenDay) {
    writtenDate = new Date(day * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length)
    writtenDay = day
  }
  const rest = ms - day * DAY_MS
  const hours = TWO[Math.floor(rest / 3_600_000)]
  const minutes = TWO[Math.floor(rest / 60_000) % 60]
  const seconds = TWO[Math.floor(rest / 1_000) % 60]
  return `${writtenDate}${hours}:${minutes}:${seconds}.${THREE[rest % 1_000]}Z`
}
export const toOptionalTime = (ms: number | null): string | null => (ms === null ? null : toTime(ms))

/** A user by id, in the form that e-mail addresses take as well. */
export const userRef = (id: string | null): string | null => (id === null || id === '' ? null : `user:${id}`)

/** What stands for an agent's own words: their place is shown, they are not. */
export const removedText = (isThere: boolean): string | null => (isThere ? REMOVED : null)

/** Redact a draft. Ids, hashes and times are ours and stay as they are. */
export function buildItem(draft: ItemDraft, redactor: Redactor): BuiltItem {
  const summary = redactor.text(draft.summary)
  let isRedacted = summary !== draft.summary || (draft.hasRemoved ?? false)
  const facts: Record<string, FactValue> = {}
  for (const key of Object.keys(draft.facts)) {
    const raw = draft.facts[key]
    if (raw === null || raw === undefined) continue
    if (typeof raw === 'string') {
      const clean = redactor.text(raw)
      isRedacted ||= clean !== raw || clean === REMOVED
      facts[key] = clean
    } else if (typeof raw === 'object') {
      const clean = redactor.value(raw)
      isRedacted ||= clean.isRedacted
      facts[key] = clean.value
    } else facts[key] = raw
  }
  const item: EvidenceItem = {
    id: draft.id,
    resource: draft.resource,
    resource_id: draft.resourceId,
    summary,
    facts,
    redacted: isRedacted,
  }
  if (draft.observedAt !== null && draft.observedAt !== undefined) item.observed_at = toTime(draft.observedAt)
  if (draft.severity) item.severity = draft.severity
  if (draft.contentHash) item.content_hash = draft.contentHash
  return { workloadId: draft.workloadId, item }
}
