import type { WorkloadStatus } from '../wire/workloads.ts'

/** How a workload is shown and counted, here and nowhere else said: its status, or that its last instance left. */
export const PRESENCES = ['connected', 'degraded', 'disconnected', 'leaving'] as const
export type Presence = (typeof PRESENCES)[number]

/**
 * How a workload is shown and counted. One without a connected instance keeps its status until the grace of its last
 * instance ends; during that time it leaves, and is neither connected nor degraded.
 */
export const presenceOf = (status: WorkloadStatus, connectedCount: number): Presence =>
  status !== 'disconnected' && connectedCount === 0 ? 'leaving' : status

/** How many are how, of nothing. */
export const noPresences = (): Record<Presence, number> => ({
  connected: 0,
  degraded: 0,
  disconnected: 0,
  leaving: 0,
})
