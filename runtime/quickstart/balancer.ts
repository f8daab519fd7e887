import { connect, createServer, type Socket } from 'node:net'
import type { Health, HealthWatch } from './health.ts'

/** One address in front of several processes. */
export interface Balancer {
  close(): Promise<void>
}

/** Whom a new connection is led to first. */
const ORDER: Readonly<Record<Health, number>> = { ready: 0, unready: 1, silent: 2 }

/** A process as the balancer knows it. */
interface Place {
  port: number
  index: number
  clients: Set<Socket>
}

/**
 * Pass each connection on to the local port of a ready process with the fewest connections, or to the next one where
 * nobody listens. Connections to a process that falls silent are ended, so that whoever has them comes back to another.
 * The processes see every caller as this machine. That is enough for the quick start; a real load balancer tells them
 * who calls.
 */
export async function startBalancer(
  at: { host: string; port: number },
  ports: readonly number[],
  health: Pick<HealthWatch, 'of' | 'onSilent'>,
): Promise<Balancer> {
  const places: Place[] = ports.map((port, index) => ({ port, index, clients: new Set() }))
  const rank = ({ index }: Place) => ORDER[health.of(index)]
  const server = createServer((client) => {
    client.on('error', () => client.destroy())
    lead(
      client,
      [...places].sort((a, b) => rank(a) - rank(b) || a.clients.size - b.clients.size),
    )
  })
  health.onSilent((index) => {
    for (const client of places[index]?.clients ?? []) client.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: at.port, ...(at.host === '' ? {} : { host: at.host }) }, resolve)
  })
  return {
    async close() {
      for (const { clients } of places) for (const client of clients) client.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function lead(client: Socket, [first, ...others]: readonly Place[]): void {
  if (first === undefined || client.destroyed) return void client.destroy()
  const { port, clients } = first
  const upstream = connect(port, '127.0.0.1')
  let isOpen = false
  clients.add(client)
  upstream.on('connect', () => {
    isOpen = true
    client.pipe(upstream)
    upstream.pipe(client)
  })
  upstream.on('error', () => upstream.destroy())
  upstream.on('close', () => {
    clients.delete(client)
    if (isOpen) client.destroy()
    else lead(client, others)
  })
  client.on('close', () => upstream.destroy())
}
