import type { Clock } from '../../clock.ts'
import { type First, keepFirst } from '../../keep-first.ts'
import { noPresences, presenceOf } from '../../model/presence.ts'
import { isAllUnhealthy, toneOfTrouble, troubleNow, troubleRank } from '../../model/troubles.ts'
import { newestFirst } from '../../model/versions.ts'
import { compareNames, nameOf } from '../../model/workload-names.ts'
import { clusterOf, environmentOf } from '../../model/workload-states.ts'
import { eachInTurns, inTurns } from '../../turns.ts'
import type { FleetSummary } from '../../wire/fleet-summary.ts'
import type { SteadyRecord } from './workload.ts'

/** How many workloads are named as the worst. */
export const WORST_NAMED_MAX = 3
/** How many versions are named; agents choose theirs, so there may be one for each workload. */
export const VERSIONS_NAMED_MAX = 20
/** How many names that several have are told; agents choose theirs. */
export const SHARED_NAMES_MAX = 5_000
/** Workloads counted, or versions looked at, in one turn of the event loop. */
const CHUNK = 500

/** Workloads without instances in one place that are told as one: a failure that they share would hide all others. */
const OUTAGE_MIN = 10

/** The numbers of the whole fleet, archived workloads left out. */
export interface FleetTally {
  counts: FleetSummary['counts']
  /** Workloads that have a trouble now, as the fleet's list shows it, and those of them whose trouble is loud. */
  troubledCount: number
  loudCount: number
  /** The ids of the worst among them, as the fleet's list begins; `WORST_NAMED_MAX` at most. */
  worstIds: readonly string[]
  /** Of those of them that stand for an outage of many: how many, and where. */
  outages: ReadonlyMap<string, Outage>
  /** How many there are, and the newest, `VERSIONS_NAMED_MAX` at most; '' is unknown and last. */
  versions: { count: number; first: readonly Version[] }
  /** Those with open alerts that have no trouble now, and those with open alerts whose version is not too old. */
  calmIds: ReadonlySet<string>
  currentIds: ReadonlySet<string>
  /** Names that several workloads have; `SHARED_NAMES_MAX` at most. */
  sharedNames: readonly string[]
}

type Version = FleetSummary['versions']['first'][number]
type Outage = NonNullable<FleetSummary['worst'][number]['outage']>
type Lost = { worst: SteadyRecord[]; outage: Outage }

/** Note a workload whose trouble is that it has no instances with those of its environment and cluster; false for others. */
function noteLost(found: Map<string, Lost>, record: SteadyRecord): boolean {
  const kind = record.trouble?.kind
  if (kind !== 'disconnected' && kind !== 'leaving') return false
  const [environment, cluster] = [environmentOf(record), clusterOf(record)]
  const key = JSON.stringify([kind, environment, cluster])
  const known = found.get(key) ?? { worst: [], outage: { count: 0, environment, cluster } }
  known.outage.count++
  keepFirst(known.worst, record, WORST)
  found.set(key, known)
  return true
}

/** The worst of all, where many that were lost together count as one; and for which of them that holds. */
async function worstOf(
  others: readonly SteadyRecord[],
  lost: ReadonlyMap<string, Lost>,
): Promise<{ worstIds: string[]; outages: Map<string, Outage> }> {
  const first: SteadyRecord[] = []
  const outages = new Map<string, Outage>()
  for (const record of others) keepFirst(first, record, WORST)
  for await (const piece of inTurns(lost.values(), CHUNK))
    for (const { worst, outage } of piece) {
      const isOutage = outage.count >= OUTAGE_MIN
      for (const record of isOutage ? worst.slice(0, 1) : worst) {
        keepFirst(first, record, WORST)
        if (isOutage) outages.set(record.id, outage)
      }
    }
  const worstIds = first.map(({ id }) => id)
  return {
    worstIds,
    outages: new Map(worstIds.flatMap((id) => (outages.has(id) ? [[id, outages.get(id)!]] : []))),
  }
}

/**
 * Note the versions that a workload runs. One whose instances differ counts with each of its versions, as it is found
 * by each; of very many versions with the lowest.
 */
function noteVersions(found: Map<string, Version>, record: SteadyRecord): void {
  if (record.type !== 'collector') return
  const { version_mix: mix } = record
  const versions = mix ? mix.lowest.map(({ version }) => version) : [record.version]
  for (const [at, version] of versions.entries()) {
    const known = found.get(version) ?? { version, count: 0, mixed_count: 0, is_outdated: false }
    known.count++
    known.mixed_count += mix ? 1 : 0
    // The mark is about the lowest version of the workload.
    known.is_outdated ||= at === 0 && record.version_outdated
    found.set(version, known)
  }
}

const WORST: First<SteadyRecord> = {
  most: WORST_NAMED_MAX,
  compare: (a, b) => troubleRank(a) - troubleRank(b) || compareNames(a, b),
}

async function newestOf(versions: ReadonlyMap<string, Version>): Promise<Version[]> {
  const order = newestFirst()
  const newest: First<Version> = {
    most: VERSIONS_NAMED_MAX,
    compare: (a, b) => order(a.version, b.version),
  }
  const first: Version[] = []
  for await (const piece of inTurns(versions.values(), CHUNK))
    for (const version of piece) keepFirst(first, version, newest)
  return first
}

async function sharedAmong(names: ReadonlyMap<string, number>): Promise<string[]> {
  const shared: string[] = []
  for await (const piece of inTurns(names, CHUNK))
    for (const [name, count] of piece) if (count > 1 && shared.length < SHARED_NAMES_MAX) shared.push(name)
  return shared
}

/**
 * Count the fleet by its records, some in each turn of the event loop, and fewer where they take long to make: `records`
 * makes each as it is counted.
 */
export async function tallyRecords(
  records: Iterable<SteadyRecord>,
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<FleetTally> {
  const counts = { all: 0, all_unhealthy: 0, ...noPresences() }
  const found = new Map<string, Version>()
  const names = new Map<string, number>()
  const [calmIds, currentIds] = [new Set<string>(), new Set<string>()]
  const [others, lost] = [[] as SteadyRecord[], new Map<string, Lost>()]
  let [troubledCount, loudCount] = [0, 0]
  await eachInTurns(records, { size: CHUNK, clock }, (record) => {
    if (record.archived_at) return
    counts.all++
    const presence = presenceOf(record.status, record.connected_instance_count)
    counts[presence]++
    if (presence === 'degraded' && isAllUnhealthy(record)) counts.all_unhealthy++
    names.set(nameOf(record), (names.get(nameOf(record)) ?? 0) + 1)
    noteVersions(found, record)
    const trouble = troubleNow(record)
    if (record.open_alert_count > 0 && trouble === null) calmIds.add(record.id)
    if (record.open_alert_count > 0 && !record.version_outdated) currentIds.add(record.id)
    if (trouble === null) return
    troubledCount++
    loudCount += toneOfTrouble(trouble) === 'bad' ? 1 : 0
    if (!noteLost(lost, record)) keepFirst(others, record, WORST)
  })
  return {
    counts,
    troubledCount,
    loudCount,
    ...(await worstOf(others, lost)),
    versions: { count: found.size, first: await newestOf(found) },
    calmIds,
    currentIds,
    sharedNames: await sharedAmong(names),
  }
}
