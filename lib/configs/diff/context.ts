import type { FleetPeer } from '../check/target.ts'

/** Two texts to compare, and whom the change concerns. */
export interface DiffInput {
  baseText: string
  targetText: string
  /** The workload that is to get the target config; null when nobody named one. */
  workload: FleetPeer | null
  /** The other workloads, among which the blast radius finds the neighbours. */
  peers: readonly FleetPeer[]
}

/** A `DiffInput` whose peers are JSON, as `ConfigTargets.neighbours` gives them. */
export interface DiffTextInput extends Omit<DiffInput, 'peers'> {
  peersText: string
}
