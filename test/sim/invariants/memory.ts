import { noFollowers } from '../../../lib/audit/commit-followers.ts'
import { FleetCounters } from '../../../lib/fleet/state/counters.ts'
import { loadFleet } from '../../../lib/fleet/state/load-fleet.ts'
import type { FollowedPush, Workload } from '../../../lib/fleet/state/model.ts'
import { FleetState } from '../../../lib/fleet/state/state.ts'
import { silentLog } from '../../../lib/log.ts'
import type { Connection } from '../../../lib/store/connection.ts'
import { tallyFault } from '../../support/recount.ts'
import type { SimService } from '../service/sim-service.ts'
import { differences } from './differences.ts'
import type { Report } from './finding.ts'

/** The tally that each workload keeps of its live instances is what counting them anew gives. */
export function checkTallies({ fleet }: SimService, report: Report): void {
  for (const { id, live, instances, activeHash } of fleet.state.workloads.values()) {
    const there = [...instances].filter(({ connection }) => connection !== null)
    const fault = tallyFault(live, there, activeHash ?? '')
    if (fault !== '') report(`the tally of ${id}: ${fault}`)
  }
}

/**
 * At rest a service holds in memory what a service that started now would load, even where answers of the database were
 * lost.
 */
export async function checkMemory(service: SimService, watcher: Connection, report: Report): Promise<void> {
  const stored = new FleetState()
  await loadFleet(watcher, stored, silentLog)
  const held = service.fleet.state
  for (const id of new Set([...held.workloads.keys(), ...stored.workloads.keys()])) {
    const [mine, theirs] = [held.workloads.get(id), stored.workloads.get(id)]
    if (mine === undefined || theirs === undefined)
      report(`workload ${id} is ${mine === undefined ? 'stored and not held' : 'held and not stored'}`)
    else compare(`workload ${id}`, describeWorkload(mine), describeWorkload(theirs), report)
  }
  compare('homes', sorted(held.homes), sorted(stored.homes), report)
  compare('unhealthy times', sorted(held.unhealthyStored), sorted(stored.unhealthyStored), report)
  const counters = new FleetCounters(noFollowers, () => {})
  await counters.load(watcher)
  for (const id of held.workloads.keys())
    compare(
      `counters of ${id}`,
      describeCounters(service.ctx.counters, id),
      describeCounters(counters, id),
      report,
    )
}

function compare(what: string, held: unknown, stored: unknown, report: Report): void {
  for (const difference of differences(held, stored)) report(`${what} is held with ${difference} as stored`)
}

function describeWorkload(workload: Workload): Record<string, unknown> {
  const { active, rollout, takenBack, endedStages, newestPush } = workload
  return {
    displayName: workload.displayName,
    type: workload.type,
    version: workload.version,
    status: workload.status,
    labels: sorted(Object.entries(workload.labels)),
    trustedLabels: sorted(Object.entries(workload.trustedLabels)),
    acceptsRemoteConfig: workload.acceptsRemoteConfig,
    remoteConfigStatus: workload.remoteConfigStatus?.status,
    activeHash: workload.activeHash,
    activePushId: workload.activePushId,
    generation: workload.generation,
    pushSeq: workload.pushSeq,
    disconnectedAt: workload.disconnectedAt,
    archivedAt: workload.archivedAt,
    newestPush: newestPush === null ? null : describePush(newestPush),
    quarantinedHashes: [...workload.quarantinedHashes].sort(),
    quarantinedInstances: sorted(
      [...workload.quarantinedInstances].map(([hash, uids]) => [hash, [...uids].sort()] as const),
    ),
    knownGoodHash: workload.knownGoodHash,
    ...(active === null ? { active: null } : prefixed('active', describeFollowed(active))),
    ...(rollout === null ? { rollout: null } : prefixed('rollout', describeFollowed(rollout.followed))),
    ...(takenBack === null ? { takenBack: null } : prefixed('takenBack', describeTakenBack(takenBack))),
    ...(endedStages === null
      ? { endedStages: null }
      : prefixed('endedStages', describeFollowed(endedStages))),
    rolloutStanding: rollout === null ? null : { ...rollout.stored },
    rolloutMembers: rollout === null ? null : sorted(rollout.members),
  }
}

const describePush = ({ pushId, seq, hash, status, phase, kind, counts, error }: FollowedPush['push']) => ({
  pushId,
  seq,
  hash,
  status,
  phase,
  kind,
  counts: sorted(Object.entries(counts)),
  cause: error?.cause ?? null,
})

function describeFollowed(followed: FollowedPush): Record<string, unknown> {
  const { push, body, targets, failedCount, lostCount, lossCount } = followed
  const described = [...targets].map(
    ([uid, { state, isTarget, isJoiner, losses, hadFailedBefore, generation }]) => [
      uid,
      { state, isTarget, isJoiner, losses, hadFailedBefore, generation },
    ],
  ) as [string, unknown][]
  return {
    ...describePush(push),
    body: Buffer.from(body).toString('utf8'),
    failedCount,
    lostCount,
    lossCount,
    targets: sorted(described),
  }
}

const describeTakenBack = (followed: FollowedPush): Record<string, unknown> => ({
  ...describeFollowed(followed),
  scope: [...(followed.scope ?? [])].sort(),
})

function prefixed(prefix: string, fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [`${prefix}.${key}`, value]))
}

function describeCounters(counters: FleetCounters, id: string): Record<string, unknown> {
  return { openAlerts: counters.openAlerts(id), waitingApprovals: counters.waitingApprovals(id) }
}

const sorted = <Value>(entries: Iterable<readonly [string, Value]>): Record<string, Value> =>
  Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)))
