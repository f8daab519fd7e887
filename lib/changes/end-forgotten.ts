import type { AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import { type Approval, listForgottenApprovals, lockApproval } from '../store/approvals.ts'
import type { ApprovalParts } from './approval-parts.ts'
import { readStandings } from './approval-standing.ts'
import { storeEnd } from './close-approval.ts'
import { endOfRequest, IDLE_MS } from './request-end.ts'

/** Requests that are read together. */
const PAGE = 50

/** End the requests that nobody approves or pushes, by `endOfRequest`. */
export async function endForgottenRequests(
  parts: Pick<ApprovalParts, 'clock' | 'counters' | 'fleet' | 'hub' | 'news'> & { db: AuditedDatabase },
  signal: AbortSignal,
): Promise<void> {
  const { clock, db, fleet } = parts
  const now = clock.now()
  const unchangedSince = new Date(now.getTime() - IDLE_MS)
  const labelsOf = ({ workloadId }: Pick<Approval, 'workloadId'>) =>
    fleet.workload(workloadId) ?? { labels: {}, trustedLabels: {} }
  for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
    const idle: Approval[] = await listForgottenApprovals(db, unchangedSince, { after, limit: PAGE })
    const standings = await readStandings(db, idle, { labelsOf, now, alsoAsking: [] })
    for (const [at, approval] of idle.entries())
      if (endOfRequest(approval, standings[at]!) <= now) await end(parts, approval)
    after = idle.at(-1)?.id
  }
}

function end(
  parts: Parameters<typeof endForgottenRequests>[0],
  { id, updatedAt }: Approval,
): Promise<{ ok: true } | AuditFailure> {
  return parts.db.change('approval.end-forgotten', null, async (tx) => {
    const locked = await lockApproval(tx, id)
    // Somebody has just said something about it.
    if (locked === null || locked.updatedAt.getTime() !== updatedAt.getTime()) return { ok: true }
    const comment = locked.status === 'approved' ? 'Nobody pushed it in time.' : 'Nobody approved it in time.'
    const actor = { email: 'muster', userId: null }
    const end = { approvalId: id, status: 'withdrawn', comment, actor, now: parts.clock.now() } as const
    const ended = await storeEnd(parts, tx, end)
    if (ended !== null) await tx.record(ended.event)
    return { ok: true }
  })
}
