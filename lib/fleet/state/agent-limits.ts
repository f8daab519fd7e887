import { POLLERS_MAX, type PollerLimits } from '../../opamp/http-pollers.ts'

/** Bounds on what agents can make up: a uid costs an instance while it is here, an identity a workload that stays. */
export interface AgentLimits {
  /** Agents on one WebSocket. A gateway carries many on one; a faulty or hostile client may invent uids without end. */
  perConnection: number
  /** Agents in the process, those that are away for less than the grace included. */
  inAll: number
  /** Workloads, disconnected and archived ones included. Deleting one makes room. */
  workloads: number
  /** What agents say of themselves, and workloads keep of it, in bytes of memory. */
  keptBytes: number
  /** Of those, what may be there because of one WebSocket: one that is faulty or hostile leaves the rest to others. */
  keptBytesPerConnection: number
}

const AGENTS_PER_CONNECTION = 10_000

/** One WebSocket may fill this part of the room for what agents say. */
const SHARE = 1 / 4
/** Where that is less than this for each agent that it may carry, which a collector and its workload take, it may fill more. */
const USUAL_AGENT_BYTES = 10_486
/** But never more than this part: the rest is left to others. */
const SHARE_MAX = 3 / 4

/** The room for what agents say in all, and of it for those on one WebSocket. */
export const keptBytesOf = (
  keptBytes: number,
): Pick<AgentLimits, 'keptBytes' | 'keptBytesPerConnection'> => ({
  keptBytes,
  keptBytesPerConnection: Math.floor(
    Math.min(Math.max(keptBytes * SHARE, AGENTS_PER_CONNECTION * USUAL_AGENT_BYTES), keptBytes * SHARE_MAX),
  ),
})

/** What one process carries: about 1 KB of memory for each uid that was never described. */
export const AGENT_LIMITS: AgentLimits = {
  perConnection: AGENTS_PER_CONNECTION,
  inAll: 200_000,
  workloads: 200_000,
  ...keptBytesOf(536_870_912),
}

/** What the owner of several processes knows of: the largest fleet that the README gives sizes for. */
export const FLEET_LIMITS: AgentLimits = {
  perConnection: AGENT_LIMITS.perConnection,
  inAll: 1_000_000,
  workloads: 1_000_000,
  ...keptBytesOf(AGENT_LIMITS.keptBytes),
}

/** Of the agents that the owner of several processes knows of, all may poll. */
export const FLEET_POLLERS: PollerLimits = { ...POLLERS_MAX, inAll: FLEET_LIMITS.inAll }

/** Pollers whose rhythm is remembered while they are away; the one that left longest ago is learnt anew. */
export const RHYTHMS_MAX = 100_000

/** Agents whose workload is remembered for their next bare message; the one described longest ago is asked again. */
export const HOMES_MAX = 500_000

/** Instances of which it is kept since when they are changed on their hosts; one that is away gives way to another. */
export const ALTERED_MAX = 20_000
