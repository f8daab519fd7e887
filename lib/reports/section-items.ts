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

/** RFC 3339 in UTC. */
export const toTime = (ms: number): string => new Date(ms).toISOString()
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
