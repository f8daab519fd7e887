import type { Clock } from '../../clock.ts'
import { type First, keepFirst } from '../../keep-first.ts'
import { groupLosses, LossCount, type LostTogether, lostOf, minuteOf } from '../../model/outages.ts'
import { noPresences, presenceOf } from '../../model/presence.ts'
import {
  causeKeyOf,
  isAllUnhealthy,
  isOfConfig,
  toneOfTrouble,
  troubleNow,
  troubleRank,
} from '../../model/troubles.ts'
import { newestFirst } from '../../model/versions.ts'
import { compareNames, nameOf } from '../../model/workload-names.ts'
import { eachInTurns, inTurns } from '../../turns.ts'
import type { FleetSummary } from '../../wire/fleet-summary.ts'
import type { Outage } from '../../wire/outages.ts'
import type { WorkloadTrouble } from '../../wire/workloads.ts'
import type { SteadyRecord } from './workload.ts'

/** How many workloads are named as the worst. */
export const WORST_NAMED_MAX = 3
/** How many versions are named; agents choose theirs, so there may be one for each workload. */
export const VERSIONS_NAMED_MAX = 20
/** How many names that several have are told; agents choose theirs. */
export const SHARED_NAMES_MAX = 5_000
/** Workloads counted, or versions looked at, in one turn of the event loop. */
const CHUNK = 500

/** The numbers of the whole fleet, archived workloads left out. */
export interface FleetTally {
  counts: FleetSummary['counts']
  /**
   * Workloads that have a trouble now, as the fleet's list shows it; those of them whose trouble is loud, and whose
   * trouble comes from a config.
   */
  troubledCount: number
  loudCount: number
  ofConfigCount: number
  /** The ids of the worst among them, as the fleet's list begins; `WORST_NAMED_MAX` at most. */
  worstIds: readonly string[]
  /** Of those of them that stand for an outage of many: how many, since when, and where. */
  outages: ReadonlyMap<string, Outage>
  /** Of those of them that stand for several with one cause: how many, and since when. */
  alike: ReadonlyMap<string, Alike>
  /** How many there are, and the newest, `VERSIONS_NAMED_MAX` at most; '' is unknown and last. */
  versions: { count: number; first: readonly Version[] }
  /** Those with open alerts that have no trouble now, and those with open alerts whose version is not too old. */
  calmIds: ReadonlySet<string>
  currentIds: ReadonlySet<string>
  /** Names that several workloads have; `SHARED_NAMES_MAX` at most. */
  sharedNames: readonly string[]
}

type Alike = NonNullable<FleetSummary['worst'][number]['alike']>
type Version = FleetSummary['versions']['first'][number]
/** Those that were lost in one minute, and the worst of them. */
type Lost = { worst: SteadyRecord[]; losses: LossCount }
type LostByMinute = Map<number, Lost>

/** Note a workload whose trouble is that it has no instances with those of its minute; false for others. */
function noteLost(found: LostByMinute, record: SteadyRecord): boolean {
  const of = lostOf(record)
  const minute = minuteOf(of?.since)
  if (of === null || minute === null) return false
  const known = found.get(minute) ?? { worst: [], losses: new LossCount() }
  known.losses.add(of)
  keepFirst(known.worst, record, WORST)
  found.set(minute, known)
  return true
}

/** Those in trouble for one reason, by that reason: the worst of them, and how many they are. */
type ByCause = Map<string, { record: SteadyRecord; alike: Alike }>

/** Note a workload in trouble with those that are so for the same reason; false where it is not known why. */
function noteCause(found: ByCause, record: SteadyRecord, trouble: WorkloadTrouble): boolean {
  const key = causeKeyOf(trouble)
  if (key === null) return false
  const known = found.get(key)
  const { since } = trouble
  if (known === undefined) {
    found.set(key, { record, alike: { count: 1, ...(since === undefined ? {} : { since }) } })
    return true
  }
  known.alike.count++
  if (since !== undefined && !(known.alike.since !== undefined && known.alike.since <= since))
    known.alike.since = since
  if (WORST.compare(record, known.record) < 0) known.record = record
  return true
}

/** One of the worst; of an outage how many it is about, else 0. */
interface Leading {
  record: SteadyRecord
  lead: number
  outage?: Outage
  alike?: Alike
}

const LEADING: First<Leading> = {
  most: WORST_NAMED_MAX,
  compare: (a, b) => b.lead - a.lead || WORST.compare(a.record, b.record),
}

/** Those that were lost within the same minutes: as one where they are many. */
function leadersOf({ of, outage }: LostTogether<Lost>): Leading[] {
  const worst: SteadyRecord[] = []
  for (const lost of of) for (const record of lost.worst) keepFirst(worst, record, WORST)
  if (outage === null) return worst.map((record) => ({ record, lead: 0 }))
  return [{ record: worst[0]!, lead: outage.count, outage }]
}

/** Of those of the worst that stand for several, what they stand for. */
function standingFor<T>(first: readonly Leading[], partOf: (one: Leading) => T | undefined): Map<string, T> {
  return new Map(
    first.flatMap((one) => {
      const part = partOf(one)
      return part === undefined ? [] : [[one.record.id, part] as const]
    }),
  )
}

/**
 * The worst of all, and which of them stand for several: many that were lost together, the largest first, and those in
 * trouble for one reason.
 */
async function worstOf(
  others: readonly SteadyRecord[],
  lost: LostByMinute,
  byCause: ByCause,
): Promise<Pick<FleetTally, 'worstIds' | 'outages' | 'alike'>> {
  const first: Leading[] = []
  for (const record of others) keepFirst(first, { record, lead: 0 }, LEADING)
  for await (const piece of inTurns(byCause.values(), CHUNK))
    for (const { record, alike } of piece)
      keepFirst(first, { record, lead: 0, ...(alike.count > 1 ? { alike } : {}) }, LEADING)
  for await (const piece of inTurns(groupLosses(lost), CHUNK))
    for (const together of piece)
      for (const leading of leadersOf(together)) keepFirst(first, leading, LEADING)
  return {
    worstIds: first.map(({ record }) => record.id),
    outages: standingFor(first, ({ outage }) => outage),
    alike: standingFor(first, ({ alike }) => alike),
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
  const others: SteadyRecord[] = []
  const lost: LostByMinute = new Map()
  const byCause: ByCause = new Map()
  let [troubledCount, loudCount, ofConfigCount] = [0, 0, 0]
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
    ofConfigCount += isOfConfig(trouble) ? 1 : 0
    if (!noteLost(lost, record) && !noteCause(byCause, record, trouble)) keepFirst(others, record, WORST)
  })
  return {
    counts,
    troubledCount,
    loudCount,
    ofConfigCount,
    ...(await worstOf(others, lost, byCause)),
    versions: { count: found.size, first: await newestOf(found) },
    calmIds,
    currentIds,
    sharedNames: await sharedAmong(names),
  }
}
