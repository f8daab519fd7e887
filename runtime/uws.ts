import type { Connections } from './connection-room.ts'
import { parseListenAddress } from './listen-address.ts'
import type { Listener, ListenerHandlers, ListenerTls } from './listener.ts'
import { SocketTurns } from './socket-turns.ts'
import { Anchor } from './uws-anchor.ts'
import { formatAddress, serveRequests } from './uws-http.ts'
import { loadUwsLibrary, type TemplatedApp, type us_listen_socket } from './uws-library.ts'
import { registerSocket, type SocketsOfListener } from './uws-sockets.ts'

/** The library takes options beside a host, too; its types leave that form out. */
type ListenWithHost = (
  this: TemplatedApp,
  host: string,
  port: number,
  options: number,
  listening: (socket: us_listen_socket | false) => void,
) => void

/** The most apps with connections that go on after their certificate was renewed; of the oldest they are closed. */
export const FORMER_MAX = 8

/** Let an app take the connections of an address that nobody else has; null where it is taken or not there. */
function tryBind(app: TemplatedApp, { host, port }: { host: string; port: number }): us_listen_socket | null {
  let listenSocket: us_listen_socket | false = false
  const onListen = (socket: us_listen_socket | false) => {
    listenSocket = socket
  }
  // 1 = LIBUS_LISTEN_EXCLUSIVE_PORT: two processes on one port must be an error, not a lottery.
  if (host === '') app.listen(port, 1, onListen)
  else (app.listen as unknown as ListenWithHost).call(app, host, port, 1, onListen)
  return listenSocket === false ? null : (listenSocket as us_listen_socket)
}

function bind(app: TemplatedApp, address: string, at: { host: string; port: number }): us_listen_socket {
  const bound = tryBind(app, at)
  if (bound !== null) return bound
  app.close()
  throw new Error(`Cannot listen on "${address}": address already in use or not available`)
}

/** Count the connections of an app, and cut those for which there is no room as they come. */
function countConnections(app: TemplatedApp, connections: Connections): void {
  const count: Parameters<TemplatedApp['filter']>[0] = (response, change) => {
    if (change === -1) connections.closed()
    else if (!connections.opened(formatAddress(response.getRemoteAddress()))) response.close()
  }
  app.filter(count)
}

/** Counts the connections of one app, and tells of them whoever bounds those of the listener. */
class ConnectionsOfApp implements Connections {
  readonly #all: Connections | null
  count = 0

  constructor(all: Connections | null) {
    this.#all = all
  }

  get turnedAway(): number {
    return this.#all?.turnedAway ?? 0
  }

  opened(address: string): boolean {
    this.count++
    return this.#all?.opened(address) ?? true
  }

  closed(): void {
    this.count--
    this.#all?.closed()
  }

  asked(address: string): void {
    this.#all?.asked(address)
  }

  answered(address: string, stays: boolean): void {
    this.#all?.answered(address, stays)
  }

  socketOpened(address: string): void {
    this.#all?.socketOpened(address)
  }

  socketClosed(address: string): void {
    this.count--
    this.#all?.socketClosed(address)
  }
}

/** An app, and how many connections it has; null where nobody counts them. */
interface OpenedApp {
  app: TemplatedApp
  connections: ConnectionsOfApp | null
}

/** The app that takes connections, and those before it whose connections go on. */
class Apps {
  readonly #open: () => OpenedApp
  readonly #address: string
  readonly #all: OpenedApp[] = []
  #bound: us_listen_socket | null
  #isStopped = false
  readonly host: string
  readonly port: number

