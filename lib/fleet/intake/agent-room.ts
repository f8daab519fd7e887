import type { AgentConnection } from '../../opamp/fleet-port.ts'
import type { AgentReport, ServerMessage } from '../../opamp/report.ts'
import { identifyWorkload } from '../decide/workload-identity.ts'
import type { Instance } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'

const MIB = 1_048_576

/** How long an agent that found no room is asked to wait; the protocol wants 30 s at least. */
const RETRY_MS = 30_000

/** Bytes that an agent that is here may add where the room is taken, and which part of the room there is for that besides. */
const SMALL_GROWTH = 4_096
const RESERVE_PART = 8

/** Whether anything in a report is kept as long as its agent is. */
export const saysWhatItIs = ({ attributes, health, components }: AgentReport): boolean =>
  attributes !== null || health !== null || components !== null

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
    return (
      this.#checkAgents(known, connection) ??
      this.#checkWorkloads(report) ??
      this.#checkBytes(known, connection, report)
    )
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

  /**
   * What an agent says of itself is kept while it is here, and of its workload for long after. Where the room for all is
   * taken, or the share of one WebSocket, agents that are here may still say a little more, such as that they are unhealthy.
   */
  #checkBytes(
    known: Instance | undefined,
    { id }: AgentConnection,
    report: AgentReport,
  ): ServerMessage | null {
    if (!saysWhatItIs(report)) return null
    const { deps, state } = this.#parts
    const { keptBytes, keptBytesPerConnection } = deps.agentLimits
    const { attributes, uid } = report
    const home = attributes === null ? undefined : state.workloads.get(identifyWorkload(attributes, uid).id)
    const growth = state.kept.growth(known, report, home)
    const isSmall = known !== undefined && growth <= SMALL_GROWTH
    const fits = (held: number, most: number) =>
      held + growth <= (isSmall ? most + most / RESERVE_PART : most)
    if (growth <= 0) return null
    const refuseFor = (who: string) => this.#refuse(`Cannot keep what this agent says of itself: ${who}`)
    if (!fits(state.kept.total, keptBytes))
      return refuseFor(`all agents and workloads take ${Math.round(keptBytes / MIB)} MiB`)
    if (fits(state.kept.shareOf(id), keptBytesPerConnection)) return null
    const share = Math.round(keptBytesPerConnection / MIB)
    return refuseFor(`those on this connection take ${share} MiB, use one more`)
  }

  #refuse(message: string): ServerMessage {
    this.refusedCount++
    return { errorResponse: { type: 'unavailable', message, retryAfterMs: RETRY_MS } }
  }
}
