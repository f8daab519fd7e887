import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import { parseUrl } from '../../lib/model/parse-url.ts'
import { parseListenAddress } from '../listen-address.ts'

/** How long what a name led to is gone by, before it is looked up anew. */
const FRESH_MS = 30_000

/** What a name leads to; rejects where nobody can say. */
export type LookUp = (host: string) => Promise<readonly { address: string }[]>

/** A host that a member is reached at. */
interface Host {
  addresses: readonly string[]
  askedMs: number
}

/** Keeps from which addresses members may call: those at which they say that they are reached. */
export class MemberAddresses {
  readonly #clock: Clock
  readonly #lookUp: LookUp
  readonly #hosts = new Map<string, Host>()

  constructor(clock: Clock, lookUp: LookUp = (host) => lookup(host, { all: true })) {
    this.#clock = clock
    this.#lookUp = lookUp
  }

  /** These are the members' addresses now, as `host:port`. */
  note(addresses: Iterable<string>): void {
    const hosts = new Set<string>()
    for (const address of addresses) {
      const host = parseListenAddress(address)?.host ?? ''
      if (host !== '') hosts.add(host)
    }
    for (const host of this.#hosts.keys()) if (!hosts.has(host)) this.#hosts.delete(host)
    for (const host of hosts) this.#look(host)
  }

  has(address: string): boolean {
    for (const { addresses } of this.#hosts.values()) if (addresses.includes(address)) return true
    return false
  }

  #look(name: string): void {
    const nowMs = this.#clock.monotonicMs()
    let host = this.#hosts.get(name)
    if (host === undefined) {
      host = { addresses: isIP(name) === 0 ? [] : [toCanonical(name)], askedMs: Number.NEGATIVE_INFINITY }
      this.#hosts.set(name, host)
    }
    if (isIP(name) !== 0 || nowMs - host.askedMs < FRESH_MS) return
    host.askedMs = nowMs
    void this.#resolve(name, host)
  }

  async #resolve(name: string, host: Host): Promise<void> {
    try {
      const found = await this.#lookUp(name)
      host.addresses = found.map(({ address }) => toCanonical(address))
    } catch {
      // What the name led to before is gone by until it can be looked up again.
    }
  }
}

/** The one form of an address in which listeners name their peers. */
function toCanonical(address: string): string {
  const url = isIP(address) === 6 ? `http://[${address}]/` : ''
  return parseUrl(url)?.hostname.slice(1, -1) ?? address
}
