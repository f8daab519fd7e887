import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { proxyFor } from '../../lib/outbound/proxy.ts'
import { type Config, readConfig } from '../../runtime/config.ts'

const NEEDED = { JWT_SECRET: 's'.repeat(32), DB_DSN: 'postgres://localhost/muster' }

function read(env: Record<string, string> = {}): { config: Config; warnings: readonly string[] } {
  const result = readConfig({ ...NEEDED, ...env })
  if (!result.ok) throw new Error(result.error)
  return result
}
const refusal = (env: Record<string, string | undefined>) => {
  const result = readConfig({ ...NEEDED, ...env })
  return result.ok ? null : result.error
}

describe('the settings', () => {
  it('have the defaults of the specification', () => {
    const { config, warnings } = read()
    expect(warnings).toEqual([])
    expect(config).toMatchObject({
      listenAddress: ':8080',
      opampAddress: ':4320',
      opampSharedSecret: '',
      edition: 'community',
      databaseMaxOpen: 40,
      databaseMaxIdle: 10,
      databaseIdleTimeoutMs: 300_000,
      databaseLifetimeMs: 1_800_000,
      disconnectGraceMs: 120_000,
      retentionDays: 30,
      janitorIntervalMs: 300_000,
      eventRetentionDays: 30,
      corsOrigins: ['http://localhost:5173'],
      cookieOrigins: [],
      seedAdmin: null,
      webhookUrl: '',
      minAgentVersion: '',
      runtimeValidation: { isEnabled: false, binaryPath: 'otelcol', timeoutMs: 5_000, minVersion: '' },
    })
  })

  it.each(['0', '-3', '1.5', 'ten', ' 5'])('fall back, and say so, where a duration is %j', (bad) => {
    const { config, warnings } = read({
      WORKLOAD_DISCONNECT_GRACE_SECONDS: bad,
      WORKLOAD_JANITOR_INTERVAL_SECONDS: bad,
      DB_CONN_MAX_IDLE_TIME_SECONDS: bad,
      WORKLOAD_RETENTION_DAYS: bad,
      WORKLOAD_EVENT_RETENTION_DAYS: bad,
    })
    expect(config).toMatchObject({
      disconnectGraceMs: 1_000,
      janitorIntervalMs: 1_000,
      databaseIdleTimeoutMs: 1_000,
      retentionDays: 30,
      eventRetentionDays: 30,
    })
    expect(warnings).toHaveLength(5)
    expect(warnings[0]).toContain('must be a whole number above 0')
  })

  it('bound what is kept and who may connect', () => {
    expect(read().config).toMatchObject({
      archiveDays: 90,
      alertRetentionDays: 90,
      socketLimits: { inAll: 20_000, perAddress: 20_000 },
    })
    const { config } = read({
      WORKLOAD_ARCHIVE_DAYS: '7',
      ALERT_RETENTION_DAYS: '8',
      MUSTER_MAX_SOCKETS: '50000',
      MUSTER_MAX_SOCKETS_PER_ADDRESS: '10',
    })
    expect(config).toMatchObject({
      archiveDays: 7,
      alertRetentionDays: 8,
      socketLimits: { inAll: 50_000, perAddress: 10 },
    })
  })

  it('take an empty variable for an unset one', () => {
    expect(read({ LISTEN_ADDR: '', DB_MAX_OPEN_CONNS: '' }).config).toMatchObject({
      listenAddress: ':8080',
      databaseMaxOpen: 40,
    })
  })

  it('split lists at commas and drop blanks', () => {
    const { config } = read({ CORS_ORIGINS: ' https://a.example , ,https://b.example' })
    expect(config.corsOrigins).toEqual(['https://a.example', 'https://b.example'])
    expect(config.cookieOrigins).toEqual(config.corsOrigins)
  })

  it.each(['1', 'true', 'YES', 'on', ' enabled '])('switch the runtime check on for %j', (word) => {
    expect(read({ OTELCOL_RUNTIME_VALIDATION_ENABLED: word }).config.runtimeValidation.isEnabled).toBe(true)
  })

  it.each([' s3cret', 's3cret \t', 's3cret\n'])('take the shared secret %j without its blanks', (secret) => {
    const { config, warnings } = read({ OPAMP_SHARED_SECRET: secret })
    expect(config.opampSharedSecret).toBe('s3cret')
    expect(warnings).toEqual(['OPAMP_SHARED_SECRET: the blanks around it do not count'])
  })

  it('take the proxies of the environment, in capitals or not', () => {
    const { outboundProxies } = read({
      HTTPS_PROXY: 'http://capital.example:1',
      https_proxy: 'http://small.example:2',
      NO_PROXY: 'inside.example',
    }).config
    expect(proxyFor(outboundProxies, new URL('https://a.example/'))).toMatchObject({ host: 'small.example' })
    expect(proxyFor(outboundProxies, new URL('https://inside.example/'))).toBeNull()
    expect(refusal({ HTTPS_PROXY: 'socks5://user:secret@proxy.example' })).toBe(
      'HTTPS_PROXY must be a URL such as http://proxy.example.com:3128',
    )
  })

  it('take a secret for logins of 32 characters, of whatever script', () => {
    expect(read({ JWT_SECRET: 'é'.repeat(32) }).config.jwtSecret).toBe('é'.repeat(32))
  })

  it('never take feature gates from the environment', () => {
    expect(read({ MUSTER_EDITION: 'complete', EDITION: 'complete' }).config.edition).toBe('community')
  })
})

