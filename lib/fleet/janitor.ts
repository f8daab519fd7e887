import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { AGENT_HOMES, forgetAgentHomes } from '../store/agents.ts'
import { trimAlerts } from '../store/alerts.ts'
import { forgetOldDrafts } from '../store/approval-drafts.ts'
import { listComparedReports } from '../store/campaign-targets.ts'
import { removeUnusedContents } from '../store/config-contents.ts'
import { CommitInDoubt, type Database, DatabaseUnavailable, type Db } from '../store/db.ts'
import {
  listMissingReportedConfigs,
  REPORTED_CONFIGS,
  removeReportedConfigs,
} from '../store/reported-configs.ts'
import { trimRuleReviews } from '../store/reviews.ts'
import { findAgeOfSeen, listUnseen, touchSeen } from '../store/seen-rows.ts'
import { findAgeOfEvents, trimEvents } from '../store/workload-events.ts'
import { deleteIfArchived, deleteIfUntouched } from '../store/workloads.ts'
import { inTurns } from '../turns.ts'
import type { Fleet } from './fleet.ts'
import { relieveShares } from './relieve-shares.ts'
import { AGENT_LIMITS, HOMES_MAX } from './state/agent-limits.ts'
import type { Workload } from './state/model.ts'

const DAY_MS = 86_400_000
/** Rows removed in one statement: a long one would hold what others wait for. */
const TRIM_CHUNK = 10_000
/** Rows read together, and workloads or instances looked at in one turn of the event loop. */
export const LOOK_CHUNK = 1_000
/** How long the text of a reported config is kept that no instance runs any more. */
const REPORTED_KEPT_MS = DAY_MS
/** How many of these texts are kept at most. */
export const REPORTED_SPARE_MAX = 10_000
/** How long the text of a config is kept at least, also where nothing names it. */
const CONTENTS_KEPT_DAYS = 1
/** How many events are kept at most, of all workloads together: a gigabyte. */
const EVENTS_MAX = 5_000_000
/** How long reviews of label rules are kept, looked at or not: what they did is over after a day. */
const RULE_REVIEWS_KEPT_DAYS = 90
/** How long the draft of a request is kept that ended and that nobody approved. */
const DRAFTS_KEPT_DAYS = 90
/** Shares of `workloadsMax` and `keptBytesMax`: above the first, workloads are removed to make room, down to the second. */
const CROWDED = 0.9
const ROOMY = 0.8
/** For how long a workload must have been away before it is removed to make room. */
const UNTOUCHED_KEPT_MS = DAY_MS

/** What the janitor works with. */
export interface JanitorParts {
  /** The owner's database: it refuses to write once another process has become the owner. */
  db: Database
  clock: Clock
  log: Log
  fleet: Pick<
    Fleet,
    'archive' | 'discard' | 'doubtAgents' | 'forgetAgents' | 'state' | 'textsMissing' | 'textsRemoved'
  >
  /** Days after which a disconnected workload is archived, and an archived one removed. */
  retentionDays: number
  archiveDays: number
  eventRetentionDays: number
  alertRetentionDays: number
  /** How many workloads the process may hold. */
  workloadsMax: number
  /** Bytes that may be kept of what agents say of themselves; `AGENT_LIMITS` when absent. */
  keptBytesMax?: number
  /** Those that may be kept because of what was said on one WebSocket; `AGENT_LIMITS` when absent. */
  keptBytesPerConnectionMax?: number
  /** Of how many agents the workload is remembered; `HOMES_MAX` when absent. */
  homesMax?: number
  /** How many events are kept; `EVENTS_MAX` when absent. */
  eventsMax?: number
}

/** What one sweep did. */
export interface SweepResult {
  archived: number
  /** Workloads that had been archived for longer than `archiveDays`. */
  deleted: number
  /** Workloads that were removed to make room for others. */
  displaced: number
  trimmedEvents: number
  trimmedAlerts: number
  trimmedReviews: number
  /** Texts of configs that no push, workload or known-good names any more. */
  removedConfigs: number
}

const daysAgo = ({ clock }: JanitorParts, days: number) => new Date(clock.now().getTime() - days * DAY_MS)

/** Write as the owner: once another process is the owner, this fails, as what this one knows may be out of date. */
const write = <T>({ db }: JanitorParts, work: (tx: Db) => Promise<T>): Promise<T> =>
  db.transaction('janitor.trim', work)

