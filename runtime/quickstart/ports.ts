import { createServer } from 'node:net'
import { parseListenAddress } from '../listen-address.ts'

/** An address to listen on; `busyPort` is the port that was preferred where that was taken, else null. */
export interface ChosenAddress {
  host: string
  port: number
  busyPort: number | null
}

const PORTS_TRIED = 50

/** Where what listens there is reached from this host: `localhost:8080`. */
export function reachAt({ host, port }: Pick<ChosenAddress, 'host' | 'port'>): string {
  const isHere = host === '' || host === '0.0.0.0' || host === '::' || host === '127.0.0.1'
  return `${isHere ? 'localhost' : host}:${port}`
}

/** Whether nothing listens there. */
export function isPortFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false)
      else reject(error)
    })
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/** A port nobody listens on, chosen by the system. */
export function findFreePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host, port: 0 }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

/**
 * Choose where to listen. An address that was asked for (`asked`, from the variable `name`) must be free; our
 * own preference gives way to the next free port.
 */
export async function chooseAddress(
  name: string,
  asked: string | undefined,
  preferredPort: number,
  taken: readonly number[] = [],
): Promise<ChosenAddress> {
  if (asked !== undefined && asked !== '') {
    const parsed = parseListenAddress(asked)
    if (parsed === null) throw new Error(`${name} must be host:port or :port, found "${asked}"`)
    if (!(await isPortFree(parsed.host || '0.0.0.0', parsed.port)))
      throw new Error(
        `Port ${parsed.port} of ${name} is taken: stop what listens there or set ${name} to another`,
      )
    return { ...parsed, busyPort: null }
  }
  const host = '127.0.0.1'
  for (let port = preferredPort; port < preferredPort + PORTS_TRIED; port++) {
    if (taken.includes(port) || !(await isPortFree(host, port))) continue
    return { host, port, busyPort: port === preferredPort ? null : preferredPort }
  }
  throw new Error(`No free port from ${preferredPort} on: set ${name}`)
}
