import { inTurns } from '../../turns.ts'
import type { Instance } from '../state/model.ts'

/** Agents looked at in one turn of the event loop. */
const CHUNK = 1_000

/** Where the agents in memory are; each is in one place. */
export interface AgentPlaces {
  /** On a WebSocket of some process. */
  websocket: number
  /** They poll over HTTP, whichever process answers. */
  polling: number
  /** Their connection ended, and their grace has not. */
  awaited: number
}

/** Count where the agents are. */
export async function countPlaces(instances: Iterable<Pick<Instance, 'connection'>>): Promise<AgentPlaces> {
  const places: AgentPlaces = { websocket: 0, polling: 0, awaited: 0 }
  for await (const piece of inTurns(instances, CHUNK))
    for (const { connection } of piece)
      places[connection === null ? 'awaited' : connection.transport === 'http' ? 'polling' : 'websocket']++
  return places
}
