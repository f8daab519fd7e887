import { rolesWith } from '../model/permissions.ts'
import { isProduction } from '../model/production.ts'
import { grantsOf, isHeldOn } from '../model/scopes.ts'
import { listAccountStandings, listHolders } from '../store/account-ties.ts'
import type { Db } from '../store/db.ts'
import { listAuthors } from '../store/text-authors.ts'
import type { ApprovalOutlook } from '../wire/approvals.ts'
import { HOLDERS_MAX } from './approval-case.ts'
import { type HelpReader, listWhoCould, readApprovalHelp, type WaitingChange } from './approval-help.ts'
import { type ApprovalStanding, type JudgedRequest, readStandings, toAskedText } from './approval-standing.ts'

/** So many others are looked at who could ask instead. */
const ASKERS_MAX = 10

/** A request that somebody might make, and what is known of its workload. */
export interface PossibleRequest
  extends Pick<JudgedRequest, 'workloadId' | 'draftHash' | 'targetGroup' | 'targetEnv'> {
  labels: Readonly<Record<string, string>>
  trustedLabels: Readonly<Record<string, string>>
  now: Date
}

/**
 * Which rule a request would be approved by if this reader made it now, and who could approve it; where nobody could, who
 * else could ask, and who could approve then. It is judged as the request would be.
 */
export async function readOutlook(
  db: Db,
  wanted: PossibleRequest,
  reader: HelpReader,
): Promise<ApprovalOutlook> {
  const [own] = await readIfAsked(db, wanted, [reader.userId])
  const { standing, change, request } = own!
  const { rule } = standing.judgement
  const carried = toAskedText(request)
  // That the reader asked for it before adds nothing: this request would be the reader's.
  const text = { ...request, id: '', ownAuthors: [reader.userId] }
  const help = await readApprovalHelp(db, { ...change, text, carried }, reader)
  return {
    approval_class: standing.approvalClass,
    approvals_needed: rule.approvals,
    author_counts: rule.authorCounts || standing.asked.isSoleApprover,
    help,
    ...(help.could_approve_count === 0 ? await readAskers(db, wanted, reader.userId) : {}),
  }
}

/** The hash of a text that nobody wrote: that of no text at all. */
const REWORDED = 'reworded'

/** Who else could ask for it, or, where nobody could, who could in other words. */
async function readAskers(
  db: Db,
  wanted: PossibleRequest,
  readerId: string,
): Promise<Pick<ApprovalOutlook, 'could_ask' | 'could_ask_reworded'>> {
  const askers = await listAskers(db, wanted, { askerId: readerId, approverIds: [] })
  if (askers.length > 0) return { could_ask: askers }
  // In other words it would be of whoever asks, by the rules; but nobody is told to have who wrote it approve it.
  const { all: approverIds } = await listAuthors(db, {
    ...toAskedText({ ...wanted, id: '', requesterId: '', prodTarget: false, createdAt: wanted.now }),
    askers: [],
  })
  const reworded = await listAskers(db, { ...wanted, draftHash: REWORDED }, { askerId: null, approverIds })
  return { could_ask: [], ...(reworded.length === 0 ? {} : { could_ask_reworded: reworded }) }
}

/** Who could ask so that somebody's approval would count; all but one who asks, and these who approve. */
async function listAskers(
  db: Db,
  wanted: PossibleRequest,
  but: { askerId: string | null; approverIds: readonly string[] },
): Promise<NonNullable<ApprovalOutlook['could_ask']>> {
  const ids = await listHolders(db, rolesWith('config:request'), HOLDERS_MAX)
  const accounts = await listAccountStandings(db, ids, [])
  const askers = accounts.filter(
    ({ id, roles }) =>
      id !== but.askerId && isHeldOn(grantsOf(roles), 'config:request', wanted.trustedLabels),
  )
  const asked = askers.slice(0, ASKERS_MAX)
  const asIfAsked = await readIfAsked(
    db,
    wanted,
    asked.map(({ id }) => id),
  )
  const could = await listWhoCould(
    db,
    asIfAsked.map(({ change }) => change),
    but.approverIds,
  )
  return asked.flatMap(({ email }, at) =>
    could[at]!.length === 0 ? [] : [{ who: email, could_approve: could[at]! }],
  )
}

/** How the request would stand if each of these people made it. */
async function readIfAsked(
  db: Db,
  { labels, trustedLabels, now, ...wanted }: PossibleRequest,
  askerIds: readonly string[],
): Promise<{ request: JudgedRequest; standing: ApprovalStanding; change: WaitingChange }[]> {
  const prodTarget = isProduction({ ...wanted, labels, trustedLabels })
  const requests = askerIds.map((requesterId) => ({
    ...wanted,
    // Of no request that is stored: nobody has approved it.
    id: `if-asked-by-${requesterId}`,
    requesterId,
    prodTarget,
    createdAt: now,
  }))
  const around = { labelsOf: () => ({ labels, trustedLabels }), now, alsoAsking: askerIds }
  const standings = await readStandings(db, requests, around)
  return standings.map((standing, at) => {
    const { asked, judgement } = standing
    const covers: WaitingChange['covers'] = (held) => isHeldOn(held, 'config:approve', trustedLabels)
    return { request: requests[at]!, standing, change: { asked, judgement, requestedAt: now, covers } }
  })
}
