import { isDeepStrictEqual } from 'node:util'
import type { Log } from '../../log.ts'
import type { AvailableComponents } from '../../model/components.ts'
import { listAgentHomes } from '../../store/agents.ts'
import { findContents } from '../../store/config-contents.ts'
import type { Database } from '../../store/db.ts'
import { listKnownGood } from '../../store/known-good.ts'
import { listTargets } from '../../store/push-targets.ts'
import { listFollowedPushes, type Push } from '../../store/pushes.ts'
import { listQuarantines } from '../../store/quarantines.ts'
import { readWorkload } from '../../store/readable-workload.ts'
import { listOpenRollouts } from '../../store/rollouts.ts'
import { listAltered } from '../../store/workload-events.ts'
import { listWorkloads } from '../../store/workloads.ts'
import { inTurns } from '../../turns.ts'
import { storedRhythm } from '../decide/poll-rhythm.ts'
import { ALTERED_MAX, HOMES_MAX } from './agent-limits.ts'
import { followPush, restoreTarget } from './followed-push.ts'
import { loadLifted } from './lifted.ts'
import { hasEndedStages, loadScope } from './load-push.ts'
import type { FollowedPush, Workload } from './model.ts'
import { type FleetState, quarantineInstance, toWorkload } from './state.ts'
import { UnreadableRows } from './unreadable-rows.ts'

/** Rows taken over in one turn of the event loop: a process that becomes the owner goes on serving its agents. */
export const LOAD_CHUNK = 1_000

/** Fill an empty state with what the database holds. Instances are not stored: they come with messages of agents. */
export async function loadFleet(db: Database, state: FleetState, log: Log): Promise<void> {
  const share = sharedLists()
  const unreadable = new UnreadableRows(log, 'workloads')
  for await (const some of inTurns(await listWorkloads(db), LOAD_CHUNK)) {
    for (const row of some) {
      const { workload, unreadable: fields } = readWorkload(row)
      if (fields.length > 0) unreadable.tell(row.id, fields)
      const loaded = { ...workload, availableComponents: share(workload.availableComponents) }
      // Labels of rules are made anew once all is loaded.
      state.add(toWorkload(loaded, fields.includes('trusted_labels')))
    }
  }
  unreadable.end()
  for await (const some of inTurns(await listAgentHomes(db, HOMES_MAX), LOAD_CHUNK)) {
    for (const home of some) {
      state.homes.set(home.instanceUid, home.workloadId)
      // One that describes itself again is seen later than it said goodbye.
      const hasDeparted = home.departedAt !== null && home.departedAt >= home.seenAt
      if (!hasDeparted) state.knownAtStart.add(home.instanceUid)
      if (home.unhealthySince !== null) state.unhealthyStored.set(home.instanceUid, home.unhealthySince)
      if (home.pollIntervalMs !== null) state.keepRhythm(home.instanceUid, storedRhythm(home.pollIntervalMs))
    }
  }
  for (const { instanceUid, since } of await listAltered(db, ALTERED_MAX))
    if (state.homes.has(instanceUid)) state.altered.set(instanceUid, since)
  await loadPushes(db, state)
  await noteAwaited(state)
  for await (const some of inTurns(await listQuarantines(db), LOAD_CHUNK)) {
    for (const { workloadId, hash, instanceUid } of some) {
      const workload = state.workloads.get(workloadId)
      if (workload === undefined) continue
      if (instanceUid === '') workload.quarantinedHashes.add(hash)
      else quarantineInstance(workload, hash, instanceUid)
    }
  }
  for (const { workloadId, hash } of await listKnownGood(db)) {
    const workload = state.workloads.get(workloadId)
    if (workload !== undefined) workload.knownGoodHash = hash
  }
}

/** Note with each rollout which agents of its workload are known. */
async function noteAwaited(state: FleetState): Promise<void> {
  if (state.rollingOut.size === 0) return
  for await (const uids of inTurns(state.knownAtStart, LOAD_CHUNK)) {
    for (const uid of uids) {
      const rollout = state.workloads.get(state.homes.get(uid) ?? '')?.rollout
      if (rollout == null) continue
      rollout.awaitedUids ??= []
      rollout.awaitedUids.push(uid)
    }
  }
}

/** Most workloads have one of a few lists of components: those that are equal become one. An agent chooses its hash. */
function sharedLists(): (list: AvailableComponents | null) => AvailableComponents | null {
  const byHash = new Map<string, AvailableComponents>()
  return (list) => {
    if (list === null) return null
    const known = byHash.get(list.hash)
    if (known === undefined) byHash.set(list.hash, list)
    return known !== undefined && isDeepStrictEqual(known.components, list.components) ? known : list
  }
}

async function loadPushes(db: Database, state: FleetState): Promise<void> {
  const pushes = await listFollowedPushes(db)
  const isOver = (workload: Workload, push: Push) =>
    push.seq === workload.pushSeq && hasEndedStages(workload, push)
  const active = pushes.filter((push) => {
    const workload = state.workloads.get(push.workloadId)
    if (workload === undefined) return false
    const { activePushId, rolloutPushId } = workload
    return push.pushId === activePushId || push.pushId === rolloutPushId || isOver(workload, push)
  })
  const contents = new Map(
    (await findContents(db, [...new Set(active.map((push) => push.hash))])).map((c) => [c.hash, c]),
  )
  const followed = new Map<string, FollowedPush>()
  for (const push of active) {
    const content = contents.get(push.hash)
    if (content === undefined) continue
    const entry = followPush(push, Buffer.from(content.body), content.components, true)
    followed.set(push.pushId, entry)
    const workload = state.workloads.get(push.workloadId)!
    if (push.pushId === workload.activePushId) workload.active = entry
  }
  for (const { rollout, members } of await listOpenRollouts(db)) {
    const entry = followed.get(rollout.pushId)
    if (entry === undefined) continue
    entry.isStaged = true
    const workload = state.workloads.get(rollout.workloadId)!
    state.rollingOut.add(workload)
    entry.isSuperseded ||= rollout.status === 'aborted'
    workload.rollout = {
      stored: rollout,
      followed: entry,
      members: new Map(members),
    }
  }
  for (const entry of followed.values()) {
    const workload = state.workloads.get(entry.push.workloadId)!
    if (entry === workload.active || entry.isStaged) continue
    if (isOver(workload, entry.push)) {
      workload.endedStages = entry
      continue
    }
    // A push for members that has no rollout of its own: it takes the members of another one back.
    entry.scope = await loadScope(db, entry.push)
    workload.takenBack = entry
  }
  for await (const some of inTurns(await listTargets(db, [...followed.keys()]), LOAD_CHUNK))
    for (const { pushId, target } of some) restoreTarget(followed.get(pushId)!, target)
  await loadLifted(db, followed)
  for (const push of pushes) {
    const workload = state.workloads.get(push.workloadId)
    if (workload !== undefined && push.seq === workload.pushSeq)
      workload.newestPush = followed.get(push.pushId)?.push ?? push
  }
}