/** The disconnected workloads that fit, looked for in turns of the event loop. */
async function absentWorkloads(
  { fleet }: JanitorParts,
  fits: (workload: Workload) => boolean,
): Promise<Workload[]> {
  const found: Workload[] = []
  for await (const piece of inTurns(fleet.state.workloads.values(), LOOK_CHUNK))
    for (const workload of piece)
      if (workload.status === 'disconnected' && workload.live.count === 0 && fits(workload))
        found.push(workload)
  return found
}

/** Do something to each of these workloads; a failure for one does not stop the others. Returns how many were done. */
async function withEach(
  { log }: JanitorParts,
  workloads: readonly Workload[],
  signal: AbortSignal,
  work: (workload: Workload) => Promise<boolean>,
): Promise<number> {
  let done = 0
  for (const workload of workloads) {
    if (signal.aborted) break
    try {
      if (await work(workload)) done++
    } catch (error) {
      // Without the database nothing else will work either.
      if (error instanceof DatabaseUnavailable) throw error
      log.error({ err: error, workload_id: workload.id }, 'the janitor could not deal with a workload')
    }
  }
  return done
}

/** Archive the workloads that have been disconnected for longer than they are kept; never a live one. */
async function archiveExpired(parts: JanitorParts, signal: AbortSignal): Promise<number> {
  const { fleet } = parts
  const before = daysAgo(parts, parts.retentionDays)
  const expired = await absentWorkloads(
    parts,
    ({ archivedAt, disconnectedAt }) =>
      archivedAt === null && disconnectedAt !== null && disconnectedAt < before,
  )
  return withEach(parts, expired, signal, async ({ id }) => {
    // `archive` checks again in the workload's turn and in its statement: an instance may come back at any time.
    const outcome = await fleet.archive(id, null, async () => {})
    return outcome.ok
  })
}

/** Remove the workloads that have been in the archive for longer than they are kept there, with their history. */
async function deleteExpired(parts: JanitorParts, signal: AbortSignal): Promise<number> {
  const before = daysAgo(parts, parts.archiveDays)
  const expired = await absentWorkloads(parts, ({ archivedAt }) => archivedAt !== null && archivedAt < before)
  return removeEach(parts, expired, signal, ({ id }) =>
    parts.fleet.discard(id, (tx) => deleteIfArchived(tx, id, before)),
  )
}

/** Remove workloads, then forget their agents in a single pass, for there may be thousands of workloads. */
async function removeEach(
  parts: JanitorParts,
  workloads: readonly Workload[],
  signal: AbortSignal,
  remove: (workload: Workload) => Promise<boolean>,
): Promise<number> {
  const gone = new Set<string>()
  try {
    return await withEach(parts, workloads, signal, async (workload) => {
      if (!(await remove(workload))) return false
      gone.add(workload.id)
      return true
    })
  } finally {
    if (gone.size > 0) await forgetHomesOf(parts, gone)
  }
}

async function forgetHomesOf({ fleet }: JanitorParts, gone: ReadonlySet<string>): Promise<void> {
  for await (const piece of inTurns(fleet.state.homes, LOOK_CHUNK)) {
    const lost = piece.filter(([, workloadId]) => gone.has(workloadId))
    fleet.forgetAgents(lost.map(([instanceUid, workloadId]) => ({ instanceUid, workloadId })))
  }
}

/** How many workloads have to go, or how many bytes, whichever are more; null while there is room. */
function lackOfRoom({ fleet, workloadsMax, keptBytesMax = AGENT_LIMITS.keptBytes }: JanitorParts) {
  const { workloads, kept } = fleet.state
  const isCrowded = workloads.size > workloadsMax * CROWDED
  const isFull = kept.total > keptBytesMax * CROWDED
  if (!isCrowded && !isFull) return null
  return {
    count: isCrowded ? workloads.size - Math.floor(workloadsMax * ROOMY) : 0,
    bytes: isFull ? kept.total - keptBytesMax * ROOMY : 0,
  }
}

/** The first of these that make so much room together. */
function firstToGo(
  { fleet }: JanitorParts,
  spare: readonly Workload[],
  lack: { count: number; bytes: number },
): Workload[] {
  let bytes = 0
  const end = spare.findIndex((workload, at) => {
    if (at >= lack.count && bytes >= lack.bytes) return true
    bytes += fleet.state.kept.bytesOf(workload)
    return false
  })
  return spare.slice(0, end < 0 ? spare.length : end)
}

