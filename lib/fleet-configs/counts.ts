/** How many workloads are under a fleet config, and how many of these need somebody. */
export interface ConfigCounts {
  under: number
  /** Those that another fleet config selects with the same priority. */
  conflicts: number
  /** Those that campaigns leave alone. */
  held: number
}

/** The counts of a fleet config that no workload is under. */
export const NO_COUNTS: ConfigCounts = { under: 0, conflicts: 0, held: 0 }
