import type { Clock } from '../../clock.ts'
import { isVersionOutdated } from '../../model/versions.ts'
import type { Push } from '../../store/pushes.ts'
import { Pace } from '../../turns.ts'
import type { HubFrame, WorkloadUpdate } from '../../wire/hub.ts'
import type { InstanceDetail, LiveInstance } from '../../wire/instances.ts'
import type { PushAftermath, RevisionRecord } from '../../wire/revisions.ts'
import type { WorkloadTopology } from '../../wire/topology.ts'
import type { WorkloadRecord } from '../../wire/workloads.ts'
import type { Fleet } from '../fleet.ts'
import type { FleetCounters } from '../state/counters.ts'
import { isDegradingNow, listDegrading } from '../state/derive.ts'
import type { Instance, RemoteConfigReport, Workload } from '../state/model.ts'
import { assignmentOf, knownPushes } from '../state/state.ts'
import { aftermathOf } from './aftermath.ts'
import { appliedBy, countDrifted, type Differs, findDrifted } from './drifted.ts'
import { type EffectiveMatches, PAIRS_MAX } from './effective-matches.ts'
import { groupErrors, type TextAccess } from './errors.ts'
import { type ClassifyError, toInstanceDetail, toLiveInstance, toRemoteConfigStatus } from './instance.ts'
import { whyInstance } from './instance-why.ts'
import { RecordBytes } from './record-bytes.ts'
import { type RevisionSurroundings, timeoutAt, toRevision } from './revision.ts'
import { type FleetTally, tallyRecords } from './tally.ts'
import { summariseTopology } from './topology.ts'
import { findTrouble } from './trouble.ts'
import { CLEARABLE, type SteadyRecord, toWorkloadRecord } from './workload.ts'

/** What the views are made from. */
export interface FleetViewsParts {
  fleet: Fleet
  counters: FleetCounters
  clock: Clock
  matches: EffectiveMatches
  /** Says in safe words what an agent's raw error text means. */
  classifyError: ClassifyError
  /** The version below which an agent is outdated; '' when none is recommended. */
  recommendedVersion: { readonly version: string }
  /** Something was learnt of a workload that its record says and that nobody said: browsers are to be told. */
  learnt: (workload: Workload) => void
  /** How long a disconnected workload stays in the inventory. */
  retentionMs: number
}

const ALL: TextAccess = { withTexts: true }
const NO_TEXTS: TextAccess = { withTexts: false }

/** How long the numbers of a fleet in which nothing happens are kept: a push that comes to its limit is no change. */
const TALLY_MS = 2_000

/** Instances that are looked at in one turn of the event loop before texts are compared. */
const COMPARED_IN_A_TURN = 500

interface Entry {
  record: SteadyRecord
  /** The record's JSON; made when a list asks for it. */
  bytes: RecordBytes | null
  /** Wall-clock time in ms from which on the record reads differently though nothing happened. */
  freshUntilMs: number
}

/** The fleet as the wire shows it. Records are kept until a notice says that they changed. */
export class FleetViews {
  readonly #parts: FleetViewsParts
  readonly #withTexts = new WeakMap<Workload, Entry>()
  readonly #withoutTexts = new WeakMap<Workload, Entry>()
  /** Workloads that changed since somebody looked whether what their instances report is what they are to run. */
  readonly #unlooked = new Set<Workload>()
  /** Counts what was invalidated: while it stands still, the numbers of the fleet do too. */
  #changes = 0
  #kept: { changes: number; untilMs: number; tally: Promise<FleetTally> } | null = null

  constructor(parts: FleetViewsParts) {
    this.#parts = parts
  }

  /** Something that the workload's record is made of has changed. */
  invalidate(workload: Workload): void {
    this.#withTexts.delete(workload)
    this.#withoutTexts.delete(workload)
    this.#unlooked.add(workload)
    this.#changes++
  }

