import type { Clock } from '../clock.ts'
import { KeyedMutex } from '../keyed-mutex.ts'
import { openLoginLimit, toNetwork } from './login-limit.ts'
import type { CallbackOutcome } from './oidc/oidc.ts'

const ALL_MAX = 100
const OF_ADDRESS_MAX = 20
/** How many wait for their turn, of all addresses whose callbacks take turns. */
const WAITING_MAX = 400
/** After so many failures within a minute the callbacks of an address are asked about one at a time. */
const FAILURES_MAX = 30

const LIMITED: CallbackOutcome = { ok: false, refusal: { code: 'login-limited' } }

/** Asks the provider about a callback from an address, where not too many are asked about already. */
export type CallbackRoom = (
  address: string,
  exchange: () => Promise<CallbackOutcome>,
) => Promise<CallbackOutcome>

/**
 * Room for the callbacks that are asked about at once. Whose failed before is not shut out: there is nothing to guess,
 * since each sign-in comes back once, with a code that the provider made; and where a proxy gives everybody one address,
 * whoever lets sign-ins of his own fail would lock all of them out. They take turns, so that the provider, which bounds
 * what muster may ask it, is not asked hundreds of times a second by a stranger; and each waits for its turn, as a
 * stranger's are under way nearly always.
 */
export function openCallbackRoom(clock: Clock): CallbackRoom {
  const failures = openLoginLimit({ clock, perAccount: FAILURES_MAX, perAddress: FAILURES_MAX })
  const turns = new KeyedMutex()
  /** Those that are asked about or wait for it. */
  const here = new Map<string, number>()
  let waiting = 0
  let all = 0

  const ask: CallbackRoom = async (_, exchange) => {
    if (all >= ALL_MAX) return LIMITED
    all++
    try {
      return await exchange()
    } finally {
      all--
    }
  }
  const inTurn: CallbackRoom = async (place, exchange) => {
    if (waiting >= WAITING_MAX) return LIMITED
    waiting++
    return turns.run(place, () => {
      waiting--
      return ask(place, exchange)
    })
  }
  return async (address, exchange) => {
    const place = toNetwork(address)
    const count = here.get(place) ?? 0
    if (count >= OF_ADDRESS_MAX || all >= ALL_MAX) return LIMITED
    const begun = failures.begin(address, '')
    here.set(place, count + 1)
    let isOk = false
    try {
      const outcome = await (begun.ok ? ask : inTurn)(place, exchange)
      isOk = outcome.ok
      return outcome
    } finally {
      if (begun.ok && isOk) begun.attempt.cancel()
      else if (begun.ok) begun.attempt.fail()
      const left = here.get(place)! - 1
      if (left === 0) here.delete(place)
      else here.set(place, left)
    }
  }
}
