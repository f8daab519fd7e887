import type { ConfigReader } from '../../opamp/fleet-port.ts'
import { AGENT_CAPABILITIES, type AgentReport } from '../../opamp/report.ts'
import { canReport } from '../decide/abilities.ts'
import type { Instance } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'
import { FULL_STATE_TOKENS, tokensLeft } from './tokens.ts'

/**
 * May a report with a description still be less than the full state? A poller does not notice that muster restarted or
 * that a message was lost: it goes on sending only what has changed. So a report that lacks something that the agent's
 * capabilities announce counts as a part. Ask this only of an agent that was known before.
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

/**
 * Note which front reads the effective config of this report. Whether it is lost what the agent had said before: that was
 * to be read by a front that has no link any more, or that is not asked any more of what an agent with a socket elsewhere
 * runs. Where the agent has said everything since, there was nothing to read.
 */
export function noteConfigReader(
  instance: Instance,
  { effectiveConfig }: AgentReport,
  reader: ConfigReader | null,
  isWhole: boolean,
): boolean {
  const { configReader: former, connection } = instance
  const isLost =
    former !== null &&
    (connection?.transport === 'ws' ? reader?.memberId !== former.memberId : !former.isThere)
  if (effectiveConfig !== null) instance.configReader = reader
  else if (isLost && isWhole) instance.configReader = null
  return isLost && effectiveConfig === null
}

/** Is this instance to be asked for its full state now? If so, this counts as one request to it. */
export function askFullState(
  { deps, state }: Pick<FleetParts, 'deps' | 'state'>,
  instance: Instance,
  {
    hasGap,
    isConfigLost,
    isRetransmission,
  }: { hasGap: boolean; isConfigLost: boolean; isRetransmission: boolean },
): boolean {
  const isMissing =
    !instance.isDescribed || isConfigLost || (!instance.reported.isKnown && canReport(instance))
  // A poller that was asked and sends no full state may never have got the answer that asked it.
  const mayBeLost = isRetransmission || (isMissing && instance.connection?.transport === 'http')
  const isDue = hasGap || (instance.hasAskedFullState ? mayBeLost : isMissing)
  if (!isDue) return false
  const nowMs = deps.clock.heardMs()
  if (!takeToken(instance, nowMs)) return false
  // The wait counts from the first request, not from the newest.
  if (!instance.hasAskedFullState) instance.fullStateAskedMs = nowMs
  if (instance.workload !== null && !instance.reported.isKnown) state.unknownReported.add(instance)
  return true
}

/** An agent may be asked for its full state a few times at once, and then only every so often. */
function takeToken(instance: Instance, nowMs: number): boolean {
  const tokens = tokensLeft(FULL_STATE_TOKENS, instance.fullStateTokens, nowMs - instance.fullStateTokenMs)
  if (tokens === 0) return false
  instance.fullStateTokens = tokens - 1
  instance.fullStateTokenMs = nowMs
  return true
}
