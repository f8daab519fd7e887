import { array, enums, optional, string, type } from 'superstruct'
import { aftermathOfTarget } from '../../lib/campaigns/failed-since.ts'
import { reachOfCampaign } from '../../lib/campaigns/judge/scope.ts'
import { WORST_FIRST } from '../../lib/campaigns/judge/worst-first.ts'
import { toTargetRecord } from '../../lib/campaigns/record.ts'
import { listUnwellNow, tellUnwellNow } from '../../lib/campaigns/unwell-now.ts'
import { listUnwellSince, tellUnwellSince } from '../../lib/campaigns/unwell-since.ts'
import { hasOpenPush } from '../../lib/fleet/pushes/find-obstacle.ts'
import { followedOf } from '../../lib/fleet/state/state.ts'
import { type TextAccess, whyOf } from '../../lib/fleet/views/errors.ts'
import { aboutFailure } from '../../lib/fleet/views/failure-of.ts'
import { firstFailureOf } from '../../lib/fleet/views/first-failure.ts'
import { toStageHold } from '../../lib/fleet/views/rollout.ts'
import {
  listCampaignTargets,
  listTargetsWorstFirst,
  type RankedTarget,
  type StoredCampaignTarget,
} from '../../lib/store/campaign-targets.ts'
import { type CampaignSummary, findCampaign } from '../../lib/store/campaigns.ts'
import { CampaignTarget } from '../../lib/wire/campaigns.ts'
import { CAMPAIGN_TARGET_STATES, CAMPAIGN_VERDICTS } from '../../lib/wire/values.ts'
import type { Context } from '../../runtime/context.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { coversReach, seesWorkloads } from '../../runtime/reach.ts'
import { problem } from '../../runtime/reply.ts'
import { campaignParams, seesCampaign } from './_campaign-of.ts'
import { type Wait, withWaits } from './_waits.ts'

/**
 * What keeps a started target from its next stage, or one that waits in a campaign that runs from being started, as
 * fields of its record.
 */
function holdOf(
  { fleet, fleetConfigs }: Context,
  { status }: Pick<CampaignSummary, 'status'>,
  { workloadId, pushId, state }: StoredCampaignTarget,
): Pick<CampaignTarget, 'hold' | 'is_busy'> {
  const workload = fleet.workload(workloadId)
  if (state === 'waiting' && status === 'running' && workload !== null) {
    const freeze = fleetConfigs.freezeOf(workload)
    if (freeze !== null) return { hold: { reason: 'frozen', about: freeze.reason } }
    return hasOpenPush(workload) ? { is_busy: true } : {}
  }
  if (state !== 'started') return {}
  const rollout = workload?.rollout
  if (rollout?.followed.push.pushId !== pushId || rollout?.hold === undefined) return {}
  return { hold: toStageHold(rollout.hold) }
}

/** The states in which it is told on how many of its instances a target has the change. */
const HAS_REACH: readonly StoredCampaignTarget['state'][] = ['started', 'applied', 'skipped']

/**
 * How far the push of a target has got, where it has not reached all that it was offered to, as a field of its record: of
 * one that is being changed from the start on, of one that has the change only what failed or did not answer, of one that
 * was given up amid its stages how many of all its instances have it.
 */
function reachOf(
  { fleet }: Context,
  { workloadId, pushId, state }: StoredCampaignTarget,
  texts: TextAccess,
): Pick<CampaignTarget, 'reach'> {
  const workload = fleet.workload(workloadId)
  if (workload === null || pushId === null) return {}
  const counts = followedOf(workload, pushId)?.push.counts
  if (counts === undefined) return {}
  const { applied, failed, straggler } = counts
  const target = state === 'skipped' ? Math.max(counts.target, workload.live.count) : counts.target
  if (state === 'applied' ? failed + straggler === 0 : applied === target) return {}
  const why = whyOf(firstFailureOf(workload, { pushId })?.error ?? null, texts)
  return {
    reach: {
      target_count: target,
      applied_count: applied,
      failed_count: failed,
      no_status_count: straggler,
      ...(Object.keys(why).length === 0 ? {} : { error: why }),
    },
  }
}

