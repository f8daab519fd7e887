import type { EvidenceItem, FactValue } from '../wire/reports.ts'
import { REMOVED, type Redactor } from './redaction.ts'

/** An item of a section, with the workload it is about. */
export interface BuiltItem {
  workloadId: string
  item: EvidenceItem
}

/** A section before the row limits. */
export interface BuiltSection {
  id: string
  title: string
  order: number
  items: BuiltItem[]
}

/** An item before redaction. Facts that are null or undefined are left out. Times are milliseconds since the epoch. */
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
  /** Something was left out before the item was drafted, so the item counts as redacted. */
  hasRemoved?: boolean
}

/** Milliseconds since the epoch as RFC 3339 in UTC. */
export const toTime = (ms: number): string => new Date(ms).toISOString()
/** The same; null stays null. */
export const toOptionalTime = (ms: number | null): string | null => (ms === null ? null : toTime(ms))

/** A user by id, in the form that redaction gives to e-mail addresses; null for nobody. */
export const userRef = (id: string | null): string | null => (id === null || id === '' ? null : `user:${id}`)

/**
 * Stands for an error text of an agent, which a pack never holds: shows that there is one; null where there is none.
 */
export const removedText = (isThere: boolean): string | null => (isThere ? REMOVED : null)

/** Redact the summary and the facts of a draft. Its id, resource, hash and time are ours and stay as they are. */
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
