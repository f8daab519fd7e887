import type { OidcSettings } from '../lib/identity/oidc/settings.ts'
import { parseUrl } from '../lib/model/parse-url.ts'
import { OPAMP_PATH } from '../lib/opamp/agent-address.ts'
import { type ProxySettings, readProxySettings } from '../lib/outbound/proxy.ts'
import { formatAddress, isLoopback, parseListenAddress } from './listen-address.ts'
import { readSignIn } from './oidc-config.ts'
import { readSecretFiles } from './secret-files.ts'

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
  /** Empty: agents need no credential. Without blanks around it, which no header carries. */
  opampSharedSecret: string
  opampMessageBytesMax: number
  /** WebSockets of one listener, in all and from one address. */
  socketLimits: { inAll: number; perAddress: number }
  /** Origins whose pages may read answers. */
  corsOrigins: readonly string[]
  /**
   * The origins that CORS_ORIGINS names itself, without the default: only their pages may act with the session cookie.
   */
  cookieOrigins: readonly string[]
  seedAdmin: { email: string; password: string } | null
  /** Where browsers find muster, without a slash at the end; empty where that is not known. */
  publicUrl: string
  /** Where agents find muster, by WebSocket; empty where it is not said. */
  agentUrl: string
  /** Sign-in with an identity provider; null where there is none. */
  oidc: OidcSettings | null
  /** The only e-mail that may log in with a password; null where every local user may. */
  onlyPasswordLogin: string | null
  /** Empty: no webhook. */
  webhookUrl: string
  /** Proxies on the way to the webhook. */
  outboundProxies: ProxySettings
  /** The lowest version that is not outdated, unless administrators recommend another one; empty where none is set. */
  minAgentVersion: string
  disconnectGraceMs: number
  retentionDays: number
  janitorIntervalMs: number
  eventRetentionDays: number
  archiveDays: number
  alertRetentionDays: number
  runtimeValidation: {
    isEnabled: boolean
    binaryPath: string
    /** Folders in which a bare name is looked for, separated as in PATH. */
    searchPath: string
    timeoutMs: number
    minVersion: string
  }
  policy: {
    otlpAllowlist: readonly string[]
    criticalExporters: readonly string[]
    requiredResourceAttributes: readonly string[]
  }
  /** Empty: no listener of its own for whether the process lives and is ready. */
  healthAddress: string
  /** Empty: no metrics listener. */
  metricsAddress: string
  /** Addresses and CIDR blocks whose forwarding headers count. */
  trustedProxies: readonly string[]
  /** The settings of one process among several; null where this process is the only active one. */
  cluster: ClusterConfig | null
  edition: 'community' | 'complete'
}

/** What a process needs to be one of several. */
export interface ClusterConfig {
  /** `host:port` on which it listens to the other processes. */
  internalAddress: string
  /** `host:port` at which the other processes reach it. */
  advertiseAddress: string
  /** Null only where the addresses are on this machine. */
  tls: {
    certFile: string
    keyFile: string
    caFile: string
    /** The name that the other processes' certificates are for; absent where that is the host of their address. */
    name?: string
  } | null
}

/** Environment variables by their names. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The settings with what had to be corrected, or the first fault that keeps muster from starting. */
export type ConfigResult =
  | { ok: true; config: Config; warnings: readonly string[] }
  | { ok: false; error: string }

const JWT_PLACEHOLDER = 'change-me-in-production'
const MIB = 1_048_576
/** Day counts beyond this say "for ever" and would overflow a date. */
const DAYS_MAX = 36_500

/** Reads single variables, and remembers what it had to correct. An empty variable is an unset one. */
class Reader {
  readonly warnings: string[] = []
  readonly #env: Environment

  constructor(env: Environment) {
    this.#env = env
  }

  text(name: string, fallback = ''): string {
    const value = this.#env[name]
    return value === undefined || value === '' ? fallback : value
  }

  /** Proxies are named in capitals or in small letters; where both are set, the small ones count, as for curl. */
  eitherCase(name: string): string {
    return this.text(name.toLowerCase(), this.text(name))
  }

  list(name: string, fallback = ''): string[] {
    return this.text(name, fallback)
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  }

