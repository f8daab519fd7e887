import { componentType } from '../check/components.ts'
import { type ComparedConfig, type ComparedPart, sectionIds } from './model.ts'

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
