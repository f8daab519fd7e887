import type { Clock } from '../clock.ts'
import type { Destination } from '../configs/diff/destinations.ts'
import type { ConfigEngine } from '../configs/engine.ts'
import { classifyAgentError } from '../configs/redact/agent-error.ts'
import type { Instance, Workload } from '../fleet/state/model.ts'
import { deadEndOf } from '../fleet/views/aftermath.ts'
import { errorFields } from '../fleet/views/errors.ts'
import { findFailingExporters } from '../fleet/views/failing-exporters.ts'
import { type First, keepFirst } from '../keep-first.ts'
import { placeFieldOf, placeOf } from '../model/places.ts'
import { compareAsRead, compareText } from '../model/text-order.ts'
import { findContents, listKnownHashes } from '../store/config-contents.ts'
import type { Db } from '../store/db.ts'
import { findReportedConfig } from '../store/reported-configs.ts'
import { eachInTurns, Pace } from '../turns.ts'
import type { ExportDestination } from '../wire/destinations.ts'
import { type ByService, indexByService, likelyWorkload } from './likely-workload.ts'

/** Workloads looked at in one turn of the event loop. */
const CHUNK = 500
/** Destinations that one answer holds, and that are looked at for it, those of the most common configs first. */
const DESTINATIONS_MAX = 500
const LOOKED_AT_MAX = 10_000
/** Configs whose destinations are in memory together. */
const CONFIGS_CHUNK = 50
/** Workloads that are named with a destination; all of them are counted. */
const NAMED_MAX = 20

/** The texts of configs that somebody pushed, else those that agents report. */
async function readConfigs(db: Db, hashes: readonly string[]): Promise<{ hash: string; body: string }[]> {
  const pushed = await findContents(db, hashes)
  const known = new Set(pushed.map(({ hash }) => hash))
  const found: { hash: string; body: string }[] = pushed.map(({ hash, body }) => ({ hash, body }))
  for (const hash of hashes) {
    const body = known.has(hash) ? null : await findReportedConfig(db, hash)
    if (body !== null) found.push({ hash, body })
  }
  return found
}

/**
 * The config that a workload is to run, else the one that its instances agree on; empty for none. Nobody sends by one that
 * failed with nothing to go back to.
 */
function configOf(workload: Workload): string {
  const { activeHash, live } = workload
  const isFailed = activeHash !== null && deadEndOf(workload)?.hash === activeHash
  return isFailed || activeHash === null ? live.commonReportedHash() : activeHash
}

/** By name; namesakes by their hosts, as numbers where these end in numbers. */
const byNameAndPlace = (a: Workload, b: Workload): number =>
  compareText(a.displayName, b.displayName) ||
  compareAsRead(placeOf(a.fingerprintKeys), placeOf(b.fingerprintKeys)) ||
  compareText(a.id, b.id)

/** Whether a workload has a config that says where it sends data, or could. */
export const sendsByConfig = (workload: Workload): boolean =>
  workload.archivedAt === null && configOf(workload) !== ''

/** Instances of one workload whose health is looked at: what fails mostly fails for all. */
const UNHEALTHY_MAX = 20

/** Configs of unhealthy instances that are looked at beside those that workloads are to run. */
const OTHERS_MAX = 1_000

/** The unhealthy instances of a workload that are looked at. */
function* listUnhealthy({ live }: Workload): Generator<Instance, void> {
  let left = UNHEALTHY_MAX
  for (const instance of live.unhealthy) {
    if (left-- === 0) return
    yield instance
  }
}

/** By which config an instance sends: one that it applied and whose text is kept, else its workload's. */
type ConfigOf = (workload: Workload, instance: Instance) => string

/** The same of all unhealthy instances. Agents say what they applied, so only what muster has a text of counts. */
async function findConfigs(db: Db, workloads: Iterable<Workload>, pace: Pace): Promise<ConfigOf> {
  const others = new Set<string>()
  await eachInTurns(workloads, pace, (workload) => {
    for (const { appliedHash } of listUnhealthy(workload))
      if (appliedHash !== '' && appliedHash !== workload.activeHash && others.size < OTHERS_MAX)
        others.add(appliedHash)
  })
  const known = await listKnownHashes(db, [...others])
  return (workload, { appliedHash }) => (known.has(appliedHash) ? appliedHash : configOf(workload))
}

/** What the exporters of a workload's live instances that run this config and fail now say, by their ids. */
function failingExportersOf(workload: Workload, config: string, configOfOne: ConfigOf): Map<string, string> {
  const found = new Map<string, string>()
  for (const instance of listUnhealthy(workload)) {
    if (configOfOne(workload, instance) !== config) continue
    for (const [id, text] of findFailingExporters(instance.health)) if (!found.has(id)) found.set(id, text)
  }
  return found
}

/** A destination of all configs together. */
interface Found {
  exporter: string
  address: string
  signals: Set<string>
  of: Set<Workload>
  /** Those of the workloads that cannot send there now, with what the first exporter says. */
  failing: Map<Workload, string>
}

/** Note that a workload sends there, and whether it cannot do so now. */
function noteSender(
  { of, failing }: Found,
  exporterIds: readonly string[],
  workload: Workload,
  failures: ReadonlyMap<string, string> | undefined,
): void {
  of.add(workload)
  if (failures === undefined || failing.has(workload)) return
  for (const id of exporterIds) {
    const text = failures.get(id)
    if (text === undefined) continue
    failing.set(workload, text)
    return
  }
}

