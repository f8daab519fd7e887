import type { Clock } from '../../clock.ts'
import { Lately } from './lately.ts'

/**
 * Which refusals of sign-ins are recorded already. Whoever has an account at the provider, and none here, can be refused
 * as often as he likes, and the audit trail is for good.
 */
export interface SaidRefusals {
  /** Whether a person was refused for this reason within the last minute; from now on that is so. */
  say(reason: string, issuer: string, subject: string): boolean
  /** It was not recorded after all. */
  forget(reason: string, issuer: string, subject: string): void
}

/** Refusals that are remembered; when there are more, the one that was recorded first is forgotten. */
export const SAID_REFUSALS_MAX = 10_000
/** How long one record stands for those like it. */
const SAID_MS = 60_000

const keyOf = (...parts: string[]): string => JSON.stringify(parts)

/** Nobody was refused yet. */
export function openSaidRefusals(clock: Clock): SaidRefusals {
  const said = new Lately(clock, { lifetimeMs: SAID_MS, most: SAID_REFUSALS_MAX })
  return {
    say: (...refusal) => !said.note(keyOf(...refusal)),
    forget: (...refusal) => said.forget(keyOf(...refusal)),
  }
}
