import type { Fleet } from '../../../lib/fleet/fleet.ts'
import type { OpampExchange } from '../../../lib/opamp/exchange.ts'
import type { AgentReport, ServerMessage } from '../../../lib/opamp/report.ts'
import type { Dice } from '../time/dice.ts'
import type { VirtualTime } from '../time/virtual-time.ts'

/** The parts of a simulated service process that agents use. */
export interface AgentsService {
  fleet: Fleet
  ctx: { opamp: OpampExchange }
  isDead: boolean
  client: { isDead: boolean; pausedUntilMs: number }
  /** Stands for the process that decides what this one answers; this process itself where that is not said. */
  decidedBy?(): unknown
}

/** What agents use of the world that they live in. */
export interface AgentWorld {
  time: VirtualTime
  dice: Dice
  /** The service that takes connections now; null while there is none. */
  service(): AgentsService | null
  nextConnectionId(): number
  /** The chance that the server's socket finds no room for a frame. */
  dropChance: number
  /** The chance that an HTTP request, or its answer, is lost. */
  lossChance: number
  /** Called when a config frame has reached an agent. */
  offered(uid: string, hash: string, body: Uint8Array): void
  /** Called when an agent that goes by this uid describes itself as on this host. */
  described(uid: string, host: string): void
  /** Called when an agent connects: the world is not at rest until what follows from that is over. */
  stirred(): void
  trace(line: string): void
}

/** The connection of one agent to the service, from when it opens until it is closed or lost. */
export interface Link {
  isOpen: boolean
  say(report: AgentReport): void
}

/** The agent at the end of a link: it is told what the service sends to it. */
export interface Hearer {
  uid: string
  hear(message: ServerMessage): void
  /** Called when the link has broken by no act of the agent. */
  linkLost(link: Link): void
}
