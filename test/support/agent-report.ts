import type { AgentReport, HealthNode } from '../../lib/opamp/report.ts'
import { agentBody, keyValues, type PlainMessage } from './opamp-messages.ts'

/** The health report of a healthy agent, with the fields that tests look at. */
export const HEALTHY: HealthNode = {
  healthy: true,
  status: 'StatusOK',
  lastError: '',
  startTimeMs: null,
  statusTimeMs: null,
  children: new Map(),
}

/** A report that holds `part` and nothing else but what every message must have. */
export const reportOf = (
  uid: string,
  sequenceNum: number,
  part: Partial<AgentReport> & Pick<AgentReport, 'capabilities'>,
): AgentReport => ({
  uid,
  uidOnWire: new Uint8Array(Buffer.from(uid, 'hex')),
  sequenceNum,
  hasCapabilities: true,
  requestsInstanceUid: false,
  isDisconnect: false,
  attributes: null,
  health: null,
  effectiveConfig: null,
  remoteConfigStatus: null,
  components: null,
  ...part,
})

const STATUSES = { unset: 0, applied: 1, applying: 2, failed: 3 } as const
const REQUESTS_UID = 1

/** Encode a report as the body of an HTTP request; of the health everything but its times. */
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
  ...(health.children.size === 0
    ? {}
    : {
        componentHealthMap: Object.fromEntries(
          [...health.children].map(([name, child]) => [name, toPlainHealth(child)]),
        ),
      }),
})

function toPlainComponents({ hash, components }: NonNullable<AgentReport['components']>): PlainMessage {
  const named = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, {}]))
  const categories = [...(components ?? [])].map(([category, types]) => [
    category,
    { subComponentMap: named(types) },
  ])
  return { hash: Buffer.from(hash, 'hex'), components: Object.fromEntries(categories) }
}
