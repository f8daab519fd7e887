import { classifyAgentError } from '../../configs/redact/agent-error.ts'
import type { HealthNode } from '../../opamp/report.ts'
import type { FailureCause } from '../../store/pushes.ts'

/** Why an instance is unhealthy, in words that everybody may see. */
export interface HealthFault extends FailureCause {
  /** The part of it that says so, as the agent names it: `exporter:otlp/eu`; empty for the agent as a whole. */
  component: string
}

/** Parts of one instance's health that are looked at for its fault. */
const HEALTH_NODES_MAX = 1_000
/** Characters that are kept of a name, which an agent chooses. */
const NAME_MAX = 64

/**
 * What the first unhealthy part without an unhealthy part of its own says, as muster classifies it; null where nothing
 * is said that muster knows.
 */
export function findHealthFault(health: HealthNode | null): HealthFault | null {
  let left = HEALTH_NODES_MAX
  const find = (name: string, node: HealthNode): { name: string; text: string } | null => {
    if (node.healthy || left-- <= 0) return null
    for (const [child, below] of node.children) {
      const said = find(child, below)
      if (said !== null) return said
    }
    return node.lastError === '' ? null : { name, text: node.lastError }
  }
  const said = health === null ? null : find('', health)
  if (said === null) return null
  const { cause, title, parameters } = classifyAgentError(said.text, { withText: false })
  return cause === 'unknown' ? null : { component: said.name.slice(0, NAME_MAX), cause, title, parameters }
}
