import type { AgentConnection } from './fleet-port.ts'

/** The lasting identity of an agent that polls over HTTP, where each request is a connection of its own. */
export interface Poller {
  connection: AgentConnection
  /** A digest of the last request's body, to tell a request that is sent again from a new one. */
  lastBodyDigest: string
}

/** The pollers that are known now, by the agent's uid. */
export interface HttpPollers {
  /** The poller behind this uid, made when it is new; it counts as used now. */
  of(uid: string): Poller
  forget(uid: string): void
  size(): number
}

/**
 * Keep up to `countMax` pollers. Past that the one unused for longest is given to `onEvicted` and forgotten,
 * so that invented uids cannot fill the memory. Their ids are negative: they never meet those of sockets.
 */
export function createHttpPollers(
  countMax: number,
  onEvicted: (connection: AgentConnection) => void,
): HttpPollers {
  const pollers = new Map<string, Poller>()
  let lastId = 0
  const add = (uid: string): Poller => {
    lastId -= 1
    const connection: AgentConnection = {
      id: lastId,
      transport: 'http',
      // Nothing reaches a poller by itself: what is to be said waits for its next request.
      send: () => 'dropped',
      drop: () => {
        if (pollers.get(uid)?.connection === connection) pollers.delete(uid)
      },
    }
    return { connection, lastBodyDigest: '' }
  }
  return {
    of(uid) {
      const poller = pollers.get(uid) ?? add(uid)
      // Deleted and set again, so that the map's order is the order of use.
      pollers.delete(uid)
      pollers.set(uid, poller)
      if (pollers.size > countMax) {
        const [oldestUid, oldest] = pollers.entries().next().value!
        pollers.delete(oldestUid)
        onEvicted(oldest.connection)
      }
      return poller
    },
    forget: (uid) => void pollers.delete(uid),
    size: () => pollers.size,
  }
}
