import { WORKLOAD_TROUBLES } from '../wire/values.ts'
import type { WorkloadRecord, WorkloadTrouble } from '../wire/workloads.ts'
import { trustedAmong } from './labels.ts'
import { presenceOf } from './presence.ts'
import { isProductionByLabels } from './production.ts'

const RANKS = new Map<string, number>(WORKLOAD_TROUBLES.map((kind, at) => [kind, at]))

/** What of a workload says how bad its trouble is. */
type Troubled = Pick<WorkloadRecord, 'trouble' | 'labels' | 'connected_instance_count'>

/** Whether a workload has instances, and none of them is healthy. */
export function isAllUnhealthy({ trouble }: Pick<WorkloadRecord, 'trouble'>): boolean {
  if (!trouble) return false
  const { kind, count = 0, total = 0, unhealthy_count: beside = 0, instance_count: all = 0 } = trouble
  return kind === 'unhealthy' ? count > 0 && count >= total : beside > 0 && beside >= all
}

/** More instances than a workload has are as bad as so many. */
const COUNT_MAX = 999_999
/** More kinds than there are. */
const KINDS_MAX = 16

/** How many instances a trouble is about: of one without any, the last one. */
const countOf = ({ trouble, connected_instance_count: live }: Troubled): number =>
  Math.min(COUNT_MAX, trouble?.count ?? trouble?.unhealthy_count ?? Math.max(1, live))

/** How bad it is by itself: nothing works; something went wrong; something is not as it should be; it is only old. */
function bandOf(trouble: WorkloadTrouble): number {
  if (trouble.kind === 'disconnected' || isAllUnhealthy({ trouble })) return 0
  if (toneOfTrouble(trouble) === 'bad') return 1
  return trouble.kind === 'outdated' ? 3 : 2
}

/**
 * The rank of a workload's trouble: the worst has the lowest, no trouble the highest. Where nothing works stands first;
 * then production, then where most instances are concerned, then by the kind.
 */
export function troubleRank(of: Troubled): number {
  const { trouble, labels = {} } = of
  if (!trouble) return Number.MAX_SAFE_INTEGER
  const place = bandOf(trouble) * 2 + (isProductionByLabels(splitTrusted(labels)) ? 0 : 1)
  return (
    (place * (COUNT_MAX + 1) + COUNT_MAX - countOf(of)) * KINDS_MAX + (RANKS.get(trouble.kind) ?? RANKS.size)
  )
}

const splitTrusted = (labels: WorkloadRecord['labels']) => ({ labels, trustedLabels: trustedAmong(labels) })

const QUIET_TROUBLES: ReadonlySet<WorkloadTrouble['kind']> = new Set([
  'drifted',
  'altered',
  'degraded',
  'leaving',
  'outdated',
])

/** How loudly a trouble is shown. */
export const toneOfTrouble = ({ kind }: WorkloadTrouble): 'bad' | 'warn' =>
  QUIET_TROUBLES.has(kind) ? 'warn' : 'bad'

/** Troubles that are about a config: it failed, halts, does not run everywhere, or was changed on a host. */
const CONFIG_TROUBLES: ReadonlySet<WorkloadTrouble['kind']> = new Set([
  'push_failed',
  'rollout_halted',
  'rolled_back',
  'some_failed',
  'drifted',
  'altered',
])

/** Whether a trouble comes from a config, however long ago that was pushed; of any other its cause may be elsewhere. */
export const isOfConfig = ({ kind, under_push: since }: WorkloadTrouble): boolean =>
  CONFIG_TROUBLES.has(kind) || since !== undefined

/** The trouble that a workload has now; null where it has none. An old version alone is work to do, and no trouble. */
export const troubleNow = ({
  archived_at: archivedAt,
  trouble,
}: Partial<Pick<WorkloadRecord, 'archived_at' | 'trouble'>>): WorkloadTrouble | null =>
  archivedAt || !trouble || trouble.kind === 'outdated' ? null : trouble

/** Whether instances of a workload do not run what they should: they did not take it, or somebody changed it there. */
export const isDrifted = ({
  drifted_instance_count: drifted,
  altered_instance_count: altered = 0,
}: Pick<WorkloadRecord, 'drifted_instance_count' | 'altered_instance_count'>): boolean =>
  drifted + altered > 0

/**
 * What a workload is in trouble for, as it is found and counted: the worst, by which it is told, and beside that what a
 * counter counts whatever else is wrong. So a number says the same wherever it stands.
 */
export function troublesOf(
  workload: Pick<
    WorkloadRecord,
    'trouble' | 'status' | 'connected_instance_count' | 'drifted_instance_count' | 'altered_instance_count'
  >,
): WorkloadTrouble['kind'][] {
  const { trouble, status, connected_instance_count: connected } = workload
  const kinds = new Set(trouble ? [trouble.kind] : [])
  if (isDrifted(workload)) kinds.add('drifted')
  if ((workload.altered_instance_count ?? 0) > 0) kinds.add('altered')
  if (presenceOf(status, connected) === 'leaving') kinds.add('leaving')
  return [...kinds]
}

/** Kinds of trouble that have one cause though more or fewer instances are concerned. */
const ALIKE: Partial<Record<WorkloadTrouble['kind'], WorkloadTrouble['kind']>> = {
  some_unhealthy: 'unhealthy',
  some_failed: 'push_failed',
}

/**
 * What workloads have in common that are in trouble for one reason: the kind, why, and what it is about; null where it is
 * not known why. The only place that says which are told as one.
 */
export function causeKeyOf({
  kind,
  error_cause: cause,
  error_parameters: about,
}: WorkloadTrouble): string | null {
  if (cause === undefined || cause === 'unknown') return null
  return JSON.stringify([
    ALIKE[kind] ?? kind,
    cause,
    ...Object.entries(about ?? {})
      .sort()
      .flat(),
  ])
}
