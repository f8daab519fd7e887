import type { CampaignRun } from './run.ts'

/** Targets that are looked at in one step. */
export const BATCH = 50
/** A workload that is busy with something else is waited for as long. */
export const BUSY_ENDS_MS = 10 * 60_000
const BUSY_LOOK_MS = 2_000

interface Candidate {
  workloadId: string
  instanceCount: number
}

/** Instances that may be changed beside those that are being changed now. */
export function roomIn({ inFlight }: Pick<CampaignRun, 'inFlight'>, maxInFlight: number): number {
  let room = maxInFlight
  for (const { instances } of inFlight.values()) room -= instances
  return room
}

/** The instances that a target counts for; one without any counts as one. */
export const instancesOf = ({ instanceCount }: Candidate): number => Math.max(1, instanceCount)

/**
 * Whose turn is next, in the campaign's order, as long as there is room: the last one may be larger than what is left
 * of it. Who was busy a moment ago is passed over.
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

/** Look at a workload again in a moment, and remember since when it is busy. */
export function noteBusy({ busy }: Pick<CampaignRun, 'busy'>, workloadId: string, nowMs: number): void {
  const sinceMs = busy.get(workloadId)?.sinceMs ?? nowMs
  busy.set(workloadId, { sinceMs, nextLookMs: nowMs + BUSY_LOOK_MS })
}

/** Whether a workload has been busy for longer than it is waited for. */
export const isBusyTooLong = (
  { busy }: Pick<CampaignRun, 'busy'>,
  workloadId: string,
  nowMs: number,
): boolean => nowMs - (busy.get(workloadId)?.sinceMs ?? nowMs) > BUSY_ENDS_MS
