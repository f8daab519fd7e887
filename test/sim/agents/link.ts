import type { Fleet } from '../../../lib/fleet/fleet.ts'
import type { OpampExchange } from '../../../lib/opamp/exchange.ts'
import type { AgentReport, ServerMessage } from '../../../lib/opamp/report.ts'
import type { Dice } from '../time/dice.ts'
import type { VirtualTime } from '../time/virtual-time.ts'

/** A service as agents meet it. */
export interface AgentsService {
  fleet: Fleet
  ctx: { opamp: OpampExchange }
  isDead: boolean
  client: { isDead: boolean; pausedUntilMs: number }
}

/** What agents need of the world they live in. */
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
  /** A config reached an agent. */
  offered(uid: string, hash: string): void
  /** An agent connected. */
  stirred(): void
  trace(line: string): void
}

/** One agent's way to the service, as long as it lasts. */
export interface Link {
  isOpen: boolean
  say(report: AgentReport): void
}

/** Who hears what the service says to one agent. */
export interface Hearer {
  uid: string
  hear(message: ServerMessage): void
  /** The link is gone. */
  linkLost(link: Link): void
}