  /**
   * Compare what instances report with what they applied, of workloads that changed since: what differs is told then.
   * Each pair of texts is compared once, so many in one call; the others wait for the next. Returns whether
   * it took as many as one call may: there may be more.
   */
  async compareChanged(): Promise<boolean> {
    const { clock, matches } = this.#parts
    const pace = new Pace({ size: COMPARED_IN_A_TURN, clock })
    const looked: Workload[] = []
    const asked: Instance[] = []
    for (const workload of this.#unlooked) {
      if (asked.length >= PAIRS_MAX) break
      this.#unlooked.delete(workload)
      const rest = pace.beat(Math.max(1, workload.live.count))
      if (rest !== null) await rest
      if (workload.isDeleted) continue
      looked.push(workload)
      for (const instance of this.#uncompared(workload)) {
        if (asked.length >= PAIRS_MAX) break
        asked.push(instance)
      }
    }
    await matches.prepare(asked, assignmentOf)
    for (const workload of looked) {
      const rest = pace.beat(Math.max(1, workload.live.count))
      if (rest !== null) await rest
      if (workload.isDeleted) continue
      this.#noteAltered(workload)
      // Those whose texts are not stored yet, and those for which there was no room.
      if (this.#uncompared(workload).next().done !== true) this.#unlooked.add(workload)
      if (this.#isStale(workload)) this.#parts.learnt(workload)
    }
    return asked.length >= PAIRS_MAX
  }

  /** Note which instances were changed on their hosts, and which were put right, as far as that is known. */
  #noteAltered(workload: Workload): void {
    const { fleet, matches } = this.#parts
    for (const instance of workload.live.instances()) {
      const applied = appliedBy(instance)
      if (applied === null || !matches.isKnown(instance, applied)) continue
      fleet.altered.note(instance, this.#differs(instance, applied))
    }
  }

  /** Whether a record was made before it was known how many instances were altered, and since when. */
  #isStale(workload: Workload): boolean {
    const entry = this.#withoutTexts.get(workload) ?? this.#withTexts.get(workload)
    if (entry === undefined || workload.isDeleted) return false
    const { altered, alteredSince } = findDrifted(this.#parts.fleet, workload, this.#differs)
    const { altered_instance_count: told = 0, altered_since: since } = entry.record
    return altered !== told || alteredSince?.toISOString() !== since
  }

  /** Instances that applied their config and of which nobody knows whether what they report is that; one of each text. */
  *#uncompared(workload: Workload): Generator<Instance, void> {
    const seen = new Set<string>()
    for (const instance of workload.live.instances()) {
      const applied = appliedBy(instance)
      if (applied === null || seen.has(instance.reportedConfigHash)) continue
      seen.add(instance.reportedConfigHash)
      if (!this.#parts.matches.isKnown(instance, applied)) yield instance
    }
  }

  readonly #differs: Differs = (instance, assigned) =>
    this.#parts.matches.get(instance, assigned).matches === false

  /** The numbers of the whole fleet. All who ask between two changes share one count. */
  tally(): Promise<FleetTally> {
    const { clock, fleet } = this.#parts
    const nowMs = clock.monotonicMs()
    const kept = this.#kept
    if (kept !== null && kept.changes === this.#changes && nowMs < kept.untilMs) return kept.tally
    const tally = tallyRecords(this.#records(fleet.state.workloads.values()), clock)
    this.#kept = { changes: this.#changes, untilMs: nowMs + TALLY_MS, tally }
    // What failed is not kept.
    tally.catch(() => {
      this.#kept = null
    })
    return tally
  }

  *#records(workloads: Iterable<Workload>): Generator<SteadyRecord, void> {
    for (const workload of workloads) {
      if (workload.isDeleted) continue
      const { record } = this.#entry(workload, NO_TEXTS)
      // By the whole of a reason those that share it are counted together; nothing of it is in the numbers.
      yield record.trouble?.is_abridged ? this.#entry(workload, ALL).record : record
    }
  }

  /** The full record, with the newest push. */
  workload(workload: Workload, texts: TextAccess): WorkloadRecord {
    return { ...this.#entry(workload, texts).record, last_seen_at: workload.lastSeenAt.toISOString() }
  }

  /** The full record as JSON. The bytes are the views' own and change: copy them. */
  workloadBytes(workload: Workload, texts: TextAccess): Buffer {
    const entry = this.#entry(workload, texts)
    entry.bytes ??= new RecordBytes(entry.record, workload.lastSeenAt)
    return entry.bytes.at(workload.lastSeenAt)
  }

  /**
   * The frame that tells browsers of a workload. Its push is inside its config status, where clients of the API look
   * for it, and a field that may be absent from the record is null here.
   */
  workloadFrame(workload: Workload): HubFrame {
    const { current_config_push: push, ...record } = this.workload(workload, NO_TEXTS)
    const status = record.remote_config_status
    if (status !== undefined && push !== undefined)
      record.remote_config_status = { ...status, push_status: push }
    const cleared = Object.fromEntries(CLEARABLE.map((key) => [key, record[key] ?? null]))
    return {
      type: 'workload_update',
      workload: { ...record, ...cleared } as WorkloadUpdate['workload'],
      connected_instance_count: record.connected_instance_count,
      drifted_instance_count: record.drifted_instance_count,
    }
  }

  /** The frame that tells browsers what one instance reported, with the state of the newest push. */
  configStatusFrame(workload: Workload, report: RemoteConfigReport): HubFrame {
    const push = workload.newestPush
    return {
      type: 'workload_config_status',
      workload_id: workload.id,
      status: {
        ...toRemoteConfigStatus(report, NO_TEXTS),
        ...(push === null ? {} : { push_status: this.newestRevision(workload, push, NO_TEXTS) }),
      },
    }
  }

  #entry(workload: Workload, texts: TextAccess): Entry {
    const kept = texts.withTexts ? this.#withTexts : this.#withoutTexts
    const now = this.#parts.clock.now()
    const known = kept.get(workload)
    if (known !== undefined && now.getTime() < known.freshUntilMs) return known
    const push = workload.newestPush
    const entry: Entry = {
      record: this.#record(workload, texts),
      bytes: null,
      freshUntilMs: freshUntilMs(push, now),
    }
    kept.set(workload, entry)
    return entry
  }

  #record(workload: Workload, texts: TextAccess): SteadyRecord {
    const { clock, counters, fleet, recommendedVersion, retentionMs } = this.#parts
    const isOutdated = isVersionOutdated(workload.version, recommendedVersion.version)
    const drifted = findDrifted(fleet, workload, this.#differs)
    const times = { nowMs: fleet.clock.heardMs(), now: clock.now() }
    return toWorkloadRecord(
      workload,
      {
        driftedCount: drifted.count,
        alteredCount: drifted.altered,
        alteredSince: drifted.alteredSince,
        openAlerts: counters.openAlerts(workload.id),
        waitingApprovals: counters.waitingApprovals(workload.id),
        isVersionOutdated: isOutdated,
        trouble: findTrouble(workload, { drifted, isVersionOutdated: isOutdated, ...times }, texts),
        retentionMs,
        push: workload.newestPush === null ? null : this.newestRevision(workload, workload.newestPush, texts),
      },
      texts,
    )
  }

  /** A push that the fleet holds in memory, with its failures. */
  newestRevision(workload: Workload, push: Push, texts: TextAccess): RevisionRecord {
    const followed = knownPushes(workload).find((one) => one.push.pushId === push.pushId)
    const hasFailures = followed !== undefined && followed.failedCount > 0
    const groups = hasFailures ? groupErrors(followed.targets.values()) : []
    // No answer: a push that took this one back would be newer.
    const about = { groups, isPrevious: false, isNewestOfHash: true, rollout: null, answer: null }
    return this.revision(workload, push, about, texts)
  }

  /** A push with what is known around it; `answer` is the push that took it back. */
  revision(
    workload: Workload,
    push: Push,
    about: Pick<RevisionSurroundings, 'groups' | 'isPrevious' | 'rollout'> & {
      isNewestOfHash: boolean
      answer: Push | null
    },
    texts: TextAccess,
  ): RevisionRecord {
    const { counters, clock } = this.#parts
    const rollout = workload.rollout?.stored ?? null
    return toRevision(
      push,
      {
        ...about,
        label: counters.label(workload.id, push.hash),
        isCurrent: about.isNewestOfHash && workload.activeHash === push.hash,
        isLastKnownGood: workload.knownGoodHash === push.hash,
        rollout: rollout?.pushId === push.pushId ? rollout : about.rollout,
        aftermath: this.aftermath(workload, push, about.answer),
        now: clock.now(),
      },
      texts,
    )
  }

  /** What was done about a failed push, or by the automatic rollback that this is; null for any other. */
  aftermath(workload: Workload, push: Push, answer: Push | null): PushAftermath | null {
    return aftermathOf(workload, push, answer)
  }

  /** In how many ms a push reads differently though nothing happens (its timeout is reached); null when it will not. */
  staleInMs(push: Push): number | null {
    const now = this.#parts.clock.now()
    const untilMs = freshUntilMs(push, now)
    return untilMs === Number.POSITIVE_INFINITY ? null : untilMs - now.getTime()
  }

  /** The frame that tells browsers how a push goes. */
  pushFrame(workload: Workload, push: Push): HubFrame {
    return {
      type: 'push_update',
      workload_id: workload.id,
      push: this.newestRevision(workload, push, NO_TEXTS),
    }
  }

  /** The live instances of a workload, in their order; each record is made when the iterator reaches it. */
  async instances(workload: Workload, texts: TextAccess): Promise<Iterable<LiveInstance>> {
    const { fleet, matches } = this.#parts
    await matches.prepare([...workload.live.instances()], assignmentOf)
    return this.#toWire(fleet.liveInstances(workload), texts)
  }

  *#toWire(live: readonly Instance[], texts: TextAccess): Generator<LiveInstance, void> {
    for (const instance of live) yield this.#instance(instance, texts)
  }

  #instance(instance: Instance, texts: TextAccess): LiveInstance {
    const assigned = assignmentOf(instance)
    const about = {
      assignedHash: assigned?.push.hash ?? null,
      match: this.#parts.matches.get(instance, assigned),
      alteredSince: this.#parts.fleet.state.altered.get(instance.uid) ?? null,
      fault: whyInstance(instance, assigned, texts, this.#parts.clock.now()),
      isUnwell: isDegradingNow(instance, this.#parts.fleet.clock.heardMs()),
    }
    return toLiveInstance(instance, about, texts)
  }

  /** One live instance in full; null when it is not among the live ones of this workload. */
  async instance(workload: Workload, uid: string, texts: TextAccess): Promise<InstanceDetail | null> {
    const { fleet, matches, classifyError } = this.#parts
    const instance = fleet.liveInstances(workload).find((candidate) => candidate.uid === uid)
    if (instance === undefined) return null
    await matches.prepare([instance], assignmentOf)
    return toInstanceDetail(instance, this.#instance(instance, texts), classifyError, texts)
  }

  /** The instances of a workload with what they have in common. */
  async topology(
    workload: Workload,
    texts: TextAccess,
  ): Promise<Omit<WorkloadTopology, 'instances'> & { instances: Iterable<LiveInstance> }> {
    const instances = await this.instances(workload, texts)
    const live = [...workload.live.instances()]
    return {
      schema_version: 'workload-topology.v1',
      workload_id: workload.id,
      instances,
      summary: summariseTopology(live, {
        drifted: countDrifted(this.#parts.fleet, workload),
        unwell: listDegrading(workload, this.#parts.fleet.clock.heardMs()).length,
      }),
    }
  }
}

/** Whether a reader may see the texts of agents. */
export const sightOf = (permissions: { has(permission: 'config:read_content'): boolean }): TextAccess =>
  permissions.has('config:read_content') ? ALL : NO_TEXTS

function freshUntilMs(push: Push | null, now: Date): number {
  const limit = push === null ? null : timeoutAt(push)
  return limit === null || limit <= now ? Number.POSITIVE_INFINITY : limit.getTime()
}
