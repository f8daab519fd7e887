/** How many workloads are under a fleet config, and how many of these need somebody. */
export interface ConfigCounts {
  under: number
  /** Those that another fleet config selects with the same priority. */
  conflicts: number
  /** Those that campaigns leave alone. */
  held: number
  /** By the ids of other fleet configs: the workloads that this one selects, too, and that are under those. */
  keptBy: ReadonlyMap<string, KeptCounts>
}

/** How many workloads another fleet config keeps, and how many of these because Git has brought its version there. */
export interface KeptCounts {
  all: number
  inGit: number
}

/** The counts of a fleet config that no workload is under. */
export const NO_COUNTS: ConfigCounts = { under: 0, conflicts: 0, held: 0, keptBy: new Map() }
