import type { Clock } from '../clock.ts'
import { FairPlaces } from './fair-places.ts'
import { openLoginLimit, toNetwork } from './login-limit.ts'
import type { CallbackOutcome, OnGone } from './oidc/oidc.ts'

const ALL_MAX = 100
/** How many wait for one of these places, of all addresses. */
const WAITING_FOR_PLACE_MAX = 200
const OF_ADDRESS_MAX = 20
/** How many wait for their turn, of all addresses whose callbacks take turns. */
const WAITING_MAX = 400
/** After so many failures within a minute the callbacks of an address are asked about one at a time. */
const FAILURES_MAX = 30

const LIMITED: CallbackOutcome = { ok: false, refusal: { code: 'login-limited' } }

/**
 * Asks the provider about a callback from an address, where not too many are asked about already. `onGone` has something
 * run when the sender has left: its callback waits no longer then.
 */
export type CallbackRoom = (
  address: string,
  exchange: () => Promise<CallbackOutcome>,
  onGone?: OnGone,
) => Promise<CallbackOutcome>

/** The callbacks of one address. */
interface Place {
  /** Those that are asked about or wait for it. */
  count: number
  /** Whether one of those that take turns is asked about. */
  isTaken: boolean
  /** Those that wait for their turn, the first that came first: each is told whether it has it. */
  readonly waiting: Set<(isTurn: boolean) => void>
}

/**
 * Room for the callbacks that are asked about at once. Whose failed before is not shut out: there is nothing to guess,
 * since each sign-in comes back once, with a code that the provider made; and where a proxy gives everybody one address,
 * whoever lets sign-ins of his own fail would lock all of them out. They take turns, so that the provider, which bounds
 * what muster may ask it, is not asked hundreds of times a second by a stranger; and each waits for its turn, as a
 * stranger's are under way nearly always. Where no more may wait, who comes pushes out the one that has waited longest, and
 * who leaves gives up his place: however many a stranger sent, or left behind, another one gets in. Where as many are asked
 * about as may be, others wait as well, and the networks take turns: hundreds of a stranger's keep no other one out.
 *
 * Nothing tells a stranger's from those of others at his address, so what is promised is the same chance for each: where
 * more come than the provider answers, those that are asked about are as large a part of all that come. A stranger who
 * sends fewer than twenty in the time of one answer keeps nobody from his turn for good, if he tries again; one who sends
 * a thousand leaves others one turn in as many, and only a proxy that says who is who helps against that.
 */
export function openCallbackRoom(clock: Clock): CallbackRoom {
  const failures = openLoginLimit({ clock, perAccount: FAILURES_MAX, perAddress: FAILURES_MAX })
  const here = new Map<string, Place>()
  const waitForTurn = openTurns()
  const places = new FairPlaces(ALL_MAX, WAITING_FOR_PLACE_MAX)

  async function inTurn(
    place: Place,
    ask: () => Promise<CallbackOutcome>,
    onGone: OnGone,
  ): Promise<CallbackOutcome> {
    if (place.isTaken && !(await waitForTurn(place, onGone))) return LIMITED
    place.isTaken = true
    try {
      return await ask()
    } finally {
      const [next] = place.waiting
      // The place stays taken until that one is asked about: nobody comes in between.
      if (next) next(true)
      else place.isTaken = false
    }
  }

  return async (address, exchange, onGone = () => {}) => {
    const key = toNetwork(address)
    const place = here.get(key) ?? { count: 0, isTaken: false, waiting: new Set() }
    if (place.count >= OF_ADDRESS_MAX && !pushOut(place)) return LIMITED
    const begun = failures.begin(address, '')
    here.set(key, place)
    place.count++
    let isAsked = false
    let isOk = false
    const askProvider = () => {
      isAsked = true
      return exchange()
    }
    const ask = async () => (await places.within(key, onGone, askProvider)) ?? LIMITED
    try {
      const outcome = await (begun.ok ? ask() : inTurn(place, ask, onGone))
      isOk = outcome.ok
      return outcome
    } finally {
      // Who only waited, and gave way or left, has failed at nothing.
      if (begun.ok && (isOk || !isAsked)) begun.attempt.cancel()
      else if (begun.ok) begun.attempt.fail()
      place.count--
      if (place.count === 0) here.delete(key)
    }
  }
}

/** Lets callbacks wait for their turn at an address; each learns whether it has come. */
function openTurns(): (place: Place, onGone: OnGone) => Promise<boolean> {
  let all = 0
  return async (place, onGone) => {
    if (all >= WAITING_MAX && !pushOut(place)) return false
    return new Promise((resolve) => {
      const tell = (isTurn: boolean): void => {
        if (!place.waiting.delete(tell)) return
        all--
        resolve(isTurn)
      }
      place.waiting.add(tell)
      all++
      onGone(() => tell(false))
    })
  }
}

/** Refuse the callback that has waited longest at an address; false where none waits there. */
function pushOut({ waiting }: Place): boolean {
  const [longest] = waiting
  longest?.(false)
  return longest !== undefined
}