  /** A whole number above zero; `fallback` when unset, `whenBad` (with a warning) when it is anything else. */
  positive(name: string, fallback: number, whenBad: number, max = Number.MAX_SAFE_INTEGER): number {
    const value = this.text(name)
    if (value === '') return fallback
    const number = /^[+-]?\d+$/.test(value) ? Number(value) : Number.NaN
    if (Number.isSafeInteger(number) && number > 0) return Math.min(number, max)
    this.warnings.push(
      `${name} must be a whole number above 0, found ${JSON.stringify(value)}: using ${whenBad}`,
    )
    return whenBad
  }

  flag(name: string): boolean {
    return ['1', 'true', 'yes', 'y', 'on', 'enabled'].includes(this.text(name).trim().toLowerCase())
  }
}

function checkSecret(secret: string): string | null {
  const trimmed = secret.trim()
  if (trimmed === '') return 'JWT_SECRET environment variable is required'
  if (trimmed === JWT_PLACEHOLDER) return 'JWT_SECRET must not use the placeholder value'
  if ([...trimmed].length < 32) return 'JWT_SECRET must be at least 32 characters'
  return null
}

/**
 * The agents' bearer token without blanks around it. One that no header can carry would keep every agent out, so it is
 * refused.
 */
function readSharedSecret(reader: Reader): { ok: true; secret: string } | { ok: false; error: string } {
  const given = reader.text('OPAMP_SHARED_SECRET')
  const secret = given.trim()
  if (given !== '' && secret === '')
    return {
      ok: false,
      error: 'OPAMP_SHARED_SECRET holds nothing but blanks: leave it unset to let any agent in',
    }
  if (/\p{Cc}/u.test(secret))
    return {
      ok: false,
      error: 'OPAMP_SHARED_SECRET holds a line break or another control character, which no header can carry',
    }
  if (secret !== given) reader.warnings.push('OPAMP_SHARED_SECRET: the blanks around it do not count')
  return { ok: true, secret }
}

function readSeedAdmin(
  reader: Reader,
): { ok: true; admin: Config['seedAdmin'] } | { ok: false; error: string } {
  const email = reader.text('SEED_ADMIN_EMAIL').trim()
  const password = reader.text('SEED_ADMIN_PASSWORD')
  if (email === '' && password === '') return { ok: true, admin: null }
  if (email === '')
    return { ok: false, error: 'seed admin: SEED_ADMIN_EMAIL is required when SEED_ADMIN_PASSWORD is set' }
  if (password === '')
    return { ok: false, error: 'seed admin: SEED_ADMIN_PASSWORD is required when SEED_ADMIN_EMAIL is set' }
  if ([...password].length < 12)
    return { ok: false, error: 'seed admin: SEED_ADMIN_PASSWORD must be at least 12 characters' }
  if ([...password].length > 256)
    return { ok: false, error: 'seed admin: SEED_ADMIN_PASSWORD must be at most 256 characters' }
  return { ok: true, admin: { email, password } }
}

type ClusterResult = { ok: true; cluster: ClusterConfig | null } | { ok: false; error: string }

/**
 * Read the settings of one process among several. What agents and people say travels between the processes, so without
 * TLS their addresses must be on this machine.
 */
function readCluster(reader: Reader): ClusterResult {
  const internalAddress = reader.text('MUSTER_INTERNAL_ADDR')
  if (internalAddress === '') return { ok: true, cluster: null }
  const advertiseAddress = reader.text('MUSTER_ADVERTISE_ADDR', internalAddress)
  const [listens, reached] = [parseListenAddress(internalAddress), parseListenAddress(advertiseAddress)]
  for (const [name, parsed, value] of [
    ['MUSTER_INTERNAL_ADDR', listens, internalAddress],
    ['MUSTER_ADVERTISE_ADDR', reached, advertiseAddress],
  ] as const)
    if (parsed === null)
      return { ok: false, error: `${name} must be host:port, found ${JSON.stringify(value)}` }
  if (['', '0.0.0.0', '::'].includes(reached!.host) || reached!.port === 0)
    return {
      ok: false,
      error: 'MUSTER_ADVERTISE_ADDR must say at which host and port the other processes reach this one',
    }
  const [certFile, keyFile, caFile] = ['CERT', 'KEY', 'CA'].map((part) =>
    reader.text(`MUSTER_INTERNAL_TLS_${part}`),
  ) as [string, string, string]
  const given = [certFile, keyFile, caFile].filter((file) => file !== '').length
  if (given !== 0 && given !== 3)
    return {
      ok: false,
      error: 'MUSTER_INTERNAL_TLS_CERT, MUSTER_INTERNAL_TLS_KEY and MUSTER_INTERNAL_TLS_CA go together',
    }
  const name = reader.text('MUSTER_INTERNAL_TLS_NAME')
  const tls = given === 0 ? null : { certFile, keyFile, caFile, ...(name === '' ? {} : { name }) }
  if (tls === null && !(isLoopback(listens!.host) && isLoopback(reached!.host)))
    return {
      ok: false,
      error: 'MUSTER_INTERNAL_ADDR off loopback needs MUSTER_INTERNAL_TLS_CERT, _KEY and _CA',
    }
  return { ok: true, cluster: { internalAddress, advertiseAddress: formatAddress(reached!), tls } }
}

