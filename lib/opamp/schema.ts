import protobuf from 'protobufjs/light.js'

/**
 * The OpAMP schema (package opamp.proto.v1) as a protobufjs descriptor. The listener does not use it: it reads and
 * writes by hand, and is tested against this schema. The simulated agent and the tests use it.
 */

type Field = { type: string; id: number; rule?: 'repeated'; keyType?: 'string' }
type Fields = Record<string, Field>

const one = (id: number, type: string): Field => ({ id, type })
const many = (id: number, type: string): Field => ({ id, type, rule: 'repeated' })
const mapOf = (id: number, type: string): Field => ({ id, type, keyType: 'string' })
const message = (fields: Fields, oneofs?: Record<string, { oneof: string[] }>) => ({ fields, oneofs })

const COMMON = {
  KeyValue: message({ key: one(1, 'string'), value: one(2, 'AnyValue') }),
  AnyValue: message(
    {
      stringValue: one(1, 'string'),
      boolValue: one(2, 'bool'),
      intValue: one(3, 'int64'),
      doubleValue: one(4, 'double'),
      arrayValue: one(5, 'ArrayValue'),
      kvlistValue: one(6, 'KeyValueList'),
      bytesValue: one(7, 'bytes'),
    },
    {
      value: {
        oneof: [
          'stringValue',
          'boolValue',
          'intValue',
          'doubleValue',
          'arrayValue',
          'kvlistValue',
          'bytesValue',
        ],
      },
    },
  ),
  ArrayValue: message({ values: many(1, 'AnyValue') }),
  KeyValueList: message({ values: many(1, 'KeyValue') }),
  AgentConfigMap: message({ configMap: mapOf(1, 'AgentConfigFile') }),
  AgentConfigFile: message({ body: one(1, 'bytes'), contentType: one(2, 'string') }),
  Headers: message({ headers: many(1, 'Header') }),
  Header: message({ key: one(1, 'string'), value: one(2, 'string') }),
  CustomCapabilities: message({ capabilities: many(1, 'string') }),
  CustomMessage: message({ capability: one(1, 'string'), type: one(2, 'string'), data: one(3, 'bytes') }),
}

const FROM_AGENT = {
  AgentToServer: message({
    instanceUid: one(1, 'bytes'),
    sequenceNum: one(2, 'uint64'),
    agentDescription: one(3, 'AgentDescription'),
    capabilities: one(4, 'uint64'),
    health: one(5, 'ComponentHealth'),
    effectiveConfig: one(6, 'EffectiveConfig'),
    remoteConfigStatus: one(7, 'RemoteConfigStatus'),
    packageStatuses: one(8, 'PackageStatuses'),
    agentDisconnect: one(9, 'AgentDisconnect'),
    flags: one(10, 'uint64'),
    customCapabilities: one(12, 'CustomCapabilities'),
    customMessage: one(13, 'CustomMessage'),
    availableComponents: one(14, 'AvailableComponents'),
    connectionSettingsStatus: one(15, 'ConnectionSettingsStatus'),
  }),
  AgentDescription: message({
    identifyingAttributes: many(1, 'KeyValue'),
    nonIdentifyingAttributes: many(2, 'KeyValue'),
  }),
  ComponentHealth: message({
    healthy: one(1, 'bool'),
    startTimeUnixNano: one(2, 'fixed64'),
    lastError: one(3, 'string'),
    status: one(4, 'string'),
    statusTimeUnixNano: one(5, 'fixed64'),
    componentHealthMap: mapOf(6, 'ComponentHealth'),
    attributes: many(7, 'KeyValue'),
  }),
  EffectiveConfig: message({ configMap: one(1, 'AgentConfigMap') }),
  RemoteConfigStatus: message({
    lastRemoteConfigHash: one(1, 'bytes'),
    status: one(2, 'uint32'),
    errorMessage: one(3, 'string'),
  }),
  PackageStatuses: message({
    serverProvidedAllPackagesHash: one(2, 'bytes'),
    errorMessage: one(3, 'string'),
  }),
  AgentDisconnect: message({}),
  AvailableComponents: message({ components: mapOf(1, 'ComponentDetails'), hash: one(2, 'bytes') }),
  ComponentDetails: message({
    metadata: many(1, 'KeyValue'),
    subComponentMap: mapOf(2, 'ComponentDetails'),
  }),
  ConnectionSettingsStatus: message({
    lastConnectionSettingsHash: one(1, 'bytes'),
    status: one(2, 'uint32'),
    errorMessage: one(3, 'string'),
  }),
}

const FROM_SERVER = {
  ServerToAgent: message({
    instanceUid: one(1, 'bytes'),
    errorResponse: one(2, 'ServerErrorResponse'),
    remoteConfig: one(3, 'AgentRemoteConfig'),
    connectionSettings: one(4, 'ConnectionSettingsOffers'),
    flags: one(6, 'uint64'),
    capabilities: one(7, 'uint64'),
    agentIdentification: one(8, 'AgentIdentification'),
    command: one(9, 'ServerToAgentCommand'),
    customCapabilities: one(10, 'CustomCapabilities'),
    customMessage: one(11, 'CustomMessage'),
  }),
  ServerErrorResponse: message({
    type: one(1, 'uint32'),
    errorMessage: one(2, 'string'),
    retryInfo: one(3, 'RetryInfo'),
  }),
  RetryInfo: message({ retryAfterNanoseconds: one(1, 'uint64') }),
  AgentRemoteConfig: message({ config: one(1, 'AgentConfigMap'), configHash: one(2, 'bytes') }),
  ConnectionSettingsOffers: message({ hash: one(1, 'bytes'), opamp: one(2, 'OpAMPConnectionSettings') }),
  OpAMPConnectionSettings: message({
    destinationEndpoint: one(1, 'string'),
    headers: one(2, 'Headers'),
    heartbeatIntervalSeconds: one(4, 'uint64'),
  }),
  AgentIdentification: message({ newInstanceUid: one(1, 'bytes') }),
  ServerToAgentCommand: message({ type: one(1, 'uint32') }),
}

const root = protobuf.Root.fromJSON({
  nested: { ...COMMON, ...FROM_AGENT, ...FROM_SERVER },
} as protobuf.INamespace)

/** AgentToServer, for encoding what an agent says. Field names are the camel-cased ones of the protocol. */
export const AgentToServer = root.lookupType('AgentToServer')
/** ServerToAgent, for decoding what the server said. */
export const ServerToAgent = root.lookupType('ServerToAgent')
