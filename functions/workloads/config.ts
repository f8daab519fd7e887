import { groupErrors } from '../../lib/fleet/views/errors.ts'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { toInstanceStatuses } from '../../lib/fleet/views/revision.ts'
import { findContent } from '../../lib/store/config-contents.ts'
import { findNewestAppliedExcept, findNewestPushOfHash, findRollbackOf } from '../../lib/store/pushes.ts'
import { findRolloutOfPush } from '../../lib/store/rollouts.ts'
import { RevisionRecord } from '../../lib/wire/revisions.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { currentStateOf, targetsOf } from './_push-targets-of.ts'
import { findWorkload, revisionParams } from './_workload-path.ts'

/** The newest push of a hash, with its content and its first instances. */
export default defineHttp({
  route: 'GET /api/workloads/:id/configs/:hash',
  summary: 'One config revision with its content.',
  access: signedIn('config:read_content', 'workload'),
  gate: null,
  params: revisionParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The revision.', json: RevisionRecord }],
  errors: ['workload-not-found', 'revision-not-found'],
  async handle({ params, actor }, ctx) {
    const workload = findWorkload(ctx, params.id)
    if (workload === null) return problem('workload-not-found')
    const stored = await findNewestPushOfHash(ctx.db, workload.id, params.hash)
    if (stored === null) return problem('revision-not-found')
    const push = currentStateOf(workload, stored)
    const targets = await targetsOf(ctx, workload, push)
    const content = await findContent(ctx.db, push.hash)
    const previous =
      workload.activeHash === null
        ? null
        : await findNewestAppliedExcept(ctx.db, workload.id, workload.activeHash)
    const texts = sightOf(actor.permissions)
    const about = {
      groups: groupErrors(targets),
      isPrevious: previous?.pushId === push.pushId,
      isNewestOfHash: true,
      rollout: await findRolloutOfPush(ctx.db, push.pushId),
      answer: push.status === 'failed' ? await findRollbackOf(ctx.db, push.pushId) : null,
    }
    const traits = (uid: string) => ctx.fleet.state.instances.get(uid)?.attributes ?? null
    return json({
      ...ctx.views.revision(workload, push, about, texts),
      instance_statuses: toInstanceStatuses(push, targets, traits, ctx.clock.now(), texts),
      ...(content === null ? { content_available: false } : { content: content.body }),
    })
  },
})
