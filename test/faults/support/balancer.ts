import { connect, createServer, type Socket } from 'node:net'

/** One address in front of several processes, as a load balancer gives agents. */
export interface Balancer {
  port: number
  /** How many connections each process has now, in the order of the ports. */
  open(): number[]
  /** How many connections to each process have ended so far, in the order of the ports. */
  ended(): number[]
  /** Lead no new connection to the process at this place of the ports, as for one that is not ready. */
  skip(index: number): void
  close(): Promise<void>
}

/** Start a balancer that leads each connection to the first of these local ports that accepts it. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const carried = ports.map(() => new Set<Socket>())
  const ended = ports.map(() => 0)
  const skipped = new Set<number>()
  const server = createServer((client) => {
    client.on('error', () => client.destroy())
    const tryNext = (index: number) => {
      const port = ports[index]
      if (port === undefined) return client.destroy()
      if (skipped.has(index)) return tryNext(index + 1)
      const upstream = connect(port, '127.0.0.1')
      let isOpen = false
      upstream.on('connect', () => {
        isOpen = true
        carried[index]!.add(client)
        client.pipe(upstream)
        upstream.pipe(client)
      })
      upstream.on('error', () => upstream.destroy())
      upstream.on('close', () => {
        if (carried[index]!.delete(client)) ended[index]!++
        if (isOpen) client.destroy()
        else tryNext(index + 1)
      })
      client.on('close', () => upstream.destroy())
    }
    tryNext(0)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    open: () => carried.map((clients) => clients.size),
    ended: () => [...ended],
    skip: (index) => void skipped.add(index),
    async close() {
      for (const clients of carried) for (const client of clients) client.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
