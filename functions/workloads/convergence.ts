import { optional, string, type } from 'superstruct'
import type { Workload } from '../../lib/fleet/state/model.ts'
import { toConvergence } from '../../lib/fleet/views/convergence.ts'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { compareTargets } from '../../lib/fleet/views/revision.ts'
import { UUID } from '../../lib/ids.ts'
import { type CursorKey, decodeCursor, encodeCursor } from '../../lib/store/cursor.ts'
import type { PushTarget } from '../../lib/store/push-targets.ts'
import { findNewestPushOfHash, findPush, findRollbackOf } from '../../lib/store/pushes.ts'
import { Convergence } from '../../lib/wire/convergence.ts'
import type { Context } from '../../runtime/context.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { nextLink, PAGE_ERRORS, pageQuery, readLimit } from '../../runtime/pagination.ts'
import { json, problem } from '../../runtime/reply.ts'
import { currentStateOf, targetsOf } from './_push-targets-of.ts'
import { findWorkload, revisionParams } from './_workload-path.ts'

const ORDER = 'push_targets.failed_first'
/**
 * The key of a cursor: when the first page was read, and of its last instance whether it had failed by then (0) and the
 * uid.
 */
const KEY = ['number', 'number', 'string'] as const
const PAGE_DEFAULT = 200

/** The newest push of the hash, or the one that is named; null when there is none. */
async function findWanted(ctx: Context, workload: Workload, hash: string, pushId: string | undefined) {
  if (pushId === undefined) return findNewestPushOfHash(ctx.db, workload.id, hash)
  const push = UUID.test(pushId) ? await findPush(ctx.db, pushId) : null
  return push?.workloadId === workload.id && push.hash === hash ? push : null
}

/**
 * One page of a push's instances, those that failed first. States move while somebody pages: what had failed when the
 * first page was read decides about the order of all, so that nobody slips from one page to another.
 */
function pageOf(all: readonly PushTarget[], after: CursorKey | null, limit: number, now: Date) {
  const sinceMs = after === null ? now.getTime() : Number(after[0])
  const rankOf = (target: PushTarget) =>
    target.state === 'failed' && (target.endedAt ?? target.updatedAt).getTime() < sinceMs ? 0 : 1
  const isPast = (rank: number, uid: string) =>
    after === null || rank > Number(after[1]) || (rank === after[1] && uid > String(after[2]))
  const rest = all
    .map((target) => ({ target, rank: rankOf(target) }))
    .filter(({ target, rank }) => isPast(rank, target.instanceUid))
    .sort((a, b) => a.rank - b.rank || (a.target.instanceUid < b.target.instanceUid ? -1 : 1))
  const page = rest.slice(0, limit)
  const end = page.at(-1)
  return {
    page: page.map(({ target }) => target),
    last: end === undefined || rest.length <= limit ? null : [sinceMs, end.rank, end.target.instanceUid],
  }
}

/** How far a push got: times, stragglers and what they share, and all its instances in pages. */
export default defineHttp({
  route: 'GET /api/workloads/:id/configs/:hash/convergence',
  summary: 'How far a push of this config got.',
  access: signedIn(null, 'workload'),
  gate: null,
  params: revisionParams,
  query: type({ ...pageQuery, push_id: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The convergence.', json: Convergence }],
  errors: [...PAGE_ERRORS, 'workload-not-found', 'revision-not-found'],
  async handle({ params, query, target, actor }, ctx) {
    const workload = findWorkload(ctx, params.id)
    if (workload === null) return problem('workload-not-found')
    const limit = query.limit === undefined ? PAGE_DEFAULT : readLimit(query.limit)
    if (limit === null) return problem('invalid-limit')
    const after = query.cursor === undefined ? null : decodeCursor(ORDER, KEY, query.cursor)
    if (query.cursor !== undefined && after === null) return problem('invalid-cursor')
    const stored = await findWanted(ctx, workload, params.hash, query.push_id)
    if (stored === null) return problem('revision-not-found')
    const push = currentStateOf(workload, stored)
    const all = await targetsOf(ctx, workload, push)
    const { page, last } = pageOf(all, after, limit, ctx.clock.now())
    const headers = last === null ? {} : nextLink(target, encodeCursor(ORDER, last))
    const traits = (uid: string) => ctx.fleet.state.instances.get(uid)?.attributes ?? null
    const rollback = push.status === 'failed' ? await findRollbackOf(ctx.db, push.pushId) : null
    const aftermath = ctx.views.aftermath(workload, push, rollback)
    const about = { traits, rollback, aftermath, now: ctx.clock.now() }
    const shown = page.sort(compareTargets)
    return json(toConvergence(push, all, shown, about, sightOf(actor.permissions)), 200, headers)
  },
})
