import { createRequire } from 'node:module'
import type * as Uws from 'uws-node-20-22'

export type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_listen_socket,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from 'uws-node-20-22'

/** What this service uses of uWebSockets.js. */
export type UwsLibrary = Pick<
  typeof Uws,
  'App' | 'SSLApp' | 'us_listen_socket_close' | 'us_socket_local_port'
>

/**
 * A checkout has the library as packages. A bundle has it beside itself and looks nowhere else: the folders above the
 * one that it lies in, or unpacked itself into, may be anybody's.
 */
const PACKAGES = import.meta.url.endsWith('/runtime/uws-library.ts')
  ? ['uws-node-20-22', 'uws-node-22-26']
  : []

const NODE_VERSIONS = '20, 22, 24 and 26'

/**
 * Load the native socket library that fits this Node version: the file beside the bundle, or in a checkout one of
 * the two installed packages (each carries other Node versions).
 */
export function loadUwsLibrary(): UwsLibrary {
  // Read by the native code when it first parses a request: its own default of 4 KiB is too small for
  // a token and a cookie together.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384'
  const require = createRequire(import.meta.url)
  const bundled = `./uws_${process.platform}_${process.arch}_${process.versions.modules}.node`
  const failures: string[] = []
  for (const name of [bundled, ...PACKAGES]) {
    try {
      return require(name) as UwsLibrary
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`)
    }
  }
  throw new Error(
    `Cannot load the socket library on Node ${process.versions.node} (${process.platform} ${process.arch}): ` +
      `it is built for Node ${NODE_VERSIONS} on glibc Linux and macOS. Tried ${failures.join('; ')}`,
  )
}
