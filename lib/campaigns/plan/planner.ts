import { readApprovalPolicy } from '../../changes/approval-policy.ts'
import type { Workload } from '../../fleet/state/model.ts'
import { configHash } from '../../model/config-hash.ts'
import { placeOf } from '../../model/places.ts'
import { sortedJson } from '../../model/sorted-json.ts'
import { openSelector, toSelectable } from '../../selectors/selector.ts'
import { type PlannedTarget, replaceCampaignTargets } from '../../store/campaign-targets.ts'
import { keepPlan, type StoredCampaign } from '../../store/campaigns.ts'
import type { Db } from '../../store/db.ts'
import { listOnFailed, listOnUnapproved } from '../../store/pushes.ts'
import { listKeptProduction } from '../../store/reviews.ts'
import { mapInTurns, nextTurn } from '../../turns.ts'
import type { CampaignWave } from '../../wire/campaigns.ts'
import type { Selector } from '../../wire/selectors.ts'
import { CampaignJudge, type Judgement } from '../judge/judge.ts'
import { type CampaignParts, hashPolicy } from '../judge/parts.ts'
import { listMeant } from '../judge/scope.ts'
import { untilFree } from '../judge/until-free.ts'
import { sideBySide } from '../run/side-by-side.ts'
import { ChangeGroups } from './groups.ts'
import { hashPlan } from './plan-hash.ts'
import { keyReports, type OwnReport, reportInPlaceOfBase } from './reports.ts'
import { summarise } from './summary.ts'
import { PLAN_TURN } from './turn.ts'
import { layWaves, orderTargets } from './waves.ts'

/** How many workloads have been judged, of how many. */
export interface PlanProgress {
  done: number
  total: number
}

/** A workload with what would be done with it. */
interface Planned {
  workload: Workload
  workloadId: string
  judgement: Judgement
  /** What stands for its base, where it has none and is pushed to. */
  report: OwnReport | null
  groupKey: string | null
}

/** Why a plan is not begun. */
export const PLANNING_ERRORS = ['campaign-being-planned', 'plans-too-many', 'plans-too-many-of-one'] as const

/** Plans that are made at one time: with all of them half of the config workers' queue is left to operators. */
export const PLANS_MAX = 8
/** Plans of one person among them, so that nobody keeps others from planning. */
export const PLANS_OF_ONE_MAX = 3
const TURN = 20
/** Workloads that are judged at the same time: more than the config workers have threads for operators. */
const SIDE_BY_SIDE = 4

/** Makes plans, one for each campaign at a time. */
export class CampaignPlanner {
  readonly #parts: CampaignParts
  readonly #underWay = new Map<string, { progress: PlanProgress; by: string }>()
  /** Called now and then while a plan is made, and once it is stored or was given up. */
  readonly #changed: (campaignId: string) => void

  constructor(parts: CampaignParts, changed: (campaignId: string) => void) {
    this.#parts = parts
    this.#changed = changed
  }

  /** How far the plan of a campaign has come; null when none is being made. */
  progress(campaignId: string): PlanProgress | null {
    return this.#underWay.get(campaignId)?.progress ?? null
  }

