import {
  type AuditHead,
  type AuditRecord,
  EMPTY_HEAD,
  listAuditChain,
  readAuditHead,
} from '../store/audit.ts'
import type { Db } from '../store/db.ts'
import { hashRecord } from './event.ts'

/** Why a chain is not intact. The last two are found only by comparing with a head that was known before. */
export type AuditFault = 'gap' | 'prev-hash' | 'event-hash' | 'shorter-than-before' | 'other-than-before'

const HEAD = /^([1-9]\d{0,14}):([0-9a-f]{64})$/i

/** A head as text: its record's number and hash, `12:ab…`. */
export const formatHead = ({ seq, hash }: AuditHead): string => `${seq}:${hash}`

/** The head that a text names; null when it names none. */
export function parseHead(text: string): AuditHead | null {
  const match = HEAD.exec(text.trim())
  return match ? { seq: Number(match[1]), hash: match[2]!.toLowerCase() } : null
}

/** What a check of the chain found; `broken` names the first record that is wrong or missing. */
export interface AuditVerification {
  isIntact: boolean
  /** How many records follow from the one before, from the beginning of the chain. */
  checked: number
  /**
   * The last record that follows from the one before it. In an intact chain that is the head of the chain; with
   * `other-than-before` it is the record that differs from the expected head.
   */
  head: AuditHead
  broken: { seq: number; reason: AuditFault } | null
}

const PAGE = 500

/** Whether `record` is what must follow `head`; the reason when it is not. */
export function checkLink(head: AuditHead, record: AuditRecord): 'gap' | 'prev-hash' | 'event-hash' | null {
  if (record.seq !== head.seq + 1) return 'gap'
  if (record.prevHash !== head.hash) return 'prev-hash'
  return hashRecord(record) === record.eventHash ? null : 'event-hash'
}

/**
 * Walk the whole chain, a page at a time. `expected` is a head that was seen before (in the log or in an evidence
 * pack): a chain that ends before it was cut off, and a chain with another record in its place was rewritten.
 */
export async function verifyAuditChain(
  db: Db,
  expected: AuditHead | null = null,
): Promise<AuditVerification> {
  // Records that are added while this runs are not checked.
  const end = await readAuditHead(db)
  let head = EMPTY_HEAD
  while (head.seq < end.seq) {
    const page = await listAuditChain(db, head.seq, Math.min(PAGE, end.seq - head.seq))
    for (const record of page) {
      const reason = checkLink(head, record)
      if (reason) return { isIntact: false, checked: head.seq, head, broken: { seq: record.seq, reason } }
      head = { seq: record.seq, hash: record.eventHash }
      if (expected?.seq === head.seq && expected.hash !== head.hash) {
        const broken = { seq: head.seq, reason: 'other-than-before' } as const
        return { isIntact: false, checked: head.seq, head, broken }
      }
    }
    if (page.length === 0) break
  }
  if (expected && expected.seq > head.seq) {
    const broken = { seq: head.seq + 1, reason: 'shorter-than-before' } as const
    return { isIntact: false, checked: head.seq, head, broken }
  }
  return { isIntact: true, checked: head.seq, head, broken: null }
}
