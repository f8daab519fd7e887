import type { FleetPeer } from '../check/target.ts'

/** Two texts to compare, and whom the change concerns. */
export interface DiffInput {
  baseText: string
  targetText: string
  /** The workload that is to get the target config; null when nobody named one. */
  workload: FleetPeer | null
  /** The rest of the fleet. */
  peers: readonly FleetPeer[]
}

/** The same with the rest of the fleet as JSON. */
export interface DiffTextInput extends Omit<DiffInput, 'peers'> {
  peersText: string
}
