import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { Clock } from '../clock.ts'

/** An attempt that was let through. Exactly one of its methods must be called once it is over. */
export interface LoginAttempt {
  /** The credentials were wrong: counts as a failure. */
  fail(): void
  /** The credentials were right: forgets the failures of this e-mail at this address. */
  succeed(): void
  /** The attempt could not be judged: it counts as neither. */
  cancel(): void
}

/** Slows down guessing; attempts in flight count as failures until they are over. */
export interface LoginLimit {
  begin(
    address: string,
    emailKey: string,
  ): { ok: true; attempt: LoginAttempt } | { ok: false; retryAfterS: number }
  /** Forget what is older than the window; returns how many entries are left. */
  trim(): number
}

/** The bounds of a login limit; the defaults are those for passwords. */
export interface LoginLimitOptions {
  clock: Clock
  windowMs?: number
  /** Failures allowed in a window for one address with one e-mail. */
  perAccount?: number
  /** Failures allowed in a window for one address, whatever the e-mail. */
  perAddress?: number
  /** Buckets kept; when there are more, the one whose window began first is dropped. */
  entriesMax?: number
}

type Outcome = 'failed' | 'succeeded' | 'cancelled'

const SOON_MS = 1_000

interface Bucket {
  failures: number
  inFlight: number
  /** When the first failure of the window came. */
  sinceMs: number
}

/** The buckets by key, in the order in which their windows began: those whose window is over come first. */
class Buckets {
  readonly #buckets = new Map<string, Bucket>()
  readonly #windowMs: number
  readonly #entriesMax: number

  constructor(windowMs: number, entriesMax: number) {
    this.#windowMs = windowMs
    this.#entriesMax = entriesMax
  }

  get size(): number {
    return this.#buckets.size
  }

  /** Forget the failures whose window is over. */
  trim(nowMs: number): void {
    for (const [key, bucket] of this.#buckets) {
      if (bucket.failures > 0 && !this.#isOver(bucket, nowMs)) return
      bucket.failures = 0
      this.drop(key)
    }
  }

  /** The bucket of a key, made where there is none; null when the table is full of buckets with attempts in flight. */
  find(key: string, nowMs: number): Bucket | null {
    const known = this.#buckets.get(key)
    if (known) return known
    if (this.#buckets.size >= this.#entriesMax && !this.#evict()) return null
    const fresh = { failures: 0, inFlight: 0, sinceMs: nowMs }
    this.#buckets.set(key, fresh)
    return fresh
  }

  finish(key: string, outcome: Outcome, nowMs: number): void {
    const bucket = this.#buckets.get(key)
    if (!bucket) return
    bucket.inFlight = Math.max(0, bucket.inFlight - 1)
    if (outcome === 'succeeded') bucket.failures = 0
    if (outcome === 'failed') {
      if (bucket.failures === 0 || this.#isOver(bucket, nowMs)) {
        bucket.failures = 0
        bucket.sinceMs = nowMs
        this.#buckets.delete(key)
        this.#buckets.set(key, bucket)
      }
      bucket.failures++
    }
    this.drop(key)
  }

  /** Forget a bucket that holds nothing. */
  drop(key: string): void {
    const bucket = this.#buckets.get(key)
    if (bucket?.failures === 0 && bucket.inFlight === 0) this.#buckets.delete(key)
  }

  #isOver(bucket: Bucket, nowMs: number): boolean {
    return bucket.failures > 0 && nowMs - bucket.sinceMs >= this.#windowMs
  }

  /** Drop the oldest bucket without an attempt in flight; false when there is none. */
  #evict(): boolean {
    for (const [key, bucket] of this.#buckets) {
      if (bucket.inFlight > 0) continue
      this.#buckets.delete(key)
      return true
    }
    return false
  }
}

/**
 * A limit with an empty table. Addresses and e-mails are kept as hashes, so that all keys have one length, whatever a
 * stranger sends.
 */
export function openLoginLimit(options: LoginLimitOptions): LoginLimit {
  const { clock, windowMs = 60_000, perAccount = 5, perAddress = 30, entriesMax = 10_000 } = options
  const buckets = new Buckets(windowMs, entriesMax)

  /** How many milliseconds to wait before the next attempt; 0 when it may be made now. */
  function waitMs(account: Bucket, place: Bucket, nowMs: number): number {
    const refused = [
      { bucket: account, limit: perAccount },
      { bucket: place, limit: perAddress },
    ].filter(({ bucket, limit }) => bucket.failures + bucket.inFlight >= limit)
    // Where only attempts in flight fill the bucket, one will be over soon.
    const waits = refused.map(({ bucket }) =>
      bucket.failures === 0 ? SOON_MS : bucket.sinceMs + windowMs - nowMs,
    )
    return Math.max(0, ...waits)
  }

  return {
    begin(address, emailKey) {
      const nowMs = clock.monotonicMs()
      buckets.trim(nowMs)
      const network = toNetwork(address)
      const placeKey = hashed(network)
      const accountKey = hashed(`${network} ${emailKey}`)
      const place = buckets.find(placeKey, nowMs)
      // Counted as in flight for a moment, so that making room for the bucket of the account does not drop this one.
      if (place) place.inFlight++
      const account = place && buckets.find(accountKey, nowMs)
      if (place) place.inFlight--
      const wait = place && account ? waitMs(account, place, nowMs) : SOON_MS
      if (!place || !account || wait > 0) {
        for (const key of [accountKey, placeKey]) buckets.drop(key)
        return { ok: false, retryAfterS: Math.max(1, Math.ceil(wait / 1_000)) }
      }
      account.inFlight++
      place.inFlight++
      const settle = (ofAccount: Outcome, ofPlace: Outcome) => {
        buckets.finish(accountKey, ofAccount, clock.monotonicMs())
        buckets.finish(placeKey, ofPlace, clock.monotonicMs())
      }
      return {
        ok: true,
        attempt: {
          fail: () => settle('failed', 'failed'),
          // One known password must not reset what an address did to all other accounts.
          succeed: () => settle('succeeded', 'cancelled'),
          cancel: () => settle('cancelled', 'cancelled'),
        },
      }
    },
    trim() {
      buckets.trim(clock.monotonicMs())
      return buckets.size
    },
  }
}

const hashed = (name: string): string => createHash('sha256').update(name).digest('base64url')

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