  constructor(address: string, open: () => OpenedApp) {
    const parsed = parseListenAddress(address)
    if (parsed === null) throw new Error(`Cannot listen on "${address}": expected host:port`)
    const opened = open()
    this.#open = open
    this.#address = address
    this.#bound = bind(opened.app, address, parsed)
    this.#all.push(opened)
    this.host = parsed.host
    this.port = loadUwsLibrary().us_socket_local_port(this.#bound)
  }

  /**
   * Let a new app take the connections from here on. The address is free for a moment in between, as it is exclusive:
   * whoever connects right then tries again. Throws where the new app cannot have it; the one before it takes them on.
   */
  renew(): void {
    if (this.#isStopped) return
    const opened = this.#open()
    const former = this.#all.at(-1)!
    this.#letGo()
    this.#bound = tryBind(opened.app, this)
    if (this.#bound === null) {
      opened.app.close()
      this.#bound = tryBind(former.app, this)
      const now = this.#bound === null ? ', and for now nobody listens there' : ''
      throw new Error(`Cannot listen anew on "${this.#address}"${now}`)
    }
    // Where certificates live for an hour, connections of days ago are not closed for the many apps that have none.
    for (const each of this.#all.splice(0))
      if (each.connections?.count === 0) each.app.close()
      else this.#all.push(each)
    this.#all.push(opened)
    if (this.#all.length > 1 + FORMER_MAX) this.#all.shift()!.app.close()
  }

  stop(): void {
    this.#isStopped = true
    this.#letGo()
  }

  close(): void {
    for (const { app } of this.#all) app.close()
  }

  #letGo(): void {
    if (this.#bound !== null) loadUwsLibrary().us_listen_socket_close(this.#bound)
    this.#bound = null
  }
}

/** An app, with a certificate where it has files. Throws where they are of no use to the library. */
function openApp(tls: ListenerTls | null): TemplatedApp {
  const uws = loadUwsLibrary()
  if (tls === null) return uws.App()
  try {
    return uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile })
  } catch {
    throw new Error(
      `the socket library has no use for the certificate ${tls.certFile} with the key ${tls.keyFile}`,
    )
  }
}

/** Bind one listener. Throws when the address is malformed or taken. */
export function listen(
  address: string,
  handlers: ListenerHandlers,
  tls: ListenerTls | null = null,
): Listener {
  let lastSocketId = 0
  const turns = new SocketTurns()
  const sockets: SocketsOfListener = {
    open: new Set(),
    behind: new Set(),
    turns,
    flooded: 0,
    nextId: () => ++lastSocketId,
  }
  const anchor = new Anchor()
  const { serve, ...requests } = serveRequests(handlers, anchor)
  const apps = new Apps(address, () => {
    const app = openApp(tls)
    const all = handlers.connections ?? null
    // Only an app with a certificate is ever followed by another one.
    const connections = all === null && tls === null ? null : new ConnectionsOfApp(all)
    if (connections !== null) countConnections(app, connections)
    for (const route of handlers.sockets) registerSocket(app, route, sockets, { anchor, connections })
    serve(app)
    return { app, connections }
  })
  const { host, port } = apps
  if (handlers.sockets.length > 0) anchor.connect(host, port, tls !== null)
  let cutForQuiet = 0
  return {
    port,
    stopListening: () => apps.stop(),
    renewCertificate: () => apps.renew(),
    ...requests,
    bodyBytesFree: () => handlers.bodyRoom?.free() ?? null,
    sockets: () => [...sockets.open],
    socketCounts: () => ({
      open: sockets.open.size,
      turnedAway: handlers.room?.turnedAway ?? 0,
      cut: cutForQuiet,
      flooded: sockets.flooded,
    }),
    connectionsTurnedAway: () => handlers.connections?.turnedAway ?? 0,
    cutQuiet(sinceMs) {
      const quiet = [...sockets.open].filter(({ lastMessageMs }) => lastMessageMs < sinceMs)
      for (const socket of quiet) socket.cut()
      cutForQuiet += quiet.length
      return quiet.length
    },
    bufferedBytes: () => [...sockets.behind].reduce((sum, socket) => sum + socket.noteBehind(), 0),
    waitingBytes: () => turns.waitingBytes,
    destroy() {
      anchor.close()
      apps.close()
      turns.finish()
    },
  }
}
