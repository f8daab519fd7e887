import { isIPv6 } from 'node:net'
import type { Clock } from '../clock.ts'

/** An attempt that was let through. Exactly one of its methods must be called once it is over. */
export interface LoginAttempt {
  /** Wrong credentials: counts. */
  fail(): void
  /** Right credentials: forgets the failures of this e-mail at this address. */
  succeed(): void
  /** Neither: the attempt could not be judged. */
  cancel(): void
}

/** Slows down guessing; attempts in flight count as failures until they are over. */
export interface LoginLimit {
  begin(
    address: string,
    emailKey: string,
  ): { ok: true; attempt: LoginAttempt } | { ok: false; retryAfterS: number }
}

export interface LoginLimitOptions {
  clock: Clock
  windowMs?: number
  /** Failures in a window of one address with one e-mail. */
  perAccount?: number
  /** Failures in a window of one address, whatever the e-mail. */
  perAddress?: number
  /** Entries kept; beyond it the oldest goes. */
  entriesMax?: number
}

interface Bucket {
  failures: number
  inFlight: number
  /** When the first failure of the window came. */
  sinceMs: number
}

/** A limit with an empty table. */
export function openLoginLimit(options: LoginLimitOptions): LoginLimit {
  const { clock, windowMs = 60_000, perAccount = 5, perAddress = 30, entriesMax = 10_000 } = options
  const buckets = new Map<string, Bucket>()

  function find(key: string, nowMs: number): Bucket {
    const known = buckets.get(key)
    if (known) {
      if (known.failures > 0 && nowMs - known.sinceMs >= windowMs) known.failures = 0
      return known
    }
    if (buckets.size >= entriesMax) evict(buckets)
    const fresh = { failures: 0, inFlight: 0, sinceMs: nowMs }
    buckets.set(key, fresh)
    return fresh
  }

  function settle(key: string, outcome: 'failed' | 'succeeded' | 'cancelled'): void {
    const bucket = buckets.get(key)
    if (!bucket) return
    bucket.inFlight = Math.max(0, bucket.inFlight - 1)
    if (outcome === 'failed') {
      if (bucket.failures === 0) bucket.sinceMs = clock.monotonicMs()
      bucket.failures++
    }
    if (outcome === 'succeeded') bucket.failures = 0
    dropIfEmpty(key)
  }

  function dropIfEmpty(key: string): void {
    const bucket = buckets.get(key)
    if (bucket?.failures === 0 && bucket.inFlight === 0) buckets.delete(key)
  }

  return {
    begin(address, emailKey) {
      const nowMs = clock.monotonicMs()
      const network = toNetwork(address)
      const accountKey = `${network} ${emailKey}`
      const account = find(accountKey, nowMs)
      const place = find(network, nowMs)
      const refused = [
        { bucket: account, limit: perAccount },
        { bucket: place, limit: perAddress },
      ].filter(({ bucket, limit }) => bucket.failures + bucket.inFlight >= limit)
      if (refused.length > 0) {
        for (const key of [accountKey, network]) dropIfEmpty(key)
        const waits = refused.map(({ bucket }) =>
          // Where only attempts in flight are in the way, they will be over soon.
          bucket.failures === 0 ? 1_000 : bucket.sinceMs + windowMs - nowMs,
        )
        return { ok: false, retryAfterS: Math.max(1, Math.ceil(Math.max(...waits) / 1_000)) }
      }
      account.inFlight++
      place.inFlight++
      return {
        ok: true,
        attempt: {
          fail() {
            settle(accountKey, 'failed')
            settle(network, 'failed')
          },
          succeed() {
            settle(accountKey, 'succeeded')
            // One known password must not reset what an address did to all other accounts.
            settle(network, 'cancelled')
          },
          cancel() {
            settle(accountKey, 'cancelled')
            settle(network, 'cancelled')
          },
        },
      }
    },
  }
}

/** Drop the oldest entry that nobody is using. */
function evict(buckets: Map<string, Bucket>): void {
  for (const [key, bucket] of buckets) {
    if (bucket.inFlight > 0) continue
    buckets.delete(key)
    return
  }
}

/** What counts as one address: an IPv4 address, or the /64 that one IPv6 customer has. */
export function toNetwork(address: string): string {
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped) return mapped
  const [head = '', tail] = address.split('%')[0]!.toLowerCase().split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length)
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...back]
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
