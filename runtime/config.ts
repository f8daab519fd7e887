/** The service's settings, read once from the environment at start. */
export interface Config {
  jwtSecret: string
  databaseDsn: string
  databaseMaxOpen: number
  databaseMaxIdle: number
  databaseIdleTimeoutMs: number
  databaseLifetimeMs: number
  listenAddress: string
  opampAddress: string
  opampSharedSecret: string
  opampMessageBytesMax: number
  corsOrigins: readonly string[]
  seedAdmin: { email: string; password: string } | null
  webhookUrl: string
  minAgentVersion: string
  disconnectGraceMs: number
  retentionDays: number
  janitorIntervalMs: number
  eventRetentionDays: number
  runtimeValidation: {
    isEnabled: boolean
    binaryPath: string
    timeoutMs: number
    minVersion: string
  }
  policy: {
    otlpAllowlist: readonly string[]
    criticalExporters: readonly string[]
    requiredResourceAttributes: readonly string[]
  }
  metricsAddress: string
  trustedProxies: readonly string[]
  edition: 'community' | 'complete'
}
