import type { HaltedCampaign } from '../../alerts/topics.ts'
import { listHaltedCampaigns } from '../../store/alert-topics.ts'
import { type CampaignSummary, listCampaignsById } from '../../store/campaigns.ts'
import type { Db } from '../../store/db.ts'
import type { CampaignHalt } from '../../wire/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { unreadableOf, withoutColumns } from '../judge/readable-campaign.ts'
import { reachOfCampaign } from '../judge/scope.ts'
import { haltOfCounted } from './find-halt.ts'
import { findLapse } from './lapse.ts'
import { findUntried, limitFactsOf, listPassedLimits, type PassedLimit } from './limits.ts'
import { countRuns, type RunCounts } from './run.ts'

/** A halt as it stands now: more may have failed since, as what was started then comes to its end. */
export interface HaltNow {
  /** Whether it would halt again at once if it were continued as it is. */
  holds: boolean
  /** The limits that are passed now, each once. */
  passed: PassedLimit[]
  /** What it halted over, counted now: null where that has not changed. */
  halt: CampaignHalt | null
}

/**
 * Look whether a campaign that halted would halt again at once if it were continued as it is: its approval still does
 * not hold, or a limit that counts targets is still passed. How healthy workloads are, and whether they drift, only the
 * next look tells; so does whether one that was away has come back.
 */
export async function lookAtHalt(
  parts: Pick<CampaignParts, 'config' | 'mayApprove' | 'db'>,
  campaign: CampaignSummary,
  counts: RunCounts,
): Promise<HaltNow> {
  const reach = reachOfCampaign(campaign)
  const lapse = await findLapse(parts, { ...campaign, reach })
  const counted = listCounted(campaign, counts)
  const untried = findStillUntried(campaign, counts)
  const isTold = counted.some(({ gate, value }) => gate === untried?.gate && value >= untried.value)
  const passed =
    untried === null || isTold ? counted : [...counted.filter(({ gate }) => gate !== untried.gate), untried]
  return {
    holds: lapse !== null || passed.length > 0,
    passed,
    halt: await recountHalt(parts, campaign, counts),
  }
}

/** The limits that targets by their state pass now. */
const listCounted = (
  campaign: Pick<CampaignSummary, 'wave' | 'plan' | 'rules' | 'raised'>,
  { all: counts }: Pick<RunCounts, 'all'>,
): PassedLimit[] => listPassedLimits({ ...limitFactsOf(campaign), counts, unhealthy: 0, drifted: 0 })

/**
 * The halt of a campaign as it stands now, where more have failed or are silent since, as what was started then came to
 * its end; null where that has not changed. Its page and its alert say the same number.
 */
export async function recountHalt(
  parts: { db: Db },
  campaign: CampaignSummary,
  counts: Pick<RunCounts, 'all'>,
): Promise<CampaignHalt | null> {
  const { halt, id } = campaign
  if (halt === null) return null
  const now = listCounted(campaign, counts).find(
    ({ gate, value }) => gate === halt.gate && value !== halt.value,
  )
  return now === undefined ? null : haltOfCounted(parts, { id, wave: halt.wave }, now)
}

/**
 * The campaigns that muster halted, with what stopped each as it stands now: as it was stored where something else of the
 * campaign cannot be read, and left out where that cannot.
 */
export async function listHaltsNow(db: Db): Promise<HaltedCampaign[]> {
  const ids = await listHaltedCampaigns(db)
  if (ids.length === 0) return []
  const campaigns = await listCampaignsById(db, ids)
  const counts = await countRuns({ db }, ids)
  const halts: HaltedCampaign[] = []
  for (const stored of campaigns.values()) {
    const unreadable = unreadableOf(stored)
    const campaign = withoutColumns(stored, unreadable)
    const { id, name, status, updatedAt: haltedAt } = campaign
    const now = unreadable.length > 0 ? null : await recountHalt({ db }, campaign, counts.get(id)!)
    const halt = now ?? campaign.halt
    if (status === 'halted' && halt !== null) halts.push({ id, name, haltedAt, halt })
  }
  return halts
}

/** That still nobody in the first wave tried the change out; null also where one that is away may yet. */
function findStillUntried(campaign: CampaignSummary, { waves }: RunCounts): PassedLimit | null {
  const { waiting = 0, offline = 0 } = waves[campaign.wave] ?? {}
  return waiting + offline > 0 ? null : findUntried(campaign, waves)
}
