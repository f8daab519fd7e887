import { campaignIs } from '../../model/campaign-states.ts'
import { statesThat } from '../../model/target-states.ts'
import type { Db } from '../../store/db.ts'
import { type LaterTarget, listLaterTargets, listTakenBackSince } from '../../store/later-campaigns.ts'
import type { CampaignVerdict } from '../../wire/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { isInOneOf } from '../judge/scope.ts'

/**
 * What a workload that comes back gets of several campaigns. It ends with what others of its kind run:
 *
 * - never what another campaign took back since this one was started;
 * - of several campaigns the newest that decided about it: one that changed it, tried to, waited for it in vain, or found
 *   that it runs already what it is to run. The older ones are `overtaken`;
 * - while a newer campaign has yet to come to it, running or stopped so that it may go on, the older ones wait;
 * - a newer campaign that was aborted before it came to the workload, or was rolled back, decided nothing: the others
 *   run what the older one brought, and so does this one, also where the newer one had come to it (`letWaitAgain`). While
 *   that is being rolled back, the older ones wait until it has taken the workload back.
 */
export type Turn = 'due' | 'waits' | 'overtaken'

/** The verdicts of workloads that a campaign is about; all others it leaves to whatever else is decided about them. */
const DECIDED: readonly CampaignVerdict[] = ['changes', 'offline', 'same']
const TO_COME = statesThat('waits')
const MAY_RUN = [...statesThat('may-run'), ...statesThat('under-way')]

/** Whether an older campaign may still bring a workload its change, by what newer ones say of it. */
export function judgeTurn(later: readonly Pick<LaterTarget, 'status' | 'verdict' | 'state'>[]): Turn {
  let turn: Turn = 'due'
  for (const { status, verdict, state } of later) {
    if (status === 'rolling_back' && MAY_RUN.includes(state)) turn = 'waits'
    if (campaignIs(status, 'goes-back') || !DECIDED.includes(verdict)) continue
    if (state === 'cancelled') continue
    if (!TO_COME.includes(state)) return 'overtaken'
    turn = 'waits'
  }
  return turn
}

async function laterOf(
  db: Db,
  campaignId: string,
  workloadIds: readonly string[],
): Promise<Map<string, LaterTarget[]>> {
  const later = new Map<string, LaterTarget[]>()
  for (const target of await listLaterTargets(db, campaignId, workloadIds)) {
    const known = later.get(target.workloadId)
    if (known === undefined) later.set(target.workloadId, [target])
    else known.push(target)
  }
  return later
}

/** Of some workloads that a campaign waits for: the id of the newest campaign that is to come to each of them first. */
export async function findRivals(
  db: Db,
  campaignId: string,
  workloadIds: readonly string[],
): Promise<Map<string, string>> {
  if (workloadIds.length === 0) return new Map()
  const later = await laterOf(db, campaignId, workloadIds)
  return new Map(
    [...later].flatMap(([id, targets]): [string, string][] => {
      const rival = targets.findLast((target) => judgeTurn([target]) === 'waits')
      return judgeTurn(targets) === 'waits' && rival !== undefined ? [[id, rival.campaignId]] : []
    }),
  )
}

/** The turn of each of some workloads that were away while a campaign was carried. */
export async function judgeTurns(
  { db, fleet }: Pick<CampaignParts, 'db' | 'fleet'>,
  campaignId: string,
  workloadIds: readonly string[],
): Promise<Map<string, Turn>> {
  const takenBack = await listTakenBackSince(db, campaignId)
  const later = await laterOf(db, campaignId, workloadIds)
  return new Map(
    workloadIds.map((id): [string, Turn] => {
      const workload = fleet.workload(id)
      const isTakenBack = takenBack.some(
        ({ cutTo }) => cutTo === null || (workload !== null && isInOneOf(cutTo, workload)),
      )
      return [id, isTakenBack ? 'overtaken' : judgeTurn(later.get(id) ?? [])]
    }),
  )
}
