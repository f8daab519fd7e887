import type { ConfigEngine } from '../configs/engine.ts'
import type { Workload } from '../fleet/state/model.ts'
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

/** The config that a workload is to run, else the one that its instances agree on; empty for none. */
const configOf = ({ activeHash, live }: Workload): string => activeHash ?? live.commonReportedHash()

const numbered = new Intl.Collator('en', { numeric: true })

/** By name; namesakes by their hosts, as numbers where these end in numbers. */
const byNameAndPlace = (a: Workload, b: Workload): number =>
  compareText(a.displayName, b.displayName) ||
  numbered.compare(placeOf(a.fingerprintKeys), placeOf(b.fingerprintKeys)) ||
  compareText(a.id, b.id)

/** Whether a workload has a config that says where it sends data, or could. */
export const sendsByConfig = (workload: Workload): boolean =>
  workload.archivedAt === null && configOf(workload) !== ''

/** Who exports where, by what the workloads are to run; the destination of most workloads first. */
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
  const found = new Map<
    string,
    { exporter: string; address: string; signals: Set<string>; of: Set<Workload> }
  >()
  for (const [hash, { destinations }] of outlines)
    for (const { address, exporterType, signals } of destinations) {
      const key = `${exporterType} ${address}`
      const one = found.get(key) ?? { exporter: exporterType, address, signals: new Set(), of: new Set() }
      for (const signal of signals) one.signals.add(signal)
      for (const workload of members.get(hash) ?? []) one.of.add(workload)
      found.set(key, one)
    }
  return [...found.entries()]
    .sort(([a, one], [b, other]) => other.of.size - one.of.size || (a < b ? -1 : 1))
    .slice(0, DESTINATIONS_MAX)
    .map(([, { exporter, address, signals, of }]) => ({
      ...(address === '' ? {} : { address }),
      exporter,
      signals: [...signals].sort(),
      workload_count: of.size,
      instance_count: [...of].reduce((count, { live }) => count + live.count, 0),
      workloads: [...of]
        .sort(byNameAndPlace)
        .slice(0, NAMED_MAX)
        .map(({ id, displayName, fingerprintKeys }) => ({
          id,
          display_name: displayName,
          ...placeFieldOf(fingerprintKeys),
        })),
    }))
}