/** Whether a workload has been away for a day, and nobody did anything with it, as far as is known here. */
function isSpare({ clock }: JanitorParts): (workload: Workload) => boolean {
  const before = new Date(clock.now().getTime() - UNTOUCHED_KEPT_MS)
  return ({ disconnectedAt, pushSeq, handLabels, knownGoodHash }) =>
    disconnectedAt !== null &&
    disconnectedAt < before &&
    pushSeq === 0 &&
    knownGoodHash === null &&
    Object.keys(handLabels).length === 0
}

/**
 * Remove workloads when there are nearly as many as may be, or nearly as much is kept of them. Where each agent makes a workload of its own (a host name
 * that is a pod's name), those that are gone would fill the process long before they are archived, and live ones would
 * be refused. Only workloads that nobody did anything with go (`deleteIfUntouched` says what counts), the longest away
 * first.
 */
async function makeRoom(parts: JanitorParts, signal: AbortSignal): Promise<number> {
  const { fleet, log, workloadsMax } = parts
  const lack = lackOfRoom(parts)
  if (lack === null) return 0
  const { kept, workloads } = fleet.state
  const held = { workloads: workloads.size, bytes: kept.total }
  const spare = await absentWorkloads(parts, isSpare(parts))
  spare.sort((a, b) => a.disconnectedAt!.getTime() - b.disconnectedAt!.getTime())
  const wanted = firstToGo(parts, spare, lack)
  const displaced = await displace(parts, wanted, signal)
  log.warn(
    { ...held, most: workloadsMax, removed: displaced },
    'there are nearly as many workloads as may be, or they take nearly as much: those that were away for longest were removed',
  )
  return displaced
}

const displace = (parts: JanitorParts, workloads: readonly Workload[], signal: AbortSignal) =>
  removeEach(parts, workloads, signal, ({ id }) => parts.fleet.discard(id, (tx) => deleteIfUntouched(tx, id)))

/** Make room on the shares of WebSockets that are nearly full; answers how many workloads had to go for it. */
function makeRoomOnShares(parts: JanitorParts, signal: AbortSignal): Promise<number> {
  const { clock, fleet, log, keptBytesMax = AGENT_LIMITS.keptBytes } = parts
  const { keptBytesPerConnectionMax = AGENT_LIMITS.keptBytesPerConnection } = parts
  const most = { keptBytesMax, perConnectionMax: keptBytesPerConnectionMax }
  const remove = (gone: readonly Workload[], bytes: number) => {
    const spare = gone.filter(isSpare(parts))
    return displace(parts, firstToGo(parts, spare, { count: 0, bytes }), signal)
  }
  return relieveShares({ state: fleet.state, clock, log, ...most, remove }, signal)
}

/** Remove rows a chunk at a time until none is left. */
async function trim(
  parts: JanitorParts,
  signal: AbortSignal,
  remove: (tx: Db, limit: number) => Promise<number>,
): Promise<number> {
  let trimmed = 0
  while (!signal.aborted) {
    const count = await write(parts, (tx) => remove(tx, TRIM_CHUNK))
    trimmed += count
    if (count < TRIM_CHUNK) break
  }
  return trimmed
}

const later = (a: Date, b: Date | null) => (b !== null && b > a ? b : a)

/** Forget agents that were not heard of for `retentionDays`, and those longest silent where there are too many. */
async function forgetOldHomes(parts: JanitorParts, signal: AbortSignal): Promise<void> {
  const { db, clock, fleet } = parts
  const tooMany = await findAgeOfSeen(db, AGENT_HOMES, parts.homesMax ?? HOMES_MAX)
  const before = later(daysAgo(parts, parts.retentionDays), tooMany)
  while (!signal.aborted) {
    const uids = await listUnseen(db, AGENT_HOMES, before, LOOK_CHUNK)
    if (uids.length === 0) return
    const here = uids.filter((uid) => fleet.state.instances.has(uid))
    if (here.length > 0) await write(parts, (tx) => touchSeen(tx, AGENT_HOMES, here, clock.now()))
    const away = uids.filter((uid) => !fleet.state.instances.has(uid))
    if (away.length === 0) continue
    try {
      fleet.forgetAgents(await write(parts, (tx) => forgetAgentHomes(tx, away, before)))
    } catch (error) {
      if (error instanceof CommitInDoubt) fleet.doubtAgents(away)
      throw error
    }
  }
}

/** The hashes of the effective configs that agents run. */
async function listReported({ fleet }: JanitorParts): Promise<Set<string>> {
  const hashes = new Set<string>()
  for await (const piece of inTurns(fleet.state.instances.values(), LOOK_CHUNK))
    for (const { reportedConfigHash } of piece) hashes.add(reportedConfigHash)
  hashes.delete('')
  return hashes
}

