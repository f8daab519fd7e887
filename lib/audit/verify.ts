import {
  type AuditHead,
  type AuditRecord,
  EMPTY_HEAD,
  listAuditChain,
  readAuditHead,
} from '../store/audit.ts'
import type { Db } from '../store/db.ts'
import { hashRecord } from './event.ts'

/** Why a chain is not intact. The last two are seen only against a head that was known before. */
export type AuditFault = 'gap' | 'prev-hash' | 'event-hash' | 'shorter-than-before' | 'other-than-before'

const HEAD = /^([1-9]\d{0,14}):([0-9a-f]{64})$/i

/** A head as it is written down: its record's number and hash, `12:ab…`. */
export const formatHead = ({ seq, hash }: AuditHead): string => `${seq}:${hash}`

/** The head that a text names; null when it names none. */
export function parseHead(text: string): AuditHead | null {
  const match = HEAD.exec(text.trim())
  return match ? { seq: Number(match[1]), hash: match[2]!.toLowerCase() } : null
}

/** What a check of the chain found; `broken` names the first record that does not fit. */
export interface AuditVerification {
  isIntact: boolean
  checked: number
  /** The last record that fits, which is the chain's head when it is intact. */
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
 * Walk the whole chain, a page at a time. `expected` is a head that was seen before (from the log or an evidence
 * pack): a chain that ends before it was cut, one that has another record in its place was written anew.
 */
export async function verifyAuditChain(
  db: Db,
  expected: AuditHead | null = null,
): Promise<AuditVerification> {
  // Records that are added while this runs are for the next check.
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
