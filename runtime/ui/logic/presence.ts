import type { Presence } from '../../../lib/model/presence.ts'
import type { Tone } from './diagnosis.ts'

/** How each state of a workload looks, wherever it is shown or counted: its colour, and its shape for whoever sees none. */
export const PRESENCE_LOOK = {
  connected: ['ok', 'full'],
  degraded: ['warn', 'half'],
  all_unhealthy: ['bad', 'cross'],
  disconnected: ['bad', 'ring'],
  leaving: ['warn', 'ring'],
} as const satisfies Record<Presence | 'all_unhealthy', readonly [Tone, string]>

/** States that can be counted. */
export type CountedState = keyof typeof PRESENCE_LOOK
/** In the order in which they are counted. */
export const COUNTED_STATES = Object.keys(PRESENCE_LOOK) as CountedState[]

/** What is named only while there is something to count. */
export const isRare = (state: string): boolean => state === 'all_unhealthy' || state === 'leaving'
