import { connect, createServer, type Socket } from 'node:net'

/** One address in front of several processes. */
export interface Balancer {
  close(): Promise<void>
}

/**
 * Pass each connection on to the local port with the fewest connections, or to the next one where nobody listens. The
 * processes see every caller as this machine. That is enough for the quick start; a real load balancer tells them who
 * calls.
 */
export async function startBalancer(
  at: { host: string; port: number },
  ports: readonly number[],
): Promise<Balancer> {
  const carried = new Map(ports.map((port) => [port, new Set<Socket>()]))
  const server = createServer((client) => {
    client.on('error', () => client.destroy())
    const byLoad = [...carried].sort(([, one], [, other]) => one.size - other.size)
    lead(client, byLoad)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: at.port, ...(at.host === '' ? {} : { host: at.host }) }, resolve)
  })
  return {
    async close() {
      for (const clients of carried.values()) for (const client of clients) client.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function lead(client: Socket, [first, ...others]: readonly [port: number, clients: Set<Socket>][]): void {
  if (first === undefined || client.destroyed) return void client.destroy()
  const [port, clients] = first
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
