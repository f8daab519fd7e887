import type { CampaignRun } from './run.ts'

/** Targets that are started, or taken back, in one step at most. */
export const BATCH = 50
/** How long a target waits for a workload that is busy with something else. */
export const BUSY_ENDS_MS = 10 * 60_000
const BUSY_LOOK_MS = 2_000
/** How often the config workers try to read a text over which they took too long, and after how long they try again. */
export const READS_MAX = 3
const READ_AGAIN_MS = 60_000
/** A busy workload that was due to be looked at for longer than this was not looked at for a reason of its own. */
const UNSEEN_MS = 15 * 60_000

interface Candidate {
  workloadId: string
  instanceCount: number
}

/**
 * How many more instances may be changed now; 0 or less when enough are being changed already. The workloads in `but` do
 * not count.
 */
export function roomIn(
  { inFlight }: Pick<CampaignRun, 'inFlight'>,
  maxInFlight: number,
  but: ReadonlySet<string> = new Set(),
): number {
  let room = maxInFlight
  for (const [workloadId, { instances }] of inFlight) if (!but.has(workloadId)) room -= instances
  return room
}

/** The instances that a target counts for; one without any counts as one. */
export const instancesOf = ({ instanceCount }: Candidate): number => Math.max(1, instanceCount)

/**
 * Choose the targets that are next, in the order of the campaign, while there is room for their instances: the last one
 * may need more than what is left. Workloads that were busy a moment ago are passed over.
 */
export function chooseNext<T extends Candidate>(
  listed: readonly T[],
  { busy }: Pick<CampaignRun, 'busy'>,
  { room, nowMs }: { room: number; nowMs: number },
): T[] {
  const chosen: T[] = []
  let left = room
  for (const target of listed) {
    if (left <= 0 || chosen.length === BATCH) break
    if (nowMs < (busy.get(target.workloadId)?.nextLookMs ?? 0)) continue
    chosen.push(target)
    left -= instancesOf(target)
  }
  return chosen
}

/** Remember since when a workload is busy, and leave it alone for a moment. */
export function noteBusy(run: Pick<CampaignRun, 'busy'>, workloadId: string, nowMs: number): void {
  const sinceMs = busySince(run, workloadId, nowMs)
  run.busy.set(workloadId, { ...run.busy.get(workloadId), sinceMs, nextLookMs: nowMs + BUSY_LOOK_MS })
}

/** Leave a workload alone whose text the workers gave up; answers how often they did. The machine may have been slow. */
export function noteGivenUp(run: Pick<CampaignRun, 'busy'>, workloadId: string, nowMs: number): number {
  const givenUp = (run.busy.get(workloadId)?.givenUp ?? 0) + 1
  run.busy.set(workloadId, { sinceMs: nowMs, nextLookMs: nowMs + READ_AGAIN_MS, givenUp })
  return givenUp
}

/** Leave a workload alone for a moment of which nothing is known now. It is waited for however long that takes. */
export function noteUnknown({ busy }: Pick<CampaignRun, 'busy'>, workloadId: string, nowMs: number): void {
  busy.set(workloadId, { sinceMs: nowMs, nextLookMs: nowMs + BUSY_LOOK_MS })
}

/** Since when a workload is busy. While nobody looks, as between two windows, the time does not count. */
function busySince({ busy }: Pick<CampaignRun, 'busy'>, workloadId: string, nowMs: number): number {
  const known = busy.get(workloadId)
  if (known === undefined) return nowMs
  const unseenMs = nowMs - known.nextLookMs
  return unseenMs > UNSEEN_MS ? known.sinceMs + unseenMs : known.sinceMs
}

/** Whether a workload has been busy for longer than it is waited for. */
export const isBusyTooLong = (run: Pick<CampaignRun, 'busy'>, workloadId: string, nowMs: number): boolean =>
  nowMs - busySince(run, workloadId, nowMs) > BUSY_ENDS_MS
