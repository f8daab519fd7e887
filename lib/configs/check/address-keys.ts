import { lastName } from '../yaml/value.ts'

const ADDRESS_KEYS: ReadonlySet<string> = new Set(['endpoint', 'url', 'server', 'address', 'listen_address'])

/** Such as `traces_endpoint`, which wins over `endpoint`, and `proxy_url`, through which all goes. */
const ADDRESS_ENDS = /_(?:endpoint|url)$/

/** Whether a component's setting of this name is an address that it listens on or sends to; in any case of letters. */
export function isAddressKey(key: string): boolean {
  const name = lastName(key).toLowerCase()
  return ADDRESS_KEYS.has(name) || ADDRESS_ENDS.test(name)
}