describe('a start is refused', () => {
  it.each([
    [{ JWT_SECRET: undefined }, 'JWT_SECRET environment variable is required'],
    [{ JWT_SECRET: '   ' }, 'JWT_SECRET environment variable is required'],
    [{ JWT_SECRET: 'change-me-in-production' }, 'JWT_SECRET must not use the placeholder value'],
    [{ JWT_SECRET: `  ${'s'.repeat(31)}  ` }, 'JWT_SECRET must be at least 32 characters'],
    [{ JWT_SECRET: 'é'.repeat(31) }, 'JWT_SECRET must be at least 32 characters'],
    [
      { OPAMP_SHARED_SECRET: ' \n ' },
      'OPAMP_SHARED_SECRET holds nothing but blanks: leave it unset to let any agent in',
    ],
    [
      { OPAMP_SHARED_SECRET: 's3c\nret' },
      'OPAMP_SHARED_SECRET holds a line break or another control character, which no header can carry',
    ],
    [{ DB_DSN: ' ' }, 'DB_DSN environment variable is required'],
    [
      { SEED_ADMIN_PASSWORD: 'long enough for all' },
      'seed admin: SEED_ADMIN_EMAIL is required when SEED_ADMIN_PASSWORD is set',
    ],
    [
      { SEED_ADMIN_EMAIL: 'a@example.com' },
      'seed admin: SEED_ADMIN_PASSWORD is required when SEED_ADMIN_EMAIL is set',
    ],
    [
      { SEED_ADMIN_EMAIL: 'a@example.com', SEED_ADMIN_PASSWORD: 'éééééé' },
      'seed admin: SEED_ADMIN_PASSWORD must be at least 12 characters',
    ],
    [{ LISTEN_ADDR: 'nonsense' }, 'LISTEN_ADDR must be host:port or :port, found "nonsense"'],
    [{ OPAMP_ADDR: ':99999' }, 'OPAMP_ADDR must be host:port or :port, found ":99999"'],
  ])('for %j', (env, error) => {
    expect(refusal(env)).toBe(error)
  })

  it('for a bad secret before anything is said of the database', () => {
    expect(refusal({ JWT_SECRET: undefined, DB_DSN: undefined })).toContain('JWT_SECRET')
  })
})

