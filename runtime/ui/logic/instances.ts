import { callInstance } from '../../../lib/model/instance-names.ts'
import { compareAsRead } from '../../../lib/model/text-order.ts'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { TopologySummary, WorkloadTopology } from '../../../lib/wire/topology.ts'
import type { WorkloadRecord, WorkloadTrouble } from '../../../lib/wire/workloads.ts'

/** A row about an instance, as all pages have it. */
type InstanceRow = Pick<LiveInstance, 'pod_name' | 'instance_uid'>
/** The workload of instances; what is not known of it yet is left out. */
type Around = Partial<Pick<WorkloadRecord, 'fingerprint_keys'>>

/** What people call an instance, by its record and that of its workload. */
export const instanceName = (instance: InstanceRow, workload: Around): string =>
  callInstance(instance.pod_name, workload.fingerprint_keys, instance.instance_uid)

/**
 * What people call the instances of a workload, by their uids: those of one name, such as two on one host, are told apart by
 * the beginning of the uid. One that is in no row is called like its workload's others.
 */
export function nameInstances(rows: readonly InstanceRow[], workload: Around): (uid: string) => string {
  const names = new Map(rows.map((row) => [row.instance_uid, instanceName(row, workload)]))
  const counts = new Map<string, number>()
  for (const name of names.values()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return (uid) => {
    const name = names.get(uid) ?? callInstance(undefined, workload.fingerprint_keys, uid)
    return (counts.get(name) ?? 0) > 1 ? `${name} · ${uid.slice(0, 8)}` : name
  }
}

/** Whether an instance counts as unhealthy, as its workload's status and all counters have it: one that starts does not. */
export const isUnwell = ({ healthy, settling }: Pick<LiveInstance, 'healthy' | 'settling'>): boolean =>
  !healthy && settling !== true

/** How well an instance is, the worst first. */
const rankOfHealth = (instance: LiveInstance): number => (isUnwell(instance) ? 0 : instance.healthy ? 2 : 1)

/** Why an instance stands out, the worst first. */
export type Oddity = 'failed' | 'unhealthy' | 'applying' | 'differs' | 'other_config' | 'old_version'

const WEIGHTS: Record<Oddity, number> = {
  failed: 16,
  unhealthy: 8,
  applying: 4,
  differs: 4,
  other_config: 2,
  old_version: 1,
}

/** Everything in which an instance is not as it should be, or not like the other instances. */
export function listOddities(instance: LiveInstance, summary: TopologySummary): Oddity[] {
  const oddities: Oddity[] = []
  const status = instance.remote_config_status?.status
  if (status === 'failed') oddities.push('failed')
  if (isUnwell(instance)) oddities.push('unhealthy')
  if (status === 'applying') oddities.push('applying')
  const assigned = instance.assigned_config_hash
  const runs = instance.effective_config_hash
  // That it failed is why it does not run what was asked, and which other config it runs says so already.
  if (assigned !== undefined && runs !== assigned && (runs !== undefined || status !== 'failed'))
    oddities.push('other_config')
  else if (instance.effective_matches === false && status !== 'failed') oddities.push('differs')
  // The lowest version is the one to look at.
  if (summary.version_diversity.length > 1 && instance.version === summary.version_diversity[0])
    oddities.push('old_version')
  return oddities
}

/** The instances that say that they applied what is assigned, and report to run something else. */
export const listDiffering = ({ instances, summary }: Pick<WorkloadTopology, 'instances' | 'summary'>) =>
  instances.filter((instance) => listOddities(instance, summary).includes('differs'))

/** How much an instance stands out: failed before unhealthy before applying before another version. */
export const oddnessOf = (instance: LiveInstance, summary: TopologySummary): number =>
  listOddities(instance, summary).reduce((sum, oddity) => sum + WEIGHTS[oddity], 0)

/** Instances that stand out for the same, in the same words. */
export interface OddGroup {
  oddities: readonly Oddity[]
  about: readonly string[]
  /** Why they do, as far as they say so themselves; '' where not. */
  why: string
  instances: LiveInstance[]
}

/** The instances that stand out, the worst first, those of which the same is said together. */
export function groupOdd(
  all: readonly LiveInstance[],
  summary: TopologySummary,
  describe: (oddity: Oddity, instance: LiveInstance) => string,
  whyOf: (instance: LiveInstance) => string,
): OddGroup[] {
  const groups = new Map<string, OddGroup & { oddness: number }>()
  for (const instance of all) {
    const oddities = listOddities(instance, summary)
    if (oddities.length === 0) continue
    const about = oddities.map((oddity) => describe(oddity, instance))
    const why = whyOf(instance)
    const key = [...about, why].join('\n')
    const known = groups.get(key)
    if (known) known.instances.push(instance)
    else
      groups.set(key, {
        oddities,
        about,
        why,
        instances: [instance],
        oddness: oddnessOf(instance, summary),
      })
  }
  return [...groups.values()].sort((a, b) => b.oddness - a.oddness)
}

/** What the instances that the trouble of a workload is about stand out for. */
const TOLD_OF: Partial<Record<WorkloadTrouble['kind'], readonly Oddity[]>> = {
  unhealthy: ['unhealthy'],
  some_unhealthy: ['unhealthy'],
  drifted: ['other_config', 'differs'],
}

/**
 * Whether the trouble of a workload says why these instances stand out: not where others stand out for the same, which
 * may have another cause, nor where they failed, which says why itself.
 */
export function isAbout(
  trouble: WorkloadTrouble | undefined,
  group: Pick<OddGroup, 'oddities'>,
  groups: readonly Pick<OddGroup, 'oddities'>[],
): trouble is WorkloadTrouble {
  const told = TOLD_OF[trouble?.kind ?? 'degraded'] ?? []
  const isSuch = ({ oddities }: Pick<OddGroup, 'oddities'>) =>
    !oddities.includes('failed') && told.some((oddity) => oddities.includes(oddity))
  return isSuch(group) && groups.filter(isSuch).length === 1
}

/** How many instances have each value, the most common first. */
export function countValues(
  instances: readonly LiveInstance[],
  read: (instance: LiveInstance) => string | undefined,
): { value: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const instance of instances) {
    const value = read(instance)
    if (value) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || a.value.localeCompare(b.value))
}

