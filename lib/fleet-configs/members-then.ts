import type { Clock } from '../clock.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Workload } from '../fleet/state/model.ts'
import { eachInTurns } from '../turns.ts'
import type { FleetConfigs } from './fleet-configs.ts'
import { type Candidate, openCandidates } from './membership.ts'

/** Workloads that are looked at before others get their turn. */
const CHUNK = 200

/** Who would be under a fleet config, and how many would come to it and leave it. */
export interface MembersThen {
  under: Workload[]
  arriving: number
  leaving: number
}

/**
 * Find who would be under a fleet config with this selector and priority, and kept in Git by this owner where one is said; `id`
 * is null for a new one.
 */
export async function listMembersThen(
  { fleet, fleetConfigs, clock }: { fleet: Fleet; fleetConfigs: FleetConfigs; clock: Clock },
  id: string | null,
  { selector, priority, owner }: Pick<Candidate, 'selector' | 'priority' | 'owner'>,
): Promise<MembersThen> {
  const known = id === null ? null : fleetConfigs.config(id)
  const others = fleetConfigs.configs.filter((one) => one !== known)
  const identity = { id: known?.id ?? '', createdAt: known?.createdAt ?? clock.now() }
  const then = { ...identity, selector, priority, ...(owner === undefined ? {} : { owner }) }
  const candidates = openCandidates([...others, then])
  const under: Workload[] = []
  let [arriving, leaving] = [0, 0]
  await eachInTurns(fleet.state.workloads.values(), { size: CHUNK, clock }, (workload) => {
    const isUnder = known !== null && fleetConfigs.membershipOf(workload).configId === known.id
    const isUnderThen = fleetConfigs.membershipAmong(workload, candidates).configId === then.id
    if (isUnderThen) under.push(workload)
    if (isUnderThen && !isUnder) arriving++
    if (isUnder && !isUnderThen) leaving++
  })
  return { under, arriving, leaving }
}
