import type { Clock } from '../../clock.ts'
import { Lately } from './lately.ts'

/** Which sign-ins with the provider have had their callback: each has one, whatever came of it. */
export interface EndedFlows {
  /** Whether this is the first callback of the flow with this state. */
  end(state: string): boolean
}

/** Flows that have ended with their cookies still valid; when there are more, the one that ended first is forgotten. */
export const ENDED_FLOWS_MAX = 10_000

/** Nothing has ended yet. A flow is remembered for `lifetimeMs`, after which its cookie is not valid any more. */
export function openEndedFlows(clock: Clock, lifetimeMs: number): EndedFlows {
  const ended = new Lately(clock, { lifetimeMs, most: ENDED_FLOWS_MAX })
  return { end: (state) => ended.note(state) }
}
