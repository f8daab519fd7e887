import type { ConfigEngine } from '../configs/engine.ts'
import { classifyAgentError } from '../configs/redact/agent-error.ts'
import type { Workload } from '../fleet/state/model.ts'
import { deadEndOf } from '../fleet/views/aftermath.ts'
import { errorFields } from '../fleet/views/errors.ts'
import { findFailingExporters } from '../fleet/views/failing-exporters.ts'
import { placeFieldOf, placeOf } from '../model/places.ts'
import { compareText } from '../model/text-order.ts'
import { findContents } from '../store/config-contents.ts'
import type { Db } from '../store/db.ts'
import { findReportedConfig } from '../store/reported-configs.ts'
import { inTurns } from '../turns.ts'
import type { ExportDestination } from '../wire/destinations.ts'

/** Workloads looked at in one turn of the event loop. */
const CHUNK = 500
/** Destinations that one answer holds. */
const DESTINATIONS_MAX = 500
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

const numbered = new Intl.Collator('en', { numeric: true })

/** By name; namesakes by their hosts, as numbers where these end in numbers. */
const byNameAndPlace = (a: Workload, b: Workload): number =>
  compareText(a.displayName, b.displayName) ||
  numbered.compare(placeOf(a.fingerprintKeys), placeOf(b.fingerprintKeys)) ||
  compareText(a.id, b.id)

/** Whether a workload has a config that says where it sends data, or could. */
export const sendsByConfig = (workload: Workload): boolean =>
  workload.archivedAt === null && configOf(workload) !== ''

/** What the exporters of a workload's live instances that fail now say, by their ids. */
function failingExportersOf({ live }: Workload): Map<string, string> {
  const found = new Map<string, string>()
  for (const { health } of live.unhealthy)
    for (const [id, text] of findFailingExporters(health)) if (!found.has(id)) found.set(id, text)
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

/** Note which of the workloads with one config cannot send to this destination of it. */
function noteFailing(
  { failing }: Found,
  exporterIds: readonly string[],
  workloads: readonly Workload[],
  failures: ReadonlyMap<Workload, ReadonlyMap<string, string>>,
): void {
  for (const workload of workloads)
    for (const id of exporterIds) {
      const text = failures.get(workload)?.get(id)
      if (text !== undefined && !failing.has(workload)) failing.set(workload, text)
    }
}

/** A destination as the wire shows it. */
function toWire({ exporter, address, signals, of, failing }: Found): ExportDestination {
  const [firstText] = failing.values()
  const why = firstText === undefined ? null : classifyAgentError(firstText, { withText: false })
  const known = why === null || why.cause === 'unknown' ? null : { ...why, text: '' }
  return {
    ...(address === '' ? {} : { address }),
    exporter,
    signals: [...signals].sort(),
    workload_count: of.size,
    instance_count: [...of].reduce((count, { live }) => count + live.count, 0),
    ...(failing.size === 0
      ? {}
      : { failing: { workload_count: failing.size, ...errorFields(known, { withTexts: true }) } }),
    workloads: [...of]
      .sort((a, b) => Number(failing.has(b)) - Number(failing.has(a)) || byNameAndPlace(a, b))
      .slice(0, NAMED_MAX)
      .map((workload) => ({
        id: workload.id,
        display_name: workload.displayName,
        ...placeFieldOf(workload.fingerprintKeys),
        ...(failing.has(workload) ? { is_failing: true } : {}),
      })),
  }
}

/**
 * Who exports where, by what the workloads are to run; those that most workloads cannot reach now first, then those of
 * most workloads.
 */
export async function listDestinations(
  parts: { db: Db; configs: Pick<ConfigEngine, 'outlines'> },
  workloads: Iterable<Workload>,
): Promise<ExportDestination[]> {
  const members = new Map<string, Workload[]>()
  for await (const piece of inTurns(workloads, CHUNK))
    for (const workload of piece) {
      if (!sendsByConfig(workload)) continue
      const hash = configOf(workload)
      const known = members.get(hash)
      if (known) known.push(workload)
      else members.set(hash, [workload])
    }
  const outlines = await parts.configs.outlines([...members.keys()], (hashes) =>
    readConfigs(parts.db, hashes),
  )
  const failures = new Map<Workload, Map<string, string>>()
  const found = new Map<string, Found>()
  for (const [hash, { destinations }] of outlines) {
    const senders = members.get(hash) ?? []
    for (const workload of senders)
      if (workload.live.unhealthy.size > 0) failures.set(workload, failingExportersOf(workload))
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
      for (const workload of senders) one.of.add(workload)
      noteFailing(one, exporterIds, senders, failures)
      found.set(key, one)
    }
  }
  return [...found.entries()]
    .sort(
      ([a, one], [b, other]) =>
        other.failing.size - one.failing.size || other.of.size - one.of.size || (a < b ? -1 : 1),
    )
    .slice(0, DESTINATIONS_MAX)
    .map(([, one]) => toWire(one))
}
