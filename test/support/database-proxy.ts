import { connect as connectSocket, createServer, type Socket } from 'node:net'

/** A proxy in front of the database that a test can cut and mend. */
export interface DatabaseProxy {
  /** The database's address through the proxy. */
  dsn: string
  /** Cut every connection and refuse new ones, as a database that is away does. */
  goAway(): void
  comeBack(): void
  /**
   * Pass nothing more on of the connections that there are, or of the one that the server sees come from this port, as
   * where the server's host vanished; new ones get through.
   */
  fallSilent(clientPort?: number): void
  /** Say nothing more, to those that come from now on either: the server's host vanished. */
  vanish(): void
  /** Cut the clients' side only: the server does not notice and keeps their sessions, locks included. */
  loseClients(): void
  close(): Promise<void>
}

/** Put a proxy in front of a test database. */
export async function startDatabaseProxy(dsn: string): Promise<DatabaseProxy> {
  const target = new URL(dsn)
  const pairs = new Map<Socket, Socket>()
  let isAway = false
  let isGone = false
  const unheard = new Set<Socket>()
  const server = createServer((client) => {
    if (isAway) return client.destroy()
    if (isGone) {
      client.on('error', () => undefined).on('close', () => unheard.delete(client))
      return void unheard.add(client)
    }
    const upstream = connectSocket(Number(target.port), target.hostname)
    pairs.set(client, upstream)
    client.pipe(upstream, { end: false })
    upstream.pipe(client)
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    upstream.on('close', () => {
      pairs.delete(client)
      client.destroy()
    })
    // When a client closes its connection, the server's side is closed too. One that `loseClients` cut is no longer in
    // the map.
    client.on('close', () => {
      if (pairs.delete(client)) upstream.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const through = new URL(dsn)
  through.port = String((server.address() as { port: number }).port)
  const orphans: Socket[] = []
  const goAway = () => {
    isAway = true
    for (const client of unheard) client.destroy()
    for (const [client, upstream] of pairs) {
      client.destroy()
      upstream.destroy()
    }
  }
  const fallSilent = (clientPort?: number) => {
    for (const [client, upstream] of [...pairs]) {
      if (clientPort !== undefined && upstream.localPort !== clientPort) continue
      client.unpipe(upstream).pause()
      upstream.unpipe(client).pause()
    }
  }
  return {
    dsn: through.toString(),
    goAway,
    comeBack() {
      isAway = false
    },
    fallSilent,
    vanish() {
      isGone = true
      fallSilent()
    },
    loseClients() {
      for (const [client, upstream] of [...pairs]) {
        pairs.delete(client)
        orphans.push(upstream)
        client.destroy()
      }
    },
    async close() {
      goAway()
      for (const orphan of orphans) orphan.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
