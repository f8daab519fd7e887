import { toNetwork } from './login-limit.ts'
import type { CallbackOutcome } from './oidc/oidc.ts'

const ALL_MAX = 100
const OF_ADDRESS_MAX = 20

/** Asks the provider about a callback from an address, where not too many are asked about already. */
export type CallbackRoom = (
  address: string,
  exchange: () => Promise<CallbackOutcome>,
) => Promise<CallbackOutcome>

/**
 * Room for the callbacks that are asked about at once. How many failed before does not count: there is nothing to guess,
 * since each sign-in comes back once, with a code that the provider made; and where a proxy gives everybody one address,
 * whoever lets sign-ins of his own fail would lock all of them out.
 */
export function openCallbackRoom(): CallbackRoom {
  const underWay = new Map<string, number>()
  let all = 0
  return async (address, exchange) => {
    const place = toNetwork(address)
    const here = underWay.get(place) ?? 0
    if (all >= ALL_MAX || here >= OF_ADDRESS_MAX) return { ok: false, refusal: { code: 'login-limited' } }
    underWay.set(place, here + 1)
    all++
    try {
      return await exchange()
    } finally {
      all--
      const left = underWay.get(place)! - 1
      if (left === 0) underWay.delete(place)
      else underWay.set(place, left)
    }
  }
}
