import type { Notices } from '../../runtime/compose.ts'

/** Notices that go to the hub and after it to a listener. */
export function alsoTelling(hub: Notices, listener: Partial<Notices>): Notices {
  const both =
    <Name extends keyof Notices>(name: Name) =>
    (...what: Parameters<Notices[Name]>) => {
      ;(hub[name] as (...args: Parameters<Notices[Name]>) => void)(...what)
      ;(listener[name] as ((...args: Parameters<Notices[Name]>) => void) | undefined)?.(...what)
    }
  return {
    workloadChanged: both('workloadChanged'),
    workloadRemoved: both('workloadRemoved'),
    eventStored: both('eventStored'),
    configStatusReported: both('configStatusReported'),
    pushChanged: both('pushChanged'),
    offerSent: both('offerSent'),
    alertsResolved: both('alertsResolved'),
    requestsRetired: both('requestsRetired'),
    autoRolledBack: both('autoRolledBack'),
    fired: both('fired'),
    resolved: both('resolved'),
    restated: both('restated'),
  }
}
