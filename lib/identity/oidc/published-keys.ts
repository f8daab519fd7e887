import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose'
import type { Clock } from '../../clock.ts'

/** The provider's keys cannot be had now, so nothing can be said of a signature. */
export class KeysUnavailable extends Error {}

/** A key that is not known has the provider asked once in this time: any stranger can name one. */
const PAUSE_MS = 3_000
/** Signatures that wait for the end of that time. */
const WAITING_MAX = 50

interface Parts {
  clock: Clock
  timeoutMs: number
  fetch(url: string, init: RequestInit): Promise<Response>
  wait(ms: number): Promise<void>
}

/**
 * The keys that a provider publishes. Where a signature names one that is not known, they are asked for again before it
 * is refused: a provider that has just changed its key says a logout once, and it would be lost.
 */
export function openPublishedKeys(url: URL, { clock, timeoutMs, fetch, wait }: Parts): JWTVerifyGetKey {
  const published = createRemoteJWKSet(url, {
    timeoutDuration: timeoutMs,
    // When to ask again is decided here.
    cooldownDuration: Number.POSITIVE_INFINITY,
    [customFetch]: fetch,
  })
  let asks = 0
  let askedMs = Number.NEGATIVE_INFINITY
  let waiting = 0
  let next: Promise<void> | null = null

  async function ask(): Promise<void> {
    if (!published.reloading) {
      asks++
      askedMs = clock.monotonicMs()
    }
    try {
      await published.reload()
    } catch (cause) {
      throw new KeysUnavailable('Cannot fetch the keys of the identity provider', { cause })
    }
  }

  async function askAgain(): Promise<void> {
    const restMs = askedMs + PAUSE_MS - clock.monotonicMs()
    if (restMs <= 0) return ask()
    if (waiting >= WAITING_MAX)
      throw new KeysUnavailable('Too many wait for the keys of the identity provider')
    waiting++
    next ??= wait(restMs)
      .then(ask)
      .finally(() => {
        next = null
      })
    try {
      await next
    } finally {
      waiting--
    }
  }

  return async (header, token) => {
    const before = asks
    if (!published.fresh) await ask()
    try {
      return await published(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || asks > before) throw error
    }
    await askAgain()
    return published(header, token)
  }
}