async function sweepReported(parts: JanitorParts, signal: AbortSignal): Promise<void> {
  const { db, clock, fleet } = parts
  const inUse = await listReported(parts)
  // Whoever approves a plan is shown what its workloads lose, be they away by then.
  for (const hash of await listComparedReports(db)) inUse.add(hash)
  const tooMany = await findAgeOfSeen(db, REPORTED_CONFIGS, inUse.size + REPORTED_SPARE_MAX)
  const before = later(new Date(clock.now().getTime() - REPORTED_KEPT_MS), tooMany)
  while (!signal.aborted) {
    const hashes = await listUnseen(db, REPORTED_CONFIGS, before, LOOK_CHUNK)
    if (hashes.length === 0) return
    const run = hashes.filter((hash) => inUse.has(hash))
    if (run.length > 0) await write(parts, (tx) => touchSeen(tx, REPORTED_CONFIGS, run, clock.now()))
    const spare = hashes.filter((hash) => !inUse.has(hash))
    try {
      await write(parts, (tx) => removeReportedConfigs(tx, spare, before))
    } finally {
      // Also those that were kept, or of which it is not known: what is forgotten is stored again when it is reported.
      fleet.textsRemoved(spare)
    }
  }
}

/**
 * Have the texts of effective configs told again that agents run and that are not stored: the process that had read one
 * ended before it was stored, an agent went back to it while it was removed, or the database has lost it.
 */
async function askForMissing(parts: JanitorParts, signal: AbortSignal): Promise<void> {
  const missing = new Set<string>()
  for await (const hashes of inTurns(await listReported(parts), LOOK_CHUNK)) {
    if (signal.aborted) return
    for (const hash of await listMissingReportedConfigs(parts.db, hashes)) missing.add(hash)
  }
  if (missing.size > 0) await parts.fleet.textsMissing(missing)
}

/**
 * One round of the janitor: archive, remove what was kept for long enough, and forget what nothing refers to any more.
 * A step that fails is logged and does not keep the others from running; the next round does what this one could not.
 */
export async function sweep(parts: JanitorParts, signal: AbortSignal): Promise<SweepResult> {
  const result: SweepResult = {
    archived: 0,
    deleted: 0,
    displaced: 0,
    trimmedEvents: 0,
    trimmedAlerts: 0,
    trimmedReviews: 0,
    removedConfigs: 0,
  }
  const steps: Record<string, () => Promise<unknown>> = {
    archive: async () => (result.archived = await archiveExpired(parts, signal)),
    'delete-archived': async () => (result.deleted = await deleteExpired(parts, signal)),
    'make-room': async () => (result.displaced = await makeRoom(parts, signal)),
    'relieve-shares': async () => (result.displaced += await makeRoomOnShares(parts, signal)),
    'trim-events': async () => {
      const tooMany = await findAgeOfEvents(parts.db, parts.eventsMax ?? EVENTS_MAX)
      const before = later(daysAgo(parts, parts.eventRetentionDays), tooMany)
      result.trimmedEvents = await trim(parts, signal, (tx, limit) => trimEvents(tx, before, limit))
    },
    'trim-alerts': async () => {
      const before = daysAgo(parts, parts.alertRetentionDays)
      result.trimmedAlerts = await trim(parts, signal, (tx, limit) => trimAlerts(tx, before, limit))
    },
    'trim-reviews': async () =>
      (result.trimmedReviews = await trim(parts, signal, (tx, limit) =>
        trimRuleReviews(tx, RULE_REVIEWS_KEPT_DAYS, limit),
      )),
    'remove-configs': async () => {
      const before = daysAgo(parts, CONTENTS_KEPT_DAYS)
      result.removedConfigs = await trim(parts, signal, (tx, limit) =>
        removeUnusedContents(tx, before, limit),
      )
    },
    'forget-drafts': () => {
      const before = daysAgo(parts, DRAFTS_KEPT_DAYS)
      return trim(parts, signal, (tx) => forgetOldDrafts(tx, before, TRIM_CHUNK))
    },
    'forget-agents': () => forgetOldHomes(parts, signal),
    'sweep-reported-configs': () => sweepReported(parts, signal),
    'ask-for-missing-texts': () => askForMissing(parts, signal),
  }
  for (const [step, run] of Object.entries(steps)) {
    if (signal.aborted) break
    try {
      await run()
    } catch (error) {
      parts.log.error({ err: error, step }, 'janitor step did not finish')
    }
  }
  if (Object.values(result).some((count) => count > 0)) parts.log.info({ ...result }, 'janitor')
  return result
}
