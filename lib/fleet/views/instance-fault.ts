import { classifyAgentError } from '../../configs/redact/agent-error.ts'
import { mostTelling } from '../../model/telling-cause.ts'
import type { HealthNode } from '../../opamp/report.ts'
import type { ToldFailure } from '../../store/pushes.ts'
import type { Instance } from '../state/model.ts'

/** Why an instance is unwell, in words that everybody may see, and in its own where it failed a config. */
export interface InstanceFault extends ToldFailure {
  /** The part of it that says so, as the agent names it: `exporter:otlp/eu`; empty for the agent as a whole. */
  component: string
}

/** Unwell parts of one instance that are looked at for its fault: an agent may make up thousands. */
const HEALTH_NODES_MAX = 100
/** What was found in a health, which is looked at by pages and alerts many times: goes with it. */
const found = new WeakMap<HealthNode, { report: Instance['report']; fault: InstanceFault | null }>()
/** Characters that are kept of a name, which an agent chooses. */
const NAME_MAX = 64

/**
 * Why an instance is unwell, as muster classifies it; null where nothing is said that muster knows. The one place that
 * says it: an agent tells of one failure in several places. Asked in this order, and a cause that only says that it
 * did not work gives way to one that says why: what became of the config that it failed, the parts of its health, its
 * health as a whole.
 */
export function findInstanceFault({
  report,
  health,
}: Pick<Instance, 'report' | 'health'>): InstanceFault | null {
  if (health === null) return mostTelling(saidBy({ report, health }))
  const known = found.get(health)
  if (known !== undefined && known.report === report) return known.fault
  const fault = mostTelling(saidBy({ report, health }))
  found.set(health, { report, fault })
  return fault
}

function* saidBy({ report, health }: Pick<Instance, 'report' | 'health'>): Generator<InstanceFault | null> {
  if (report?.status === 'failed' && report.error !== null) {
    yield { component: '', ...report.error }
  }
  if (health !== null) yield* partsOf('', health, { left: HEALTH_NODES_MAX })
}

/** What the unhealthy parts say, the innermost first: an outer part mostly repeats it. */
function* partsOf(name: string, node: HealthNode, budget: { left: number }): Generator<InstanceFault> {
  if (node.healthy || budget.left-- <= 0) return
  for (const [child, below] of node.children) yield* partsOf(child, below, budget)
  if (node.lastError === '') return
  const { cause, title, parameters } = classifyAgentError(node.lastError, { withText: false })
  yield { component: name.slice(0, NAME_MAX), cause, title, parameters }
}
