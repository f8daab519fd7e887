import { createHash } from 'node:crypto'
import type { AuditHead, AuditRecord } from '../store/audit.ts'
import type { Db } from '../store/db.ts'

/**
 * Asks in the transaction of a change whether its actor may still make it: before anything is done, and once more before
 * its record is written, when it holds its locks. Throws where that is not so any more, which takes the change back.
 */
export type AskAgain = (tx: Db, when: 'at-begin' | 'at-record') => Promise<void>

/** The user who acts, and the name of the API token that was used, if any. */
export interface AuditActor {
  userId: string
  email: string
  apiToken?: string | null
  /** Null, said aloud, for what was decided before and is carried out now, and for whoever has no right that could be lost. */
  askAgain: AskAgain | null
}

/** What happened, as the code that did it says. Never a password, a token, a secret or config text. */
export interface AuditEvent {
  /** For example `config.approval.push`. */
  action: string
  /** Who did it; null for an attempt to sign in that did not succeed, and for what the service does by itself. */
  actor: AuditActor | null
  /** The kind of thing it was done to, with its id: `workload`, `config`, `user`, `report`, … */
  resource: string
  resourceId: string
  /**
   * The workload that the event is about where `resource` is something else; by default the id of a `workload`
   * resource.
   */
  workloadId?: string
  configHash?: string
  detail?: string
}

/** The longest detail kept, in characters. */
const DETAIL_MAX = 8_192
const TEXT_MAX = 512
const VERSION_BYTE = 0x01

/**
 * The hash of a record: SHA-256 over its canonical form `audit.v1`, lower-case hex.
 *
 * `audit.v1` is the byte 0x01, then UTF-8 JSON without white space: one object with the keys `seq`, `id`,
 * `occurred_at`, `action`, `user_id`, `email`, `resource`, `resource_id`, `workload_id`, `config_hash`, `detail`,
 * `prev_hash`, in this order and always all of them. `seq` is a number; everything else is a string as `JSON.stringify`
 * writes it, empty where there is nothing; `occurred_at` is RFC 3339 UTC with exactly three decimals and `Z`.
 */
export function hashRecord(record: Omit<AuditRecord, 'eventHash'>): string {
  const text = JSON.stringify({
    seq: record.seq,
    id: record.id,
    occurred_at: record.occurredAt.toISOString(),
    action: record.action,
    user_id: record.userId,
    email: record.email,
    resource: record.resource,
    resource_id: record.resourceId,
    workload_id: record.workloadId,
    config_hash: record.configHash,
    detail: record.detail,
    prev_hash: record.prevHash,
  })
  return createHash('sha256').update(Uint8Array.of(VERSION_BYTE)).update(text).digest('hex')
}

/** The record that follows `head`. */
export function chainEvent(event: AuditEvent, head: AuditHead, id: string, occurredAt: Date): AuditRecord {
  const record = {
    seq: head.seq + 1,
    id,
    occurredAt,
    action: event.action,
    userId: clean(event.actor?.userId ?? ''),
    email: clean(nameActor(event.actor)),
    resource: event.resource,
    resourceId: clean(event.resourceId),
    workloadId: clean(event.workloadId ?? (event.resource === 'workload' ? event.resourceId : '')),
    configHash: clean(event.configHash ?? ''),
    detail: clean(event.detail ?? '', DETAIL_MAX),
    prevHash: head.hash,
  }
  return { ...record, eventHash: hashRecord(record) }
}

/** The holder's e-mail; where an API token was used, the record names the token as well. */
function nameActor(actor: AuditEvent['actor']): string {
  if (actor === null) return ''
  return actor.apiToken ? `${actor.email} (token ${actor.apiToken})` : actor.email
}

/**
 * At most `max` UTF-16 units that PostgreSQL can store: U+0000 and lone surrogates, also one that the cut left, become
 * U+FFFD.
 */
function clean(text: string, max: number = TEXT_MAX): string {
  const cut = text.length > max ? `${text.slice(0, max - 1)}…` : text
  return cut.replaceAll('\0', '\uFFFD').replace(/\p{Surrogate}/gu, '\uFFFD')
}