/** The fault of the first listen address that is neither `host:port` nor `:port`; null when there is none. */
function checkListenAddresses(reader: Reader): string | null {
  for (const [name, fallback] of [
    ['LISTEN_ADDR', ':8080'],
    ['OPAMP_ADDR', ':4320'],
    ['MUSTER_METRICS_ADDR', ''],
    ['MUSTER_HEALTH_ADDR', ''],
  ] as const) {
    const address = reader.text(name, fallback)
    if (address !== '' && parseListenAddress(address) === null)
      return `${name} must be host:port or :port, found ${JSON.stringify(address)}`
  }
  return null
}

/** The address for agents as somebody sets it: where a proxy in front has another host or port than muster itself. */
function readAgentUrl(text: string): string | null {
  if (text === '') return ''
  const url = parseUrl(text)
  if (url === null) return null
  const { protocol, host, pathname, username, password, search, hash } = url
  const scheme = { 'wss:': 'wss', 'https:': 'wss', 'ws:': 'ws', 'http:': 'ws' }[protocol]
  const isPlain = username === '' && password === '' && search === '' && hash === ''
  const isPath = ['', '/', OPAMP_PATH, `${OPAMP_PATH}/`].includes(pathname)
  return scheme !== undefined && host !== '' && isPlain && isPath ? `${scheme}://${host}${OPAMP_PATH}` : null
}

type FatalSettings = Pick<
  Config,
  | 'jwtSecret'
  | 'databaseDsn'
  | 'seedAdmin'
  | 'outboundProxies'
  | 'publicUrl'
  | 'agentUrl'
  | 'oidc'
  | 'onlyPasswordLogin'
  | 'opampSharedSecret'
  | 'cluster'
>

/** The settings without which, or with a fault in which, muster does not start. */
function readFatalSettings(
  reader: Reader,
): { ok: true; settings: FatalSettings } | { ok: false; error: string } {
  const jwtSecret = reader.text('JWT_SECRET')
  const secretFault = checkSecret(jwtSecret)
  if (secretFault !== null) return { ok: false, error: secretFault }
  const databaseDsn = reader.text('DB_DSN')
  if (databaseDsn.trim() === '') return { ok: false, error: 'DB_DSN environment variable is required' }
  const seed = readSeedAdmin(reader)
  if (!seed.ok) return seed
  const outbound = readProxySettings({
    http: reader.eitherCase('HTTP_PROXY'),
    https: reader.eitherCase('HTTPS_PROXY'),
    noProxy: reader.eitherCase('NO_PROXY'),
  })
  if (!outbound.ok) return outbound
  const signIn = readSignIn((name, fallback) => reader.text(name, fallback))
  if (!signIn.ok) return signIn
  const sharedSecret = readSharedSecret(reader)
  if (!sharedSecret.ok) return sharedSecret
  const addressFault = checkListenAddresses(reader)
  if (addressFault !== null) return { ok: false, error: addressFault }
  const agentUrl = readAgentUrl(reader.text('MUSTER_OPAMP_PUBLIC_URL').trim())
  if (agentUrl === null)
    return {
      ok: false,
      error: 'MUSTER_OPAMP_PUBLIC_URL must be wss://host or https://host, with /v1/opamp or no path',
    }
  const cluster = readCluster(reader)
  if (!cluster.ok) return cluster
  return {
    ok: true,
    settings: {
      jwtSecret,
      databaseDsn,
      seedAdmin: seed.admin,
      outboundProxies: outbound.settings,
      publicUrl: signIn.publicUrl,
      agentUrl,
      oidc: signIn.oidc,
      onlyPasswordLogin: signIn.onlyPasswordLogin,
      opampSharedSecret: sharedSecret.secret,
      cluster: cluster.cluster,
    },
  }
}

