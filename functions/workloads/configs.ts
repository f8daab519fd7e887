import { array, type } from 'superstruct'
import { GROUP_INSTANCES_MAX } from '../../lib/fleet/views/errors.ts'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { listErrorGroups, type StoredErrorGroup } from '../../lib/store/push-targets.ts'
import {
  findNewestAppliedExcept,
  findNewestPushOfHash,
  listPushes,
  listRollbacksOf,
  type Push,
} from '../../lib/store/pushes.ts'
import { listRollouts } from '../../lib/store/rollouts.ts'
import { RevisionRecord } from '../../lib/wire/revisions.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { problem } from '../../runtime/reply.ts'
import { findWorkload, workloadParams } from './_workload-path.ts'

/** Rollouts that the history links to; older ones are left out. */
const ROLLOUTS_MAX = 500

/** The history of a workload's configs, newest first, without their content. */
export default defineHttp({
  route: 'GET /api/workloads/:id/configs',
  summary: 'The config revisions of a workload, newest first.',
  access: signedIn(null, 'workload'),
  gate: null,
  params: workloadParams,
  query: type(pageQuery),
  body: noBody,
  replies: [{ status: 200, description: 'The revisions.', json: array(RevisionRecord) }],
  errors: [...PAGE_ERRORS, 'workload-not-found'],
  async handle({ params, query, target, actor }, ctx) {
    const workload = findWorkload(ctx, params.id)
    if (workload === null) return problem('workload-not-found')
    // What agents have reported and is not written yet is a part of the history as well.
    const db = await ctx.db.upToDate()
    const { activeHash } = workload
    const [current, previous] =
      activeHash === null
        ? [null, null]
        : [
            await findNewestPushOfHash(db, workload.id, activeHash),
            await findNewestAppliedExcept(db, workload.id, activeHash),
          ]
    const rollouts = new Map(
      (await listRollouts(db, workload.id, ROLLOUTS_MAX)).map((rollout) => [rollout.pushId, rollout]),
    )
    const texts = sightOf(actor.permissions)
    return listReply<{ push: Push; groups: StoredErrorGroup[]; answer: Push | null }>(query, target, {
      order: 'pushes.seq',
      key: ['number'],
      async fetch({ after, limit }) {
        const beforeSeq = after === null ? null : Math.trunc(Number(after[0]))
        const pushes = await listPushes(db, workload.id, { beforeSeq, limit })
        const ids = pushes.map((push) => push.pushId)
        const groups = await listErrorGroups(db, ids, GROUP_INSTANCES_MAX)
        const failed = pushes.filter(({ status }) => status === 'failed').map(({ pushId }) => pushId)
        const answers = failed.length === 0 ? new Map<string, Push>() : await listRollbacksOf(db, failed)
        return pushes.map((push) => ({
          push,
          answer: answers.get(push.pushId) ?? null,
          groups: groups.filter((group) => group.pushId === push.pushId),
        }))
      },
      keyOf: ({ push }) => [push.seq],
      toWire: ({ push, groups, answer }) => {
        const rollout = rollouts.get(push.pushId) ?? null
        const isPrevious = push.pushId === previous?.pushId
        const isNewestOfHash = push.pushId === current?.pushId
        const about = { groups, isPrevious, isNewestOfHash, rollout, answer }
        return ctx.views.revision(workload, push, about, texts)
      },
    })
  },
})
