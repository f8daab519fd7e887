import type { LoginLimit } from './login-limit.ts'
import type { CallbackOutcome, Refusal } from './oidc/oidc.ts'

/** Refusals of somebody for whom the provider has vouched, or for whom it was not asked: no guesses. */
const NO_GUESS: ReadonlySet<Refusal['code']> = new Set([
  'groups-overage',
  'no-group',
  'link-requested',
  'name-taken',
  'audit-unavailable',
  'sign-in-lost',
])

/**
 * Ask the provider about a callback, where an address whose callbacks fail there too often has to wait. Only what came of
 * a sign-in that was begun here gets so far: behind a proxy whose word does not count everybody has one address, and
 * whoever calls without one would lock all of them out.
 */
export async function limitExchange(
  limit: LoginLimit,
  address: string,
  exchange: () => Promise<CallbackOutcome>,
): Promise<CallbackOutcome> {
  const begun = limit.begin(address, '')
  if (!begun.ok) return { ok: false, refusal: { code: 'login-limited' } }
  try {
    const outcome = await exchange()
    if (outcome.ok || NO_GUESS.has(outcome.refusal.code)) begun.attempt.cancel()
    else begun.attempt.fail()
    return outcome
  } catch (error) {
    begun.attempt.cancel()
    throw error
  }
}
