import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import type { Clock } from '../../lib/clock.ts'
import type { LinkVersions } from '../../lib/links/link-versions.ts'
import type { Config } from '../../runtime/config.ts'
import { type RunningMember, startMember } from '../../runtime/fronts/member.ts'
import { eventually } from './eventually.ts'
import { type RecordingLog, recordingLog } from './fakes.ts'
import { signIn, TEST_CONFIG } from './invoke.ts'
import type { TestDatabase } from './postgres.ts'
import { findFreePort } from './service.ts'

/** One of several muster processes on a test database, run within the process of the test. */
export interface TestMember {
  member: RunningMember
  log: RecordingLog
  url: string
  /** The address at which other members reach it. */
  internalAddress: string
  /** Why it gave up by itself; null while it has not. */
  fatal(): string | null
  call(method: string, path: string, options?: { as?: string; body?: unknown }): Promise<Response>
  /** A token of a new administrator, made by the member that owns. */
  token(): Promise<string>
  stop(): Promise<void>
}

/**
 * What differs between members: the links that they speak, their migrations, the clock of their machine, and how often
 * they look at their certificate.
 */
export interface Build {
  versions?: LinkVersions
  migrations?: string
  clock?: Clock
  lookAtFilesMs?: number
}

const ROOT = new URL('../../', import.meta.url)

/** Start a member. The caller stops it; stopping twice does no harm. */
export async function startTestMember(
  database: TestDatabase,
  config: Partial<Config> = {},
  build: Build = {},
): Promise<TestMember> {
  const { versions, migrations = fileURLToPath(new URL('migrations', ROOT)), clock, lookAtFilesMs } = build
  const log = recordingLog()
  const internalAddress = `127.0.0.1:${await findFreePort()}`
  let fatal: string | null = null
  const cluster = { internalAddress, advertiseAddress: internalAddress, tls: null, ...config.cluster }
  const member = await startMember(
    {
      config: { ...TEST_CONFIG, databaseDsn: database.dsn, ...config, cluster },
      files: {
        migrations,
        ui: fileURLToPath(new URL('dist/ui', ROOT)),
        workers: fileURLToPath(inject('workersUrl')),
      },
      log,
      ...(clock === undefined ? {} : { clock }),
      onFatal(reason) {
        fatal = reason
      },
    },
    cluster,
    versions,
    lookAtFilesMs,
  )
  const url = `http://127.0.0.1:${member.apiPort}`
  let stopped: Promise<void> | null = null
  return {
    member,
    log,
    url,
    internalAddress: cluster.internalAddress,
    fatal: () => fatal,
    call: (method, path, { as, body } = {}) =>
      fetch(url + path, {
        method,
        redirect: 'manual',
        headers: as === undefined ? {} : { authorization: `Bearer ${as}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    async token() {
      const owner = await eventually('it owns', () => member.owner())
      return (await signIn(owner.ctx as never)).token
    },
    stop: () => (stopped ??= member.stop()),
  }
}

/** Wait until this member is the owner. */
export async function untilOwner({ member }: TestMember): Promise<void> {
  await eventually('it owns', () => member.owner() !== null, { withinMs: 20_000 })
}