/** A workload by its name, as the wire shows it. */
const toNamed = ({ id, displayName, fingerprintKeys }: Workload) => ({
  id,
  display_name: displayName,
  ...placeFieldOf(fingerprintKeys),
})

/** A destination as the wire shows it. */
async function toWire(
  { exporter, address, signals, of, failing }: Found,
  byService: ByService,
  pace: Pace,
): Promise<ExportDestination> {
  let instanceCount = 0
  const clusters = new Set<string>()
  const named: Workload[] = []
  const first: First<Workload> = {
    most: NAMED_MAX,
    compare: (a, b) => Number(failing.has(b)) - Number(failing.has(a)) || byNameAndPlace(a, b),
  }
  await eachInTurns(of, pace, (workload) => {
    instanceCount += workload.live.count
    clusters.add(workload.fingerprintKeys['cluster'] ?? '')
    keepFirst(named, workload, first)
  })
  const [firstText] = failing.values()
  const why = firstText === undefined ? null : classifyAgentError(firstText, { withText: false })
  const known = why === null || why.cause === 'unknown' ? null : { ...why, text: '' }
  const likely = likelyWorkload(address, clusters, byService)
  return {
    ...(address === '' ? {} : { address }),
    ...(likely === null ? {} : { likely: toNamed(likely) }),
    exporter,
    signals: [...signals].sort(),
    workload_count: of.size,
    instance_count: instanceCount,
    ...(failing.size === 0
      ? {}
      : { failing: { workload_count: failing.size, ...errorFields(known, { withTexts: true }) } }),
    workloads: named.map((workload) => ({
      ...toNamed(workload),
      ...(failing.has(workload) ? { is_failing: true } : {}),
    })),
  }
}

/**
 * The workloads that send anywhere, by the hash of the config that says where: the one that they are to run, and what those
 * of their instances run that are unhealthy, such as the ones of a stage that halted.
 */
async function sendersByConfig(
  workloads: Iterable<Workload>,
  configOfOne: ConfigOf,
  pace: Pace,
): Promise<Map<string, Workload[]>> {
  const senders = new Map<string, Workload[]>()
  await eachInTurns(workloads, pace, (workload) => {
    if (!sendsByConfig(workload)) return
    const hashes = new Set([configOf(workload)])
    for (const instance of listUnhealthy(workload)) hashes.add(configOfOne(workload, instance))
    for (const hash of hashes) {
      const known = senders.get(hash)
      if (known) known.push(workload)
      else senders.set(hash, [workload])
    }
  })
  return senders
}

/** Note where the workloads of one config send data to. */
async function noteDestinations(
  found: Map<string, Found>,
  { hash, destinations }: { hash: string; destinations: readonly Destination[] },
  senders: readonly Workload[],
  configOfOne: ConfigOf,
  pace: Pace,
): Promise<void> {
  const failures = new Map<Workload, ReadonlyMap<string, string>>()
  await eachInTurns(senders, pace, (workload) => {
    if (workload.live.unhealthy.size > 0)
      failures.set(workload, failingExportersOf(workload, hash, configOfOne))
  })
  for (const { address, exporterType, signals, exporterIds } of destinations) {
    const key = `${exporterType} ${address}`
    const one: Found = found.get(key) ?? {
      exporter: exporterType,
      address,
      signals: new Set(),
      of: new Set(),
      failing: new Map(),
    }
    for (const signal of signals) one.signals.add(signal)
    await eachInTurns(senders, pace, (workload) =>
      noteSender(one, exporterIds, workload, failures.get(workload)),
    )
    found.set(key, one)
  }
}

/**
 * Who exports where, by what the workloads are to run; those that most workloads cannot reach now first, then those of
 * most workloads. Agents choose how many destinations a config has and how much their health says: all goes in turns.
 */
export async function listDestinations(
  parts: { db: Db; clock: Pick<Clock, 'monotonicMs'>; configs: Pick<ConfigEngine, 'destinations'> },
  workloads: Iterable<Workload>,
): Promise<ExportDestination[]> {
  const pace = new Pace({ size: CHUNK, clock: parts.clock })
  const all = [...workloads]
  const configOfOne = await findConfigs(parts.db, all, pace)
  const sendersOf = await sendersByConfig(all, configOfOne, pace)
  const hashes = [...sendersOf].sort(([, some], [, others]) => others.length - some.length)
  const found = new Map<string, Found>()
  for (let at = 0; at < hashes.length && found.size < LOOKED_AT_MAX; at += CONFIGS_CHUNK) {
    const some = hashes.slice(at, at + CONFIGS_CHUNK).map(([hash]) => hash)
    const configs = await parts.configs.destinations(some, (missing) => readConfigs(parts.db, missing))
    for (const [hash, destinations] of configs)
      await noteDestinations(found, { hash, destinations }, sendersOf.get(hash) ?? [], configOfOne, pace)
  }
  const shown = [...found.entries()]
    .sort(
      ([a, one], [b, other]) =>
        other.failing.size - one.failing.size || other.of.size - one.of.size || (a < b ? -1 : 1),
    )
    .slice(0, DESTINATIONS_MAX)
  const answer: ExportDestination[] = []
  const byService = await indexByService(all, pace)
  for (const [, one] of shown) answer.push(await toWire(one, byService, pace))
  return answer
}
