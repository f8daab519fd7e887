import { array, optional, string, type } from 'superstruct'
import { type FedChange, type FleetOfChanges, toChangeRecord } from '../../lib/changes/change-feed.ts'
import { followedPushes } from '../../lib/fleet/state/state.ts'
import { whyOf } from '../../lib/fleet/views/errors.ts'
import { causeOfHalt } from '../../lib/fleet/views/halt-cause.ts'
import { whySilent } from '../../lib/fleet/views/instance-why.ts'
import { readTime } from '../../lib/model/times.ts'
import { type ChangeFilter, listChanges, type StoredChange } from '../../lib/store/change-feed.ts'
import { ChangeRecord } from '../../lib/wire/change-feed.ts'
import { CHANGE_KINDS, CHANGE_OUTCOMES } from '../../lib/wire/values.ts'
import type { Context } from '../../runtime/context.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { holdsOn } from '../../runtime/reach.ts'
import { problem } from '../../runtime/reply.ts'

const text = optional(string())
const ChangeQuery = type({
  ...pageQuery,
  workload: text,
  campaign: text,
  auto_apply: text,
  person: text,
  text,
  outcome: text,
  kind: text,
  from: text,
  to: text,
})

/** One of the words, null for none of them where one was asked for, undefined where none was. */
const readWord = <T extends string>(words: readonly T[], given: string | undefined): T | null | undefined =>
  given === undefined || given === '' ? undefined : (words.find((word) => word === given) ?? null)

const readBound = (given: string | undefined): Date | null | undefined =>
  given === undefined || given === '' ? undefined : readTime(given)

const fleetOf = ({ fleet, views, clock }: Context): FleetOfChanges => ({
  countLive: (workloadId) => fleet.workload(workloadId)?.live.count ?? 0,
  troubleUnder(workloadId, pushId) {
    const workload = fleet.workload(workloadId)
    const trouble = workload === null ? undefined : views.workload(workload, EVERYBODY).trouble
    return trouble?.under_push?.push_id === pushId ? trouble : null
  },
  whyHalted(workloadId, rolloutId) {
    const workload = fleet.workload(workloadId)
    if (workload?.rollout?.stored.id !== rolloutId) return {}
    const { error_cause, error_title } = whyOf(
      causeOfHalt(workload, workload.rollout.followed.push),
      EVERYBODY,
    )
    return error_cause === undefined
      ? {}
      : { error_cause, ...(error_title === undefined ? {} : { error_title }) }
  },
  whySilent(workloadId, pushId) {
    const workload = fleet.workload(workloadId)
    const followed = workload && followedPushes(workload).find(({ push }) => push.pushId === pushId)
    const why = followed && whySilent(followed, fleet.state.instances, clock.now())
    return why ? { error_cause: why.cause, error_title: why.title } : {}
  },
})

/** The same changes; those that are campaigns say what they wait for, as their pages do. */
async function withHeldUp({ campaigns }: Context, changes: readonly StoredChange[]): Promise<FedChange[]> {
  const running = changes.filter(({ kind, status }) => kind === 'campaign' && status === 'running')
  const held = running.length === 0 ? null : await campaigns.heldUp(running.map(({ id }) => id))
  return changes.map((change) => ({ ...change, heldUp: held?.get(change.id) ?? null }))
}

/** What the feed says is read by everybody. */
const EVERYBODY = { withTexts: false }

/** What happened to the configs of the fleet, from requests, pushes and campaigns themselves. */
export default defineHttp({
  route: 'GET /api/changes',
  summary:
    'Requests, pushes, rollouts, rollbacks, campaigns and versions that apply by themselves, newest first.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: ChangeQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The changes.', json: array(ChangeRecord) }],
  errors: [...PAGE_ERRORS, 'invalid-time', 'unsupported-change-filter'],
  async handle({ query, target, actor }, ctx) {
    const outcome = readWord(CHANGE_OUTCOMES, query.outcome)
    if (outcome === null)
      return problem('unsupported-change-filter', {
        parameter: 'outcome',
        wanted: CHANGE_OUTCOMES.join(', '),
      })
    const kind = readWord(CHANGE_KINDS, query.kind)
    if (kind === null)
      return problem('unsupported-change-filter', { parameter: 'kind', wanted: CHANGE_KINDS.join(', ') })
    const from = readBound(query.from)
    if (from === null) return problem('invalid-time', { parameter: 'from' })
    const to = readBound(query.to)
    if (to === null) return problem('invalid-time', { parameter: 'to' })
    const filter: ChangeFilter = {
      workload: query.workload || null,
      campaign: query.campaign || null,
      autoApply: query.auto_apply || null,
      person: query.person || null,
      text: query.text?.trim() || null,
      outcome: outcome ?? null,
      kind: kind ?? null,
      from: from ?? null,
      to: to ?? null,
    }
    const visible = {
      withRequests: ctx.edition.gates.has('config_safety.approvals'),
      withCampaigns: ctx.edition.gates.has('config_safety.campaigns'),
      withPlans: actor.permissions.has('config:request'),
      // Whoever reads the comments of some workloads alone is not told by what fits what the others say.
      withComments: actor.permissions.has('config:request'),
    }
    const commentsOn = (workloadId: string | null) =>
      actor.permissions.has('config:request') ||
      (workloadId !== null && holdsOn(actor, 'config:request', ctx, workloadId))
    const db = await ctx.db.upToDate()
    return listReply<FedChange>(query, target, {
      order: 'changes.at',
      key: ['number', 'string'],
      fetch: async ({ after, limit }) => {
        const key = after === null ? null : { at: new Date(Number(after[0])), id: String(after[1]) }
        const { changes, bound } = await listChanges(db, filter, visible, { after: key, limit })
        const last = changes.length < limit ? bound : changes.at(-1)!
        return {
          items: await withHeldUp(ctx, changes),
          lookedTo: last === null ? null : [last.at.getTime(), last.id],
        }
      },
      keyOf: ({ at, id }) => [at.getTime(), id],
      toWire: (change) => toChangeRecord(change, { comments: commentsOn(change.workloadId) }, fleetOf(ctx)),
    })
  },
})