describe('secrets in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-secrets-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }

  it('count as the variables do, without the line break at the end', () => {
    const result = readConfig({
      JWT_SECRET_FILE: file('jwt', `${'f'.repeat(32)}\n`),
      DB_DSN_FILE: file('dsn', 'postgres://db.example/muster\r\n'),
      OPAMP_SHARED_SECRET_FILE: file('opamp', 's3cret'),
    })
    expect(result).toMatchObject({
      config: {
        jwtSecret: 'f'.repeat(32),
        databaseDsn: 'postgres://db.example/muster',
        opampSharedSecret: 's3cret',
      },
      warnings: [],
    })
  })

  it('are not looked for where the variable is empty', () => {
    expect(refusal({ JWT_SECRET_FILE: '', OPAMP_SHARED_SECRET_FILE: '' })).toBeNull()
  })

  it.each(['JWT_SECRET', 'DB_DSN', 'OPAMP_SHARED_SECRET'])('refuse a start where %s is unclear', (name) => {
    const setting = `${name}_FILE`
    const env = { [name]: '', [setting]: file('empty', '\n') }
    expect(refusal(env)).toBe(`${setting}: ${env[setting]} is empty`)
    const missing = join(folder, 'missing')
    expect(refusal({ [name]: '', [setting]: missing })).toBe(`${setting}: ${missing} cannot be read (ENOENT)`)
    const large = file('large', 'x'.repeat(65_537))
    expect(refusal({ [name]: '', [setting]: large })).toBe(
      `${setting}: ${large} is no secret: it has more than 65536 bytes`,
    )
    expect(refusal({ [name]: 'a'.repeat(40), [setting]: file('both', 'b'.repeat(40)) })).toBe(
      `${name} and ${setting} are both set: one of them has to go`,
    )
  })

  it('are regular files: of a device or a pipe nobody can say when it ends', () => {
    expect(refusal({ DB_DSN: '', DB_DSN_FILE: '/dev/null' })).toBe(
      'DB_DSN_FILE: /dev/null is no regular file',
    )
    for (const [name, make] of [
      ['pipe', (path: string) => spawnSync('mkfifo', [path])],
      ['folder', (path: string) => mkdirSync(path)],
    ] as const) {
      const path = join(folder, name)
      make(path)
      expect(refusal({ DB_DSN: '', DB_DSN_FILE: path })).toBe(`DB_DSN_FILE: ${path} is no regular file`)
    }
    const link = join(folder, 'link')
    symlinkSync(file('target', 'postgres://db/muster'), link)
    expect(refusal({ DB_DSN: '', DB_DSN_FILE: link })).toBeNull()
  })

  it('are held to the rules of the variables', () => {
    expect(refusal({ JWT_SECRET: '', JWT_SECRET_FILE: file('short', 'short') })).toBe(
      'JWT_SECRET must be at least 32 characters',
    )
  })
})

describe('a process', () => {
  it('is one of several only where it can be reached, over TLS or on one machine', () => {
    const clusterOf = (more: Record<string, string>) => {
      const read = readConfig({ ...NEEDED, ...more })
      return read.ok ? read.config.cluster : read.error
    }
    const TLS = {
      MUSTER_INTERNAL_TLS_CERT: 'a.pem',
      MUSTER_INTERNAL_TLS_KEY: 'a.key',
      MUSTER_INTERNAL_TLS_CA: 'ca.pem',
    }
    expect(clusterOf({})).toBeNull()
    expect(clusterOf({ MUSTER_INTERNAL_ADDR: '127.0.0.1:4330' })).toEqual({
      internalAddress: '127.0.0.1:4330',
      advertiseAddress: '127.0.0.1:4330',
      tls: null,
    })
    expect(clusterOf({ MUSTER_INTERNAL_ADDR: 'nowhere' })).toContain('must be host:port')
    expect(clusterOf({ ...TLS, MUSTER_INTERNAL_ADDR: ':4330' })).toContain('MUSTER_ADVERTISE_ADDR must say')
    const apart = { MUSTER_INTERNAL_ADDR: ':4330', MUSTER_ADVERTISE_ADDR: 'muster-1:4330' }
    expect(clusterOf(apart)).toContain('off loopback needs MUSTER_INTERNAL_TLS_CERT')
    expect(clusterOf({ ...apart, MUSTER_INTERNAL_TLS_CERT: 'a.pem' })).toContain('go together')
    expect(clusterOf({ ...apart, ...TLS })).toEqual({
      internalAddress: ':4330',
      advertiseAddress: 'muster-1:4330',
      tls: { certFile: 'a.pem', keyFile: 'a.key', caFile: 'ca.pem' },
    })
    expect(clusterOf({ ...apart, ...TLS, MUSTER_INTERNAL_TLS_NAME: 'members' })).toMatchObject({
      tls: { name: 'members' },
    })
  })
})
