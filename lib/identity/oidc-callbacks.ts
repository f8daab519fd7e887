import type { Clock } from '../clock.ts'
import { openLoginLimit, toNetwork } from './login-limit.ts'
import type { CallbackOutcome } from './oidc/oidc.ts'

const ALL_MAX = 100
const OF_ADDRESS_MAX = 20
/** After so many failures within a minute the callbacks of an address are asked about one at a time. */
const FAILURES_MAX = 30

/** Asks the provider about a callback from an address, where not too many are asked about already. */
export type CallbackRoom = (
  address: string,
  exchange: () => Promise<CallbackOutcome>,
) => Promise<CallbackOutcome>

/**
 * Room for the callbacks that are asked about at once. Whose failed before is not shut out: there is nothing to guess,
 * since each sign-in comes back once, with a code that the provider made; and where a proxy gives everybody one address,
 * whoever lets sign-ins of his own fail would lock all of them out. They take turns, so that the provider, which bounds
 * what muster may ask it, is not asked hundreds of times a second by a stranger.
 */
export function openCallbackRoom(clock: Clock): CallbackRoom {
  const failures = openLoginLimit({ clock, perAccount: FAILURES_MAX, perAddress: FAILURES_MAX })
  const underWay = new Map<string, number>()
  let all = 0
  return async (address, exchange) => {
    const place = toNetwork(address)
    const here = underWay.get(place) ?? 0
    const limited: CallbackOutcome = { ok: false, refusal: { code: 'login-limited' } }
    if (all >= ALL_MAX || here >= OF_ADDRESS_MAX) return limited
    const begun = failures.begin(address, '')
    if (!begun.ok && here > 0) return limited
    const attempt = begun.ok ? begun.attempt : null
    underWay.set(place, here + 1)
    all++
    let isOk = false
    try {
      const outcome = await exchange()
      isOk = outcome.ok
      return outcome
    } finally {
      if (isOk) attempt?.cancel()
      else attempt?.fail()
      all--
      const left = underWay.get(place)! - 1
      if (left === 0) underWay.delete(place)
      else underWay.set(place, left)
    }
  }
}
