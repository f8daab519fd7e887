import { WORKLOAD_TROUBLES } from '../wire/values.ts'
import type { WorkloadRecord, WorkloadTrouble } from '../wire/workloads.ts'

const RANKS = new Map<string, number>(WORKLOAD_TROUBLES.map((kind, at) => [kind, at]))

/** The rank of a workload's trouble: the worst has the lowest, no trouble the highest. */
export const troubleRank = ({ trouble }: Pick<WorkloadRecord, 'trouble'>): number =>
  trouble ? (RANKS.get(trouble.kind) ?? RANKS.size) : RANKS.size + 1

const QUIET_TROUBLES: ReadonlySet<WorkloadTrouble['kind']> = new Set([
  'drifted',
  'degraded',
  'leaving',
  'outdated',
])

/** How loudly a trouble is shown. */
export const toneOfTrouble = ({ kind }: WorkloadTrouble): 'bad' | 'warn' =>
  QUIET_TROUBLES.has(kind) ? 'warn' : 'bad'

/** The trouble that a workload has now; null where it has none. An old version alone is work to do, and no trouble. */
export const troubleNow = ({
  archived_at: archivedAt,
  trouble,
}: Pick<WorkloadRecord, 'archived_at' | 'trouble'>): WorkloadTrouble | null =>
  archivedAt || !trouble || trouble.kind === 'outdated' ? null : trouble
