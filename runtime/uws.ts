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

/** Bind an app to an address that nobody else has. */
function bind(app: TemplatedApp, address: string, { host, port }: { host: string; port: number }) {
  let listenSocket: us_listen_socket | false = false
  const onListen = (socket: us_listen_socket | false) => {
    listenSocket = socket
  }
  // 1 = LIBUS_LISTEN_EXCLUSIVE_PORT: two processes on one port must be an error, not a lottery.
  if (host === '') app.listen(port, 1, onListen)
  else (app.listen as unknown as ListenWithHost).call(app, host, port, 1, onListen)
  if (listenSocket === false) {
    app.close()
    throw new Error(`Cannot listen on "${address}": address already in use or not available`)
  }
  return listenSocket as us_listen_socket
}

/** Count the connections of an app, and cut those for which there is no room as they come. */
function countConnections(app: TemplatedApp, connections: Connections): void {
  const count: Parameters<TemplatedApp['filter']>[0] = (response, change) => {
    if (change === -1) connections.closed()
    else if (!connections.opened(formatAddress(response.getRemoteAddress()))) response.close()
  }
  app.filter(count)
}

/** Bind one listener. Throws when the address is malformed or taken. */
export function listen(
  address: string,
  handlers: ListenerHandlers,
  tls: ListenerTls | null = null,
): Listener {
  const parsed = parseListenAddress(address)
  if (parsed === null) throw new Error(`Cannot listen on "${address}": expected host:port`)
  const uws = loadUwsLibrary()
  const app =
    tls === null ? uws.App() : uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile })
  let lastSocketId = 0
  const turns = new SocketTurns()
  const sockets: SocketsOfListener = {
    open: new Set(),
    behind: new Set(),
    turns,
    flooded: 0,
    connections: handlers.connections ?? null,
    nextId: () => ++lastSocketId,
  }
  const anchor = new Anchor()
  if (handlers.connections !== undefined) countConnections(app, handlers.connections)
  for (const route of handlers.sockets) registerSocket(app, route, sockets, anchor)
  const requests = serveRequests(app, handlers, anchor)
  const bound = bind(app, address, parsed)
  const port = uws.us_socket_local_port(bound)
  if (handlers.sockets.length > 0) anchor.connect(parsed.host, port, tls !== null)
  let isListening = true
  let cutForQuiet = 0
  return {
    port,
    stopListening() {
      if (isListening) uws.us_listen_socket_close(bound)
      isListening = false
    },
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
      app.close()
      turns.finish()
    },
  }
}
