import type { Flaw } from './service/sim-service.ts'

/** As `CAMPAIGN_FLAWS`, of worlds in which campaigns go through some workloads in stages. */
export const STAGED_FLAWS: Readonly<Record<string, { flaw: Flaw; says: RegExp; first?: number }>> = {
  'goes through no workload in stages': {
    flaw: { ground: (ground) => ({ ...ground, stagedAbove: 1_000 }) },
    says: /pushes to all \d+ instances of \S+ at once/,
  },
}
