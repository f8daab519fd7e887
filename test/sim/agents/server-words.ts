import type { AgentReport, HealthNode, ServerMessage } from '../../../lib/opamp/report.ts'
import { agentBody, keyValues, type PlainMessage, readServerBody } from '../../support/opamp-messages.ts'

interface PlainAnswer {
  instanceUid?: Uint8Array
  flags?: number | string
  errorResponse?: { type?: number; errorMessage?: string }
  agentIdentification?: { newInstanceUid: Uint8Array }
  remoteConfig?: { configHash: Uint8Array; config: { configMap: Record<string, { body: Uint8Array }> } }
}

/** What the server says to one agent, as the agent reads it. */
export function readServerWords(body: Uint8Array): { uid: string; message: ServerMessage } {
  const plain = readServerBody(body) as PlainAnswer
  const flags = Number(plain.flags ?? 0)
  const message: ServerMessage = {
    reportFullState: (flags & 1) !== 0,
    reportAvailableComponents: (flags & 2) !== 0,
  }
  if (plain.errorResponse != null)
    message.errorResponse = { type: 'unavailable', message: plain.errorResponse.errorMessage ?? '' }
  if (plain.agentIdentification != null) message.newInstanceUid = plain.agentIdentification.newInstanceUid
  if (plain.remoteConfig != null) {
    const { body: text } = plain.remoteConfig.config.configMap['']!
    message.remoteConfig = { hash: plain.remoteConfig.configHash, body: text }
  }
  return { uid: Buffer.from(plain.instanceUid ?? []).toString('hex'), message }
}

const STATUSES = { unset: 0, applied: 1, applying: 2, failed: 3 } as const
const REQUESTS_UID = 1

/** A report as the bytes of an HTTP request. */
export function encodeReport(report: AgentReport): Uint8Array {
  const { attributes, health, effectiveConfig, remoteConfigStatus: status, components } = report
  return agentBody({
    instanceUid: report.uidOnWire,
    sequenceNum: report.sequenceNum,
    capabilities: report.capabilities,
    ...(report.requestsInstanceUid ? { flags: REQUESTS_UID } : {}),
    ...(report.isDisconnect ? { agentDisconnect: {} } : {}),
    ...(attributes === null
      ? {}
      : { agentDescription: { identifyingAttributes: keyValues(Object.fromEntries(attributes)) } }),
    ...(health === null ? {} : { health: toPlainHealth(health) }),
    ...(effectiveConfig === null
      ? {}
      : { effectiveConfig: { configMap: { configMap: Object.fromEntries(effectiveConfig.files) } } }),
    ...(status === null
      ? {}
      : {
          remoteConfigStatus: {
            lastRemoteConfigHash: Buffer.from(status.hash, 'hex'),
            status: STATUSES[status.status],
            errorMessage: status.errorMessage,
          },
        }),
    ...(components === null ? {} : { availableComponents: toPlainComponents(components) }),
  })
}

const toPlainHealth = (health: HealthNode): PlainMessage => ({
  healthy: health.healthy,
  status: health.status,
  lastError: health.lastError,
})

function toPlainComponents({ hash, components }: NonNullable<AgentReport['components']>): PlainMessage {
  const named = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, {}]))
  const categories = [...(components ?? [])].map(([category, types]) => [
    category,
    { subComponentMap: named(types) },
  ])
  return { hash: Buffer.from(hash, 'hex'), components: Object.fromEntries(categories) }
}
