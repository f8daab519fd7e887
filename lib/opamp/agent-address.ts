import { parseUrl } from '../model/parse-url.ts'

/** Where agents connect to, on the listener that is theirs. */
export const OPAMP_PATH = '/v1/opamp'
const DEFAULT_PORT = '4320'

interface KnownAddresses {
  /** The address for agents; empty where none is set. */
  agentUrl: string
  /** The public address of the console; empty where none is set. */
  publicUrl: string
  /** Where the listener of the agents was told to listen, such as `:4320`. */
  opampAddress: string
  /** The Host header of whoever asks, which may be anything. */
  requestHost: string
  isSecure: boolean
}

/** The host of a Host header, without its port; `localhost` where it holds anything else. */
function hostOf(header: string): string {
  if (!/^[\w.:[\]-]+$/.test(header)) return 'localhost'
  return parseUrl(`http://${header}`)?.hostname ?? 'localhost'
}

/** The address that a new collector connects to, by WebSocket, as far as this service can know it. */
export function agentAddress(known: KnownAddresses): {
  url: string
  host_from: 'agent_url' | 'public_url' | 'request'
} {
  if (known.agentUrl !== '') return { url: known.agentUrl, host_from: 'agent_url' }
  const told = known.publicUrl === '' ? null : new URL(known.publicUrl)
  const isSecure = told === null ? known.isSecure : told.protocol === 'https:'
  const host = told?.hostname ?? hostOf(known.requestHost)
  const port = /:(\d+)$/.exec(known.opampAddress)?.[1] ?? DEFAULT_PORT
  return {
    url: `${isSecure ? 'wss' : 'ws'}://${host}:${port}${OPAMP_PATH}`,
    host_from: told === null ? 'request' : 'public_url',
  }
}
