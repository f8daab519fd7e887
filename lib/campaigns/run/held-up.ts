import { statesThat } from '../../model/target-states.ts'
import { listCampaignTargets } from '../../store/campaign-targets.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { BATCH } from './choose.ts'
import type { RunCounts } from './run.ts'
import { isInWindow } from './windows.ts'

/** What keeps a campaign that runs from starting anybody now. */
export type HeldUp = { reason: 'window' } | { reason: 'frozen'; until: Date; about: string }

/**
 * Why a campaign stands still though it runs: nothing is under way, and its windows or a freeze keep the next workloads
 * of its wave from starting. Null where it goes on, or where that is not known.
 */
export async function findHeldUp(
  parts: Pick<CampaignParts, 'db' | 'clock' | 'fleet' | 'freezeOf'>,
  { id, status, wave, waveEndedAt, rules }: CampaignSummary,
  { all, waves }: RunCounts,
): Promise<HeldUp | null> {
  const isUnderWay = statesThat('under-way').some((state) => (all[state] ?? 0) > 0)
  if (status !== 'running' || waveEndedAt !== null || isUnderWay || (waves[wave]?.waiting ?? 0) === 0)
    return null
  if (!isInWindow(rules.windows, parts.clock.now())) return { reason: 'window' }
  const next = await listCampaignTargets(
    parts.db,
    id,
    { states: ['waiting'], wave },
    { after: null, limit: BATCH },
  )
  const freezes = next.map(({ workloadId }) => {
    const workload = parts.fleet.workload(workloadId)
    return workload === null ? null : (parts.freezeOf?.(workload) ?? null)
  })
  const [freeze] = freezes
  if (freeze === null || freeze === undefined || freezes.includes(null)) return null
  return { reason: 'frozen', until: freeze.until, about: freeze.reason }
}