/** What an instance is searched by: texts of which a part will do, and words for its state, of which the beginning. */
export interface InstanceWords {
  texts: readonly (string | undefined)[]
  states: readonly string[]
}

/** Whether an instance has every word of a search. */
export function matchesInstance({ texts, states }: InstanceWords, search: string): boolean {
  const terms = search.toLowerCase().split(/\s+/)
  return terms.every(
    (term) =>
      texts.some((text) => text?.toLowerCase().includes(term)) ||
      states.some((state) => state.toLowerCase().startsWith(term)),
  )
}

const byText = (a: string | undefined, b: string | undefined) => compareAsRead(a ?? '', b ?? '')

/** How the instances of a workload can be sorted; unless somebody chooses one, the odd ones come first. */
export const INSTANCE_SORTS = {
  version: (a, b) => byText(a.version, b.version),
  health: (a, b) => rankOfHealth(a) - rankOfHealth(b),
  // Those of which nothing is known come last.
  why: (a, b) =>
    Number(a.fault === undefined) - Number(b.fault === undefined) ||
    byText(a.fault?.error_cause, b.fault?.error_cause) ||
    byText(a.fault?.component, b.fault?.component),
  config: (a, b) =>
    byText(a.remote_config_status?.status, b.remote_config_status?.status) ||
    byText(a.effective_config_hash, b.effective_config_hash),
  matches: (a, b) => byText(String(a.effective_matches), String(b.effective_matches)),
  connected: (a, b) => byText(a.connected_at, b.connected_at),
  message: (a, b) => byText(a.last_message_at, b.last_message_at),
  uid: (a, b) => byText(a.instance_uid, b.instance_uid),
} satisfies Record<string, (a: LiveInstance, b: LiveInstance) => number>

/** What the instances are sorted by. */
export type InstanceSort = 'odd' | 'instance' | keyof typeof INSTANCE_SORTS

/** Instances in an order; `nameOf` says what people call one. */
export function sortInstances(
  instances: readonly LiveInstance[],
  summary: TopologySummary,
  order: { sort: InstanceSort; isDescending: boolean },
  nameOf: (instance: LiveInstance) => string,
): LiveInstance[] {
  const { sort, isDescending } = order
  const sign = isDescending ? -1 : 1
  const byName = (a: LiveInstance, b: LiveInstance) => compareAsRead(nameOf(a), nameOf(b))
  if (sort === 'instance') return [...instances].sort((a, b) => sign * byName(a, b))
  if (sort === 'odd')
    return [...instances].sort((a, b) => sign * (oddnessOf(b, summary) - oddnessOf(a, summary)))
  return [...instances].sort((a, b) => sign * INSTANCE_SORTS[sort](a, b) || byName(a, b))
}

/** How many instances are offered to choose from: nobody scrolls through ten thousand. */
export const CHOICES_MAX = 300

/**
 * The instances to choose from: those that `fits` lets through, the unhealthy first, at most CHOICES_MAX. The one that
 * is looked at (`wanted`) is always among them, even where it does not fit.
 */
export function listChoices(
  instances: readonly LiveInstance[],
  wanted: string | null,
  fits: (instance: LiveInstance) => boolean = () => true,
): LiveInstance[] {
  const sorted = instances.filter(fits).sort((a, b) => rankOfHealth(a) - rankOfHealth(b))
  const shown = sorted.slice(0, CHOICES_MAX)
  const looked = instances.find(({ instance_uid: uid }) => uid === wanted)
  return looked === undefined || shown.includes(looked) ? shown : [looked, ...shown]
}
