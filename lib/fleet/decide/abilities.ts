import { AGENT_CAPABILITIES } from '../../opamp/report.ts'
import type { Offer } from './offer.ts'

/** May this instance be pushed to at all? */
export function isCapable(instance: { capabilities: number; isExcluded: boolean }): boolean {
  return (instance.capabilities & AGENT_CAPABILITIES.acceptsRemoteConfig) !== 0 && !instance.isExcluded
}

/** Does this instance ever say what became of a config? */
export function canReport(instance: { capabilities: number }): boolean {
  return (instance.capabilities & AGENT_CAPABILITIES.reportsRemoteConfig) !== 0
}

/** Does this instance say how healthy it is? */
export function saysHealth(instance: { capabilities: number }): boolean {
  return (instance.capabilities & AGENT_CAPABILITIES.reportsHealth) !== 0
}

/** True while an offer that was sent to this instance has neither been applied nor failed. */
export function hasOutstandingOffer(instance: { offer: Offer | null }): boolean {
  return instance.offer !== null && instance.offer.ended === null && instance.offer.lastSentAtMs !== null
}