const readDatabaseLimits = (reader: Reader) => ({
  databaseMaxOpen: reader.positive('DB_MAX_OPEN_CONNS', 40, 40),
  databaseMaxIdle: reader.positive('DB_MAX_IDLE_CONNS', 10, 10),
  databaseIdleTimeoutMs: reader.positive('DB_CONN_MAX_IDLE_TIME_SECONDS', 300, 1) * 1000,
  databaseLifetimeMs: reader.positive('DB_CONN_MAX_LIFETIME_SECONDS', 1800, 1) * 1000,
})

const readListeners = (reader: Reader) => ({
  listenAddress: reader.text('LISTEN_ADDR', ':8080'),
  opampAddress: reader.text('OPAMP_ADDR', ':4320'),
  metricsAddress: reader.text('MUSTER_METRICS_ADDR'),
  healthAddress: reader.text('MUSTER_HEALTH_ADDR'),
  opampMessageBytesMax: reader.positive('MUSTER_OPAMP_MAX_MESSAGE_BYTES', 16 * MIB, 16 * MIB, 64 * MIB),
  socketLimits: {
    inAll: reader.positive('MUSTER_MAX_SOCKETS', 20_000, 20_000),
    perAddress: reader.positive('MUSTER_MAX_SOCKETS_PER_ADDRESS', 20_000, 20_000),
  },
  corsOrigins: reader.list('CORS_ORIGINS', 'http://localhost:5173'),
  cookieOrigins: reader.list('CORS_ORIGINS'),
  trustedProxies: reader.list('MUSTER_TRUSTED_PROXIES'),
})

/** How long workloads, their events and alerts are kept. */
const readRetention = (reader: Reader) => ({
  disconnectGraceMs: reader.positive('WORKLOAD_DISCONNECT_GRACE_SECONDS', 120, 1, 31_536_000) * 1000,
  retentionDays: reader.positive('WORKLOAD_RETENTION_DAYS', 30, 30, DAYS_MAX),
  janitorIntervalMs: reader.positive('WORKLOAD_JANITOR_INTERVAL_SECONDS', 300, 1, 2_000_000) * 1000,
  eventRetentionDays: reader.positive('WORKLOAD_EVENT_RETENTION_DAYS', 30, 30, DAYS_MAX),
  archiveDays: reader.positive('WORKLOAD_ARCHIVE_DAYS', 90, 90, DAYS_MAX),
  alertRetentionDays: reader.positive('ALERT_RETENTION_DAYS', 90, 90, DAYS_MAX),
})

/** The settings of the trial run in a collector and of the policies, which are checked beside a config's structure. */
const readConfigChecks = (reader: Reader) => ({
  runtimeValidation: {
    isEnabled: reader.flag('OTELCOL_RUNTIME_VALIDATION_ENABLED'),
    binaryPath: reader.text('OTELCOL_BINARY_PATH', 'otelcol'),
    searchPath: reader.text('PATH'),
    timeoutMs: reader.positive('OTELCOL_RUNTIME_VALIDATION_TIMEOUT_SECONDS', 5, 5, 600) * 1000,
    minVersion: reader.text('OTELCOL_MIN_RUNTIME_VERSION').trim(),
  },
  policy: {
    otlpAllowlist: reader.list('MUSTER_POLICY_OTLP_ALLOWLIST'),
    criticalExporters: reader.list('MUSTER_POLICY_CRITICAL_EXPORTERS'),
    requiredResourceAttributes: reader.list('MUSTER_POLICY_REQUIRED_RESOURCE_ATTRIBUTES'),
  },
})

/**
 * Turn the environment into settings. The first fault that keeps muster from starting is the answer; lesser ones are
 * corrected, with a warning.
 */
export function readConfig(env: Environment, edition: Config['edition'] = 'community'): ConfigResult {
  const withSecrets = readSecretFiles(env)
  if (!withSecrets.ok) return withSecrets
  const reader = new Reader(withSecrets.env)
  const required = readFatalSettings(reader)
  if (!required.ok) return required
  const config: Config = {
    ...required.settings,
    ...readDatabaseLimits(reader),
    ...readListeners(reader),
    ...readRetention(reader),
    ...readConfigChecks(reader),
    webhookUrl: reader.text('WEBHOOK_URL').trim(),
    minAgentVersion: reader.text('MIN_AGENT_VERSION').trim(),
    edition,
  }
  return { ok: true, config, warnings: reader.warnings }
}