  /**
   * Begin to plan a campaign for somebody (the id of a user), or say why that is refused. `done` resolves when the plan
   * is stored or given up; a failure is only logged.
   */
  begin(
    campaign: StoredCampaign,
    by: string,
  ): { refusal: (typeof PLANNING_ERRORS)[number] | null; done: Promise<void> } {
    const refusal = this.#refuse(campaign.id, by)
    if (refusal !== null) return { refusal, done: Promise.resolve() }
    const progress = { done: 0, total: 0 }
    this.#underWay.set(campaign.id, { progress, by })
    const done = this.#plan(campaign, progress)
      .catch((error) => this.#parts.log.error({ err: error, campaign_id: campaign.id }, 'plan was given up'))
      .finally(() => {
        this.#underWay.delete(campaign.id)
        this.#changed(campaign.id)
      })
    return { refusal: null, done }
  }

  #refuse(campaignId: string, by: string): (typeof PLANNING_ERRORS)[number] | null {
    if (this.#underWay.has(campaignId)) return 'campaign-being-planned'
    const own = [...this.#underWay.values()].filter((plan) => plan.by === by)
    if (own.length >= PLANS_OF_ONE_MAX) return 'plans-too-many-of-one'
    return this.#underWay.size >= PLANS_MAX ? 'plans-too-many' : null
  }

  async #plan(campaign: StoredCampaign, progress: PlanProgress): Promise<void> {
    const { db, clock, config } = this.#parts
    const judge = new CampaignJudge(this.#parts, campaign)
    const meant = await listMeant(this.#parts, campaign.scope, judge.scopeOf)
    const members = meant.filter(({ meant }) => meant !== 'outside')
    const outsideCount = meant.length - members.length
    progress.total = members.length
    await this.#parts.fleet.waitForAgents(members.map(({ workload }) => workload))
    const planned = await mapInTurns(
      members,
      PLAN_TURN,
      ({ workload }): Planned => ({
        workload,
        workloadId: workload.id,
        judgement: excluded(workload),
        report: null,
        groupKey: null,
      }),
    )
    const groups = new ChangeGroups(judge, this.#parts)
    const ids = planned.map(({ workloadId }) => workloadId)
    const onUnapproved = await listOnUnapproved(db, ids)
    const onFailed = await listOnFailed(db, ids)
    await sideBySide([...members.keys()], SIDE_BY_SIDE, async (at) => {
      const one = planned[at]!
      if (members[at]!.meant !== 'excluded') Object.assign(one, await this.#look(judge, groups, one))
      if (campaign.change.kind === 'patch' && onUnapproved.has(one.workloadId))
        Object.assign(one, withoutApprovedBase(one))
      if (++progress.done % TURN === 0) {
        await nextTurn()
        if (progress.done % (TURN * 25) === 0) this.#changed(campaign.id)
      }
    })
    await noteKeptProduction(db, planned)
    await partByReports(this.#parts, planned)
    const hasProduction = planned.some(({ judgement }) => isPushed(judgement) && judgement.isProduction)
    const { waves, targets } = await toTargets(campaign, planned, hasProduction)
    const policyHash = hashPolicy(config.policy)
    const { policy } = await readApprovalPolicy(db)
    const bound = {
      changeHash: sortedJson(campaign.change),
      rules: campaign.rules,
      policyHash,
      approvalPolicy: policy,
      targets,
    }
    const planHash = await hashPlan(bound)
    const now = clock.now()
    const workloads = new Map(planned.map(({ workloadId, workload }) => [workloadId, workload]))
    const workloadOf = (id: string) => workloads.get(id)!
    const plan = {
      ...(await summarise(waves, targets, { workloadOf, onUnapproved, onFailed, now })),
      ...(campaign.scope.cut_to === undefined ? {} : { outside_scope_count: outsideCount }),
    }
    await db.transaction('campaign.plan', async (tx) => {
      const kept = { id: campaign.id, edition: campaign.edition, plan, planHash, policyHash, now }
      if ((await keepPlan(tx, kept)) !== null) await replaceCampaignTargets(tx, campaign.id, targets)
    })
  }

  /**
   * Judge a workload and find its group, and try again while the config workers are busy. After about ten seconds,
   * or where they took too long over it, the workload is refused as `unreadable`.
   */
  async #look(
    judge: CampaignJudge,
    groups: ChangeGroups,
    { workload }: Planned,
  ): Promise<Pick<Planned, 'judgement' | 'report' | 'groupKey'>> {
    const found = await untilFree(this.#parts.clock, async () => {
      const judgement = await judge.judge(workload)
      const { values = {} } = judgement.result ?? {}
      return isPushed(judgement)
        ? {
            judgement: withoutText(judgement),
            report: reportInPlaceOfBase(workload, values),
            groupKey: await groups.keyOf(judgement),
          }
        : { judgement: withoutText(judgement), report: null, groupKey: null }
    })
    const judgement = { ...excluded(workload), verdict: 'refused', reason: 'unreadable' } as const
    return found ?? { judgement, report: null, groupKey: null }
  }
}

/** What keeps being production after changes of labels that nobody has accepted is planned as that, as it is approved. */
async function noteKeptProduction(db: Db, planned: readonly Planned[]): Promise<void> {
  const kept = await listKeptProduction(
    db,
    planned.map(({ workloadId }) => workloadId),
  )
  for (const one of planned)
    if (kept.has(one.workloadId)) one.judgement = { ...one.judgement, isProduction: true }
}

/** Part groups of workloads without a base, which get the same, by what they report and lose. */
async function partByReports(parts: CampaignParts, planned: readonly Planned[]): Promise<void> {
  const reporting = planned.filter(({ report }) => report !== null)
  const keys = await keyReports(
    parts,
    reporting.map(({ report }) => report!),
  )
  await mapInTurns([...reporting.entries()], PLAN_TURN, ([at, one]) => {
    one.groupKey = configHash(`${one.groupKey}\n${keys[at]}`).slice(0, 32)
  })
}

/**
 * Drop the text of a result: it is rendered again when the workload's turn comes, so that a plan never holds thousands
 * of texts.
 */
const withoutText = (judgement: Judgement): Judgement => ({
  ...judgement,
  result: judgement.result && { ...judgement.result, text: '' },
})

const isPushed = ({ verdict }: Judgement): boolean => verdict === 'changes' || verdict === 'offline'

/**
 * A workload that a patch would change on top of a config which nobody approved there: whoever approves is shown the
 * lines of the patch, and would approve the rest with them. It is left out until somebody has accepted that config.
 * What is approved stays so, so that this need not be asked again when its turn comes.
 */
const withoutApprovedBase = ({ judgement, groupKey }: Planned): Pick<Planned, 'judgement' | 'groupKey'> =>
  isPushed(judgement)
    ? { judgement: { ...judgement, verdict: 'refused', reason: 'base_not_approved' }, groupKey: null }
    : { judgement, groupKey }

const excluded = ({ activeHash }: Workload): Judgement => ({
  verdict: 'excluded',
  reason: null,
  baseHash: activeHash,
  result: null,
  required: [],
  isProduction: false,
})

async function toTargets(
  campaign: StoredCampaign,
  planned: readonly Planned[],
  hasProduction: boolean,
): Promise<{ waves: readonly CampaignWave[]; targets: PlannedTarget[] }> {
  const ordered = await orderTargets(campaign.id, planned)
  const isThere = ({ judgement }: Planned) => judgement.verdict === 'changes'
  // Workloads with an instance that can take the config come first, and of those the ones that are well: a first wave of
  // workloads that are away would try nothing out, and of one that was unwell before nobody could tell what the change did.
  const there = ordered.filter(isThere)
  const pushed = [
    ...there.filter(({ workload }) => workload.status !== 'degraded'),
    ...there.filter(({ workload }) => workload.status === 'degraded'),
    ...ordered.filter(({ judgement }) => judgement.verdict === 'offline'),
  ]
  const openWave = (selector: Selector) => {
    const isSelected = openSelector(selector)
    return ({ workload }: Planned) => isSelected(toSelectable(workload))
  }
  const about = { hasProduction, isThere, openSelector: openWave }
  const { waves, found } = await layWaves(pushed, campaign.rules.waves, about)
  const waveOf = new Map(pushed.map(({ workloadId }, index) => [workloadId, found[index]!]))
  const positions = new Map(ordered.map(({ workloadId }, position) => [workloadId, position]))
  const targets = await mapInTurns(ordered, PLAN_TURN, (one) =>
    toTarget(campaign.id, one, {
      position: positions.get(one.workloadId)!,
      wave: waveOf.get(one.workloadId) ?? null,
    }),
  )
  return { waves, targets }
}

const toTarget = (
  campaignId: string,
  { workload, judgement, report, groupKey }: Planned,
  place: Pick<PlannedTarget, 'position' | 'wave'>,
): PlannedTarget => ({
  campaignId,
  workloadId: workload.id,
  workloadName: workload.displayName,
  workloadPlace: placeOf(workload.fingerprintKeys),
  ...place,
  verdict: judgement.verdict,
  reason: judgement.reason,
  baseHash: judgement.baseHash,
  reportedHash: report?.hash ?? null,
  resultHash: judgement.result?.hash ?? null,
  groupKey,
  variables: judgement.result?.values ?? {},
  choices: judgement.result?.choices ?? {},
  missing: judgement.missing ?? [],
  isProduction: judgement.isProduction,
  instanceCount: workload.live.count,
  state:
    judgement.verdict === 'changes' ? 'waiting' : judgement.verdict === 'offline' ? 'offline' : 'left_out',
  pushId: null,
  rollbackPushId: null,
  cause: null,
  title: judgement.detail ?? null,
  wasDegraded: false,
  wasDrifted: false,
  awaySince: null,
  startedAt: null,
  endedAt: null,
})
