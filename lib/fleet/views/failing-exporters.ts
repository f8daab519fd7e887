import type { HealthNode } from '../../opamp/report.ts'

/** Parts of one instance's health that are looked at. */
const HEALTH_NODES_MAX = 1_000
/** How health names an exporter: `exporter:otlp/eu`. */
const EXPORTER = /^exporter:(.{1,128})$/

/** What each exporter of an instance that is unhealthy says, by its id in the config. */
export function findFailingExporters(health: HealthNode | null): Map<string, string> {
  const found = new Map<string, string>()
  let left = HEALTH_NODES_MAX
  const look = (node: HealthNode): void => {
    for (const [name, child] of node.children) {
      if (left-- <= 0) return
      const id = EXPORTER.exec(name)?.[1]
      if (id !== undefined && !child.healthy && !found.has(id)) found.set(id, child.lastError)
      look(child)
    }
  }
  if (health !== null && !health.healthy) look(health)
  return found
}
