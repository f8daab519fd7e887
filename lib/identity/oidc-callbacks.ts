import type { LoginLimit } from './login-limit.ts'
import type { Oidc, Refusal } from './oidc/oidc.ts'

/** Refusals of somebody for whom the provider has vouched: no guesses. */
const OF_THE_PERSON: ReadonlySet<Refusal['code']> = new Set([
  'groups-overage',
  'no-group',
  'link-requested',
  'name-taken',
  'audit-unavailable',
])

/** The same sign-in, where an address whose callbacks fail too often has to wait. */
export const limitCallbacks = (oidc: Oidc, limit: LoginLimit): Oidc => ({
  ...oidc,
  async finish(callback) {
    const begun = limit.begin(callback.address, '')
    if (!begun.ok) return { ok: false, refusal: { code: 'login-limited' } }
    try {
      const outcome = await oidc.finish(callback)
      if (outcome.ok || OF_THE_PERSON.has(outcome.refusal.code)) begun.attempt.cancel()
      else begun.attempt.fail()
      return outcome
    } catch (error) {
      begun.attempt.cancel()
      throw error
    }
  },
})
