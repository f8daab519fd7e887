import type { AgentConnection } from './fleet-port.ts'
import { createPollStreams, type PollStreams } from './poll-streams.ts'

/** An agent that polls over HTTP, kept from one request to the next: each request may be a connection of its own. */
export interface Poller {
  connection: AgentConnection
  /** Tells the requests of two agents apart that poll under one uid. */
  streams: PollStreams
}

/** How many pollers are kept. */
export interface PollerLimits {
  /** Pollers of one address: a client that invents uids evicts only pollers of its own address. */
  perSource: number
  inAll: number
}

/** What one process keeps, and what a front does: whom that forgets the owner still knows. */
export const POLLERS_MAX: PollerLimits = { perSource: 20_000, inAll: 100_000 }

/** The pollers that are known now, by the agent's uid. */
export interface HttpPollers {
  /** The poller with this uid, made when it is new. It counts as used now, from this address. */
  of(uid: string, source: string): Poller
  forget(uid: string): void
  size(): number
}

/**
 * Keep pollers up to the limits. Beyond one, the poller unused for longest, of that address or of all, is given to
 * `onEvicted` and forgotten, so that invented uids cannot fill the memory; a real agent becomes a new poller at its
 * next poll. Ids of their connections are negative, so that they differ from those of sockets.
 */
export function createHttpPollers(
  limits: PollerLimits,
  onEvicted: (connection: AgentConnection) => void,
): HttpPollers {
  const pollers = new Map<string, Poller & { source: string }>()
  /** The uids of each address, in the order of their use. */
  const bySource = new Map<string, Set<string>>()
  let lastId = 0
  const add = (uid: string, source: string) => {
    lastId -= 1
    const connection: AgentConnection = {
      id: lastId,
      transport: 'http',
      // Nothing can be sent to a poller: it waits for the next request.
      send: () => 'dropped',
      drop: () => {
        if (pollers.get(uid)?.connection === connection) forget(uid)
      },
    }
    return { connection, streams: createPollStreams(), source }
  }
  const forget = (uid: string) => {
    const poller = pollers.get(uid)
    if (poller === undefined) return
    pollers.delete(uid)
    const uids = bySource.get(poller.source)
    uids?.delete(uid)
    if (uids?.size === 0) bySource.delete(poller.source)
  }
  const evict = (uid: string) => {
    const { connection } = pollers.get(uid)!
    forget(uid)
    onEvicted(connection)
  }
  return {
    of(uid, source) {
      const poller = pollers.get(uid) ?? add(uid, source)
      // Forgotten and set again, so that the order is the order of use.
      forget(uid)
      poller.source = source
      pollers.set(uid, poller)
      const uids = bySource.get(source) ?? new Set()
      uids.add(uid)
      bySource.set(source, uids)
      if (uids.size > limits.perSource) evict(uids.values().next().value!)
      if (pollers.size > limits.inAll) evict(pollers.keys().next().value!)
      return poller
    },
    forget,
    size: () => pollers.size,
  }
}
