import { AGENT_CAPABILITIES, type AgentReport } from '../../opamp/report.ts'
import { canReport } from '../decide/abilities.ts'
import type { Instance } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'
import { FULL_STATE_BURST, FULL_STATE_REFILL_MS } from './new-instance.ts'

/**
 * May there be more to say than a report with a description says? No connection tells a poller that we were away: it
 * goes on with what has changed since its last words, which may have been to a process that is gone, or lost. Asked of
 * one that was heard of before, when it lacks something that it announces.
 */
export function isPart(report: AgentReport, capabilities: number): boolean {
  const announces = (capability: number) => (capabilities & capability) !== 0
  return (
    report.attributes !== null &&
    ((report.remoteConfigStatus === null && announces(AGENT_CAPABILITIES.reportsRemoteConfig)) ||
      (report.effectiveConfig === null && announces(AGENT_CAPABILITIES.reportsEffectiveConfig)) ||
      (report.health === null && announces(AGENT_CAPABILITIES.reportsHealth)))
  )
}

/** Is this instance to be asked for its full state now? Notes that it is. */
export function askFullState(
  { deps, state }: Pick<FleetParts, 'deps' | 'state'>,
  instance: Instance,
  { hasGap, isRetransmission }: { hasGap: boolean; isRetransmission: boolean },
): boolean {
  const isMissing = !instance.isDescribed || (!instance.reported.isKnown && canReport(instance))
  // A poller that was asked and goes on as if it was not may never have got the answer.
  const mayBeLost = isRetransmission || (isMissing && instance.connection?.transport === 'http')
  const isDue = hasGap || (instance.hasAskedFullState ? mayBeLost : isMissing)
  const nowMs = deps.clock.monotonicMs()
  if (!isDue || !takeToken(instance, nowMs)) return false
  // What is waited for is waited for since it was asked first.
  if (!instance.hasAskedFullState) instance.fullStateAskedMs = nowMs
  if (instance.workload !== null && !instance.reported.isKnown) state.unknownReported.add(instance)
  return true
}

/** An agent may be asked for its full state a few times at once, and then only every so often. */
function takeToken(instance: Instance, nowMs: number): boolean {
  const refill = Math.floor((nowMs - instance.fullStateTokenMs) / FULL_STATE_REFILL_MS)
  const tokens = Math.min(FULL_STATE_BURST, instance.fullStateTokens + refill)
  if (tokens === 0) return false
  instance.fullStateTokens = tokens - 1
  instance.fullStateTokenMs = nowMs
  return true
}
