import type { AgentConnection } from '../../opamp/fleet-port.ts'
import type { AgentReport, ServerMessage } from '../../opamp/report.ts'
import { identifyWorkload } from '../decide/workload-identity.ts'
import type { Instance } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'

/** How long an agent that found no room is asked to wait; the protocol wants 30 s at least. */
const RETRY_MS = 30_000

/** Whether there is room for one more agent, or for the workload that it names. */
export class AgentRoom {
  readonly #parts: Pick<FleetParts, 'deps' | 'state'>
  /** Messages of agents that found no room. */
  refusedCount = 0

  constructor(parts: Pick<FleetParts, 'deps' | 'state'>) {
    this.#parts = parts
  }

  /** The answer that refuses an agent for which there is no room; null when there is room. */
  check(known: Instance | undefined, connection: AgentConnection, report: AgentReport): ServerMessage | null {
    return this.#checkAgents(known, connection) ?? this.#checkWorkloads(report)
  }

  /** An agent that is new on this connection, or new to the process, needs room there. */
  #checkAgents(known: Instance | undefined, connection: AgentConnection): ServerMessage | null {
    if (known?.connection === connection) return null
    const { deps, state } = this.#parts
    const { perConnection, inAll } = deps.agentLimits
    const carried = state.byConnection.get(connection.id)?.size ?? 0
    const isFull = carried >= perConnection
    if (!isFull && (known !== undefined || state.instances.size < inAll)) return null
    return this.#refuse(
      isFull
        ? `Cannot take another agent on this connection: it carries ${perConnection}, use one more`
        : `Cannot take another agent: there are ${inAll}`,
    )
  }

  /** A description that names a new workload needs room for it: the workload stays when the agent is gone. */
  #checkWorkloads({ attributes, uid }: AgentReport): ServerMessage | null {
    const { deps, state } = this.#parts
    const { workloads: most } = deps.agentLimits
    if (attributes === null || state.workloads.size < most) return null
    if (state.workloads.has(identifyWorkload(attributes, uid).id)) return null
    return this.#refuse(`Cannot take another workload: there are ${most}, delete some that are gone`)
  }

  #refuse(message: string): ServerMessage {
    this.refusedCount++
    return { errorResponse: { type: 'unavailable', message, retryAfterMs: RETRY_MS } }
  }
}
