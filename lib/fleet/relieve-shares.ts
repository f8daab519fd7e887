import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { eachInTurns } from '../turns.ts'
import type { Workload } from './state/model.ts'
import type { FleetState } from './state/state.ts'

/** Parts of a share: above the first it is relieved, down to the second. */
const CROWDED = 0.9
const ROOMY = 0.8
/** Workloads that are gone leave a share without being removed while the room for all is filled to less than this. */
const FILLED = 0.5
const LOOK_CHUNK = 1_000

export interface ReliefParts {
  state: Pick<FleetState, 'byConnection' | 'kept' | 'workloads'>
  clock: Pick<Clock, 'monotonicMs'>
  log: Log
  /** Bytes that may be kept in all, and because of what was said on one WebSocket. */
  keptBytesMax: number
  perConnectionMax: number
  /** Remove those of these workloads that nobody did anything with, the first ones first, until so many bytes are free. */
  remove(gone: readonly Workload[], bytes: number): Promise<number>
}

const byTimeAway = (a: Workload, b: Workload) =>
  (a.disconnectedAt?.getTime() ?? 0) - (b.disconnectedAt?.getTime() ?? 0)

/**
 * Relieve the shares of WebSockets that are nearly full of what is no longer there because of them: a gateway carries
 * agents for weeks, and each of them may make a workload of its own. What is live on another WebSocket goes to the share
 * of that. What is gone leaves the share, those that were away for longest first, as long as the room for all is not half
 * full: a connection that fills its share again and again with what it leaves behind does not fill the room by that.
 * Beyond that, only what is removed makes room. Returns how many were removed.
 */
export async function relieveShares(parts: ReliefParts, signal: AbortSignal): Promise<number> {
  const { state, log, perConnectionMax } = parts
  let removed = 0
  for (const connectionId of state.kept.sharesAbove(perConnectionMax * CROWDED)) {
    if (signal.aborted) break
    const held = state.kept.shareOf(connectionId)
    const displaced = await relieve(parts, connectionId)
    removed += displaced
    log.warn(
      { bytes: held, most: perConnectionMax, removed: displaced },
      'what agents on one connection say nearly takes its share: what is no longer there was taken from it',
    )
  }
  return removed
}

async function relieve(parts: ReliefParts, connectionId: number): Promise<number> {
  const { state, clock, keptBytesMax, perConnectionMax } = parts
  const { kept } = state
  const excess = () => kept.shareOf(connectionId) - perConnectionMax * ROOMY
  const isOn = (workload: Workload) => kept.shareWith(workload) === connectionId
  const gone: Workload[] = []
  const carried = new Set([...(state.byConnection.get(connectionId) ?? [])].map(({ workload }) => workload))
  await eachInTurns(state.workloads.values(), { size: LOOK_CHUNK, clock }, (workload) => {
    if (!isOn(workload) || carried.has(workload)) return
    if (workload.live.count > 0) kept.giveElsewhere(workload, perConnectionMax * CROWDED)
    else if (workload.status === 'disconnected') gone.push(workload)
  })
  gone.sort(byTimeAway)
  let room = keptBytesMax * FILLED - kept.total
  for (const workload of gone) {
    if (excess() <= 0 || room <= 0) break
    if (!isOn(workload) || workload.live.count > 0) continue
    room -= kept.bytesOf(workload)
    kept.leaveShare(workload)
  }
  return excess() <= 0 ? 0 : parts.remove(gone.filter(isOn), excess())
}
