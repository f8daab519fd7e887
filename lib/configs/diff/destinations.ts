import { idProblem } from '../check/component-id.ts'
import { componentType } from '../check/components.ts'
import { redactString } from '../redact/redact.ts'
import type { ConfigObject } from '../yaml/value.ts'
import { hostsOf } from './endpoints.ts'
import { type ComparedConfig, type ComparedPart, cutUp, sectionIds } from './model.ts'
import { signalOf } from './pipelines.ts'

/** Exporters that send nothing away. */
const LOCAL_TYPES = new Set(['debug', 'logging', 'nop'])

/**
 * The ids of exporters that send data to where none went before: used by a pipeline now, by none before, and with an
 * address that no used exporter had before, or with none at all. An exporter that only got another id is not one.
 */
export function newDestinations(
  base: ComparedConfig,
  target: ComparedConfig,
  hostsOf: (part: ComparedPart) => string[],
): Set<string> {
  const before = usedExporters(base)
  const known = new Set([...before.values()].flatMap(hostsOf))
  const found = new Set<string>()
  for (const [id, part] of usedExporters(target)) {
    if (before.has(id) || LOCAL_TYPES.has(componentType(id))) continue
    const hosts = hostsOf(part)
    if (hosts.length === 0 || hosts.some((host) => !known.has(host))) found.add(id)
  }
  return found
}

/** The defined exporters that some pipeline lists, by id; connectors are left out. */
function usedExporters({ parts, pipelines }: ComparedConfig): Map<string, ComparedPart> {
  const used = new Map<string, ComparedPart>()
  for (const pipeline of pipelines.values()) {
    for (const id of sectionIds(pipeline, 'exporters')) {
      const part = parts.get(`exporters:${id}`)
      if (part) used.set(id, part)
    }
  }
  return used
}

/** Where a config sends data to, by which kind of exporter. */
export interface Destination {
  /** Host and port, or the text of an address that is filled in at start; empty where the exporter names none. */
  address: string
  exporterType: string
  /** The signals of the pipelines that lead there, sorted. */
  signals: readonly string[]
  /** The exporters of the config that send there, by id. */
  exporterIds: readonly string[]
}

/** Destinations that are told of one config, and exporters that are named with each. */
const DESTINATIONS_MAX = 64
const EXPORTERS_MAX = 16
const ADDRESS_LENGTH_MAX = 512

/**
 * Where a config sends data to; exporters that send nothing away are left out, and those whose name no collector takes.
 * Agents write such configs: what is told of one has a bound, whatever it says how often.
 */
export function listDestinations(root: ConfigObject): Destination[] {
  const config = cutUp(root)
  const signalsOf = new Map<string, Set<string>>()
  for (const [pipeline, value] of config.pipelines)
    for (const id of sectionIds(value, 'exporters')) {
      const known = signalsOf.get(id) ?? new Set<string>()
      const signal = signalOf(pipeline)
      signalsOf.set(id, signal === 'unknown' ? known : known.add(signal))
    }
  const found = new Map<string, Destination>()
  for (const [id, part] of usedExporters(config)) {
    const exporterType = componentType(id)
    if (LOCAL_TYPES.has(exporterType) || idProblem(id) !== null) continue
    const hosts = hostsOf(part).slice(0, DESTINATIONS_MAX)
    for (const host of hosts.length === 0 ? [''] : hosts) {
      const address = redactString(host).slice(0, ADDRESS_LENGTH_MAX)
      const key = `${exporterType} ${address}`
      const known = found.get(key)
      const signals = new Set([...(known?.signals ?? []), ...(signalsOf.get(id) ?? [])])
      const exporterIds = [...(known?.exporterIds ?? []), id].slice(0, EXPORTERS_MAX)
      found.set(key, { address, exporterType, signals: [...signals].sort(), exporterIds })
      if (found.size >= DESTINATIONS_MAX) return [...found.values()]
    }
  }
  return [...found.values()]
}
