import { connect, createServer, type Socket } from 'node:net'

/** A proxy in front of one process's internal address that can stop passing bytes on without closing anything. */
export interface StallingProxy {
  port: number
  /** Pass nothing on any more, in either direction, of what this member opened or opens. */
  stall(memberId: string): void
  /** Pass on what was held back, and everything after it. */
  goOn(): void
  close(): Promise<void>
}

/** A connection of a member, with the socket to the process that it leads to. */
interface Pair {
  memberId: string
  client: Socket
  upstream: Socket
}

/** Matches the header with which a member proves itself, and captures its id. */
const MEMBER = /x-muster-member: ([\w-]+)\./i

/** Start a proxy that leads to this local port. */
export async function startStallingProxy(target: number): Promise<StallingProxy> {
  const pairs = new Set<Pair>()
  let stalled: string | null = null
  const hold = ({ client, upstream }: Pair) => {
    client.pause()
    upstream.pause()
  }
  const pass = ({ client, upstream }: Pair) => {
    client.resume()
    upstream.resume()
  }
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    const pair: Pair = { memberId: '', client, upstream }
    pairs.add(pair)
    client.on('error', () => client.destroy())
    upstream.on('error', () => upstream.destroy())
    client.on('data', (data) => {
      // Before it says who it is, a member only has the owner prove itself.
      if (pair.memberId === '') pair.memberId = MEMBER.exec(data.toString('latin1'))?.[1] ?? ''
      if (pair.memberId !== stalled) upstream.write(data)
      else {
        hold(pair)
        client.unshift(data)
      }
    })
    upstream.on('data', (data) => client.write(data))
    client.on('close', () => {
      pairs.delete(pair)
      upstream.destroy()
    })
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    stall(memberId) {
      stalled = memberId
      for (const pair of pairs) if (pair.memberId === memberId) hold(pair)
    },
    goOn() {
      for (const pair of pairs) if (pair.memberId === stalled) pass(pair)
      stalled = null
    },
    async close() {
      for (const { client } of pairs) client.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