/** What a failed target failed of, beside the cause that is stored with it: as far as the fleet still knows it. */
const failureFieldsOf = (
  { fleet }: Context,
  { workloadId, pushId, state }: StoredCampaignTarget,
  texts: TextAccess,
): Pick<CampaignTarget, 'error_parameters' | 'error_message'> =>
  state === 'failed' && pushId !== null ? aboutFailure(fleet.workload(workloadId), pushId, texts) : {}

/** What a campaign does with each workload, in the order of the campaign, or with those first that need somebody. */
export default defineHttp({
  route: 'GET /api/campaigns/:id/targets',
  summary: 'List the workloads of a campaign.',
  access: signedIn('config:request', 'filtered'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: type({
    ...pageQuery,
    state: optional(enums(CAMPAIGN_TARGET_STATES)),
    verdict: optional(enums(CAMPAIGN_VERDICTS)),
    group: optional(string()),
    order: optional(enums(['plan', 'worst'])),
  }),
  body: noBody,
  replies: [{ status: 200, description: 'The targets.', json: array(CampaignTarget) }],
  errors: ['campaign-not-found', 'out-of-scope', ...PAGE_ERRORS],
  async handle({ params, query, target, sight, actor }, ctx) {
    const campaign = await findCampaign(ctx.db, params.id)
    if (campaign === null) return problem('campaign-not-found')
    if (!seesCampaign(ctx, sight, campaign)) return problem('out-of-scope')
    const isSeen = seesWorkloads(sight)
    const withTexts = coversReach(actor, 'config:read_content', reachOfCampaign(campaign))
    const toWire = ({ wait, ...one }: StoredCampaignTarget & { wait: Wait }) => {
      const aftermath = one.state === 'failed' ? aftermathOfTarget(ctx.fleet, one) : null
      return {
        ...toTargetRecord(one, { withTexts }),
        ...failureFieldsOf(ctx, one, { withTexts }),
        ...(aftermath === null ? {} : { aftermath }),
        ...tellUnwellSince(ctx, one, { withTexts }),
        ...tellUnwellNow(ctx, one, { withTexts }),
        ...holdOf(ctx, campaign, one),
        ...(HAS_REACH.includes(one.state) ? reachOf(ctx, one, { withTexts }) : {}),
        ...wait,
      }
    }
    const withWait = <Target extends StoredCampaignTarget>(all: readonly Target[]) =>
      withWaits(ctx, sight, campaign.id, all)
    const filter = {
      ...(query.state === undefined ? {} : { states: [query.state] }),
      ...(query.verdict === undefined ? {} : { verdicts: [query.verdict] }),
      ...(query.group === undefined ? {} : { groupKey: query.group }),
    }
    if (query.order === 'worst') {
      const unwell = [
        ...(await listUnwellSince(ctx, campaign.id)),
        ...(await listUnwellNow(ctx, campaign, { withTexts })),
      ]
      const order = { ranks: WORST_FIRST, unwellIds: unwell.map(({ target: { workloadId } }) => workloadId) }
      return listReply<RankedTarget & { wait: Wait }>(query, target, {
        order: 'campaign_targets.worst',
        key: ['number', 'number'],
        fetch: async ({ after, limit }) => {
          const position = after === null ? null : { rank: Number(after[0]), position: Number(after[1]) }
          const page = { after: position, limit }
          return withWait(await listTargetsWorstFirst(ctx.db, params.id, filter, order, page))
        },
        isSeen,
        keyOf: ({ rank, position }) => [rank, position],
        toWire,
      })
    }
    return listReply(query, target, {
      order: 'campaign_targets.position',
      key: ['number'],
      fetch: async ({ after, limit }) => {
        const page = { after: after === null ? null : Number(after[0]), limit }
        return withWait(await listCampaignTargets(ctx.db, params.id, filter, page))
      },
      isSeen,
      keyOf: ({ position }) => [position],
      toWire,
    })
  },
})
