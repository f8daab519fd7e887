/** One node of an agent's health tree; the top one is the agent itself. Texts are sanitised and cut. */
export interface HealthNode {
  healthy: boolean
  /** The agent's own vocabulary (`StatusOK`, `StatusStarting`, …); '' when it said none. */
  status: string
  /** May quote configs and credentials: never store or log it as it is. */
  lastError: string
  /** Wall-clock milliseconds; null when the agent is not running or did not say. */
  startTimeMs: number | null
  statusTimeMs: number | null
  /** Of the top node they may be unpacked each time this is read: read it once and keep the result. */
  children: ReadonlyMap<string, HealthNode>
  /** How long the bytes are that its children are kept in; absent where they are kept as they are. */
  packedLength?: number
}

/** About what a node takes beside its texts. */
const NODE_BYTES = 320

/** About how much memory a health tree takes, in bytes. */
export function keptBytesOf(node: HealthNode): number {
  let bytes = NODE_BYTES + 2 * (node.status.length + node.lastError.length)
  if (node.packedLength !== undefined) return bytes + node.packedLength
  for (const [name, child] of node.children) bytes += 2 * name.length + keptBytesOf(child)
  return bytes
}

/** The components an agent was built with. */
export interface ReportedComponents {
  /** Lower-case hex. */
  hash: string
  /** Category → sorted type names; null when only the hash was sent. */
  components: ReadonlyMap<string, readonly string[]> | null
}

/** What an agent says about the last remote config it received. */
export interface ReportedRemoteConfigStatus {
  /** Lower-case hex, '' when it never received one. */
  hash: string
  status: 'unset' | 'applied' | 'applying' | 'failed'
  /** Raw: never store or log it. */
  errorMessage: string
}

/** The configuration an agent says it runs: resolved, re-serialised, possibly with secrets in it. */
export interface ReportedEffectiveConfig {
  /** By file name; collectors use the empty name. */
  files: ReadonlyMap<string, { body: Uint8Array; contentType: string }>
}

/** One AgentToServer message as plain, sanitised values. Null means that the message did not carry the part. */
export interface AgentReport {
  /** 32 lower-case hex characters of the 16 bytes: the key everywhere. */
  uid: string
  /** The uid in the sender's own form, repeated in every answer. */
  uidOnWire: Uint8Array
  sequenceNum: number
  /** The defined bits of AGENT_CAPABILITIES; 0 when absent. */
  capabilities: number
  hasCapabilities: boolean
  requestsInstanceUid: boolean
  isDisconnect: boolean
  /** Non-empty string attributes, identifying first, non-identifying overriding; null without a description. */
  attributes: ReadonlyMap<string, string> | null
  health: HealthNode | null
  effectiveConfig: ReportedEffectiveConfig | null
  remoteConfigStatus: ReportedRemoteConfigStatus | null
  components: ReportedComponents | null
}

/** The bits of AgentToServer.capabilities (OpAMP, AgentCapabilities). */
export const AGENT_CAPABILITIES = {
  reportsStatus: 0x1,
  acceptsRemoteConfig: 0x2,
  reportsEffectiveConfig: 0x4,
  acceptsPackages: 0x8,
  reportsPackageStatuses: 0x10,
  reportsOwnTraces: 0x20,
  reportsOwnMetrics: 0x40,
  reportsOwnLogs: 0x80,
  acceptsOpampConnectionSettings: 0x100,
  acceptsOtherConnectionSettings: 0x200,
  acceptsRestartCommand: 0x400,
  reportsHealth: 0x800,
  reportsRemoteConfig: 0x1000,
  reportsHeartbeat: 0x2000,
  reportsAvailableComponents: 0x4000,
  reportsConnectionSettingsStatus: 0x8000,
} as const

/** The bits of ServerToAgent.capabilities (OpAMP, ServerCapabilities). */
export const SERVER_CAPABILITIES = {
  acceptsStatus: 0x1,
  offersRemoteConfig: 0x2,
  acceptsEffectiveConfig: 0x4,
  offersConnectionSettings: 0x20,
} as const

/** What an agent may be asked to report. */
export type Asked = Pick<ServerMessage, 'reportFullState' | 'reportAvailableComponents'>

/** What a message asks an agent to report. */
export function askedBy({ reportFullState, reportAvailableComponents }: Asked): Asked {
  const asked: Asked = {}
  if (reportFullState === true) asked.reportFullState = true
  if (reportAvailableComponents === true) asked.reportAvailableComponents = true
  return asked
}

/** The contents of one ServerToAgent. With `errorResponse` only the uid is encoded beside it (OpAMP, 4.5). */
export interface ServerMessage {
  errorResponse?: {
    type: 'bad-request' | 'unavailable' | 'unknown'
    message: string
    retryAfterMs?: number
  }
  /** One file under the empty name, `text/yaml`; `hash` is the 32 bytes of SHA-256 over `body`. */
  remoteConfig?: {
    hash: Uint8Array
    body: Uint8Array
    /** Not for the agent: whose config it is, and the generation of that workload when this was decided. */
    assignment?: { workloadId: string; generation: number }
  }
  reportFullState?: boolean
  reportAvailableComponents?: boolean
  /** SERVER_CAPABILITIES bits. */
  capabilities?: number
  /** 16 bytes. */
  newInstanceUid?: Uint8Array
  heartbeatIntervalSeconds?: number
}
