import { readFile } from 'node:fs/promises'
import { type AuditVerification, formatHead, verifyAuditChain } from '../lib/audit/verify.ts'
import { systemClock } from '../lib/clock.ts'
import { systemRandom } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { verifyPack } from '../lib/reports/verify.ts'
import type { AuditHead } from '../lib/store/audit.ts'
import { migrate, readMigrations } from '../lib/store/migrate.ts'
import { openPool, type Pool } from '../lib/store/pool.ts'
import { openProcessLock } from '../lib/store/process-lock.ts'
import { checkServer } from '../lib/store/server-version.ts'

import type { Command } from './command-line.ts'
import { composePeople } from './compose.ts'
import { type Config, type Environment, readConfig } from './config.ts'
import { createCommunityEdition } from './editions.ts'
import { type RuntimeFiles, workerUrl } from './files.ts'
import { readCertificate } from './fronts/certificate-files.ts'
import { HELP } from './help.ts'
import { VERSION } from './version.ts'

/** What a command works with besides its arguments. */
export interface CommandParts {
  env: Environment
  files: RuntimeFiles
  log: Log
  out(text: string): void
  error(text: string): void
  /** Everything on standard input. */
  readInput(): Promise<string>
}

/** Commands that do one thing and end; `serve` is the service itself. */
export type OneShotCommand = Exclude<Command, { kind: 'serve' }>

const DONE = 0
const FAILED = 1
const WRONG_ARGUMENTS = 2

/**
 * Run a command; resolves with the exit code. Failures, such as a database that is away, are printed as one line and
 * never thrown.
 */
export async function runCommand(command: OneShotCommand, parts: CommandParts): Promise<number> {
  try {
    return await run(command, parts)
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
    parts.error(`${command.kind}: ${error instanceof Error ? error.message : String(error)}${cause}\n`)
    return FAILED
  }
}

function run(command: OneShotCommand, parts: CommandParts): Promise<number> | number {
  switch (command.kind) {
    case 'version':
      parts.out(`muster ${VERSION}\n`)
      return DONE
    case 'help':
      parts.out(HELP)
      return DONE
    case 'wrong':
      parts.error(`${command.message}\nSee muster --help.\n`)
      return WRONG_ARGUMENTS
    case 'check-config':
      return withDatabase(parts, command.edition, (pool, config) => checkConfig(pool, config, parts))
    case 'migrate':
      return withDatabase(parts, 'community', (pool) => migrateOnly(pool, parts))
    case 'verify-audit':
      return withDatabase(parts, 'community', (pool) => verifyAudit(pool, parts, command.head))
    case 'verify-pack':
      return checkPack(command, parts)
    case 'create-user':
      return withDatabase(parts, 'community', (pool, config) => createUser(pool, parts, config, command))
  }
}

async function withDatabase(
  parts: CommandParts,
  edition: Config['edition'],
  work: (pool: Pool, config: Config) => Promise<number>,
): Promise<number> {
  const read = readConfig(parts.env, edition)
  if (!read.ok) {
    parts.error(`${read.error}\n`)
    return FAILED
  }
  for (const warning of read.warnings) parts.error(`${warning}\n`)
  const { config } = read
  const pool = openPool({
    dsn: config.databaseDsn,
    maxOpen: 4,
    maxIdle: 2,
    idleTimeoutMs: config.databaseIdleTimeoutMs,
    lifetimeMs: config.databaseLifetimeMs,
    applicationName: 'muster-command',
    clock: systemClock,
    log: parts.log,
  })
  try {
    return await work(pool, config)
  } finally {
    await pool.close()
  }
}

async function checkConfig(pool: Pool, config: Config, { out, error }: CommandParts): Promise<number> {
  const fault = faultOfCertificate(config)
  if (fault !== null) {
    error(`${fault}\n`)
    return FAILED
  }
  await checkServer(pool)
  out('The configuration is usable and the database answers.\n')
  return DONE
}

/** What is wrong with the files of the certificate between processes; null where nothing is, or there is none. */
function faultOfCertificate({ cluster }: Config): string | null {
  const files = cluster?.tls ?? null
  if (files === null) return null
  const read = readCertificate(files)
  if (!read.ok) return read.error
  const { ends } = read.found
  if (ends > systemClock.now()) return null
  return `MUSTER_INTERNAL_TLS_CERT: the certificate in ${files.certFile} has ended (${ends.toISOString()})`
}

async function migrateOnly(pool: Pool, { files, log, out, error }: CommandParts): Promise<number> {
  const busy = new AbortController()
  const lock = openProcessLock({
    connect: () => pool.openReserved('lock'),
    clock: systemClock,
    log,
    onLost: () => busy.abort(),
  })
  try {
    await lock.acquire(busy.signal, () => busy.abort())
  } catch (cause) {
    if (!busy.signal.aborted) throw cause
    error('A muster runs on this database: it migrates by itself when its new version starts.\n')
    return FAILED
  }
  try {
    const versions = await migrate(lock.connection(), readMigrations(files.migrations), {
      clock: systemClock,
      log,
    })
    out(versions.length === 0 ? 'Nothing to do.\n' : `Applied ${versions.join(', ')}.\n`)
    return DONE
  } finally {
    await lock.release()
  }
}

async function verifyAudit(
  pool: Pool,
  { out, error }: CommandParts,
  expected: AuditHead | null,
): Promise<number> {
  const { isIntact, checked, head, broken } = await verifyAuditChain(pool, expected)
  if (broken) {
    error(`${sayBroken(broken, checked)}\n`)
    return FAILED
  }
  const held = expected ? `, and holds the head ${formatHead(expected)}` : ''
  out(`The audit trail is intact: ${checked} records${held}.\n`)
  if (head.seq > 0) out(`head ${formatHead(head)}\n`)
  return isIntact ? DONE : FAILED
}

function sayBroken({ seq, reason }: NonNullable<AuditVerification['broken']>, checked: number): string {
  if (reason === 'shorter-than-before')
    return `The audit trail was cut: it ends with record ${checked}, and the expected head came after it.`
  if (reason === 'other-than-before')
    return `The audit trail differs from the one whose head was expected: record ${seq} has another hash.`
  return `The audit trail is broken at record ${seq} (${reason}); ${checked} records fit.`
}

async function createUser(
  pool: Pool,
  { files, log, out, error, readInput }: CommandParts,
  config: Config,
  asked: { email: string; groups: readonly string[] },
): Promise<number> {
  const password = (await readInput()).replace(/\r?\n$/, '')
  const { identity, close } = composePeople({
    config,
    edition: createCommunityEdition(),
    clock: systemClock,
    random: systemRandom,
    log,
    db: pool,
    workerUrl: (name) => workerUrl(files, name),
  })
  try {
    const outcome = await identity.users.create(
      { userId: '', email: 'command line', askAgain: null },
      { ...asked, password },
    )
    if (!outcome.ok) {
      error(`Cannot create ${asked.email}: ${'error' in outcome ? outcome.error : outcome.code}\n`)
      return FAILED
    }
    out(`Created ${outcome.user.email} (${outcome.user.groups.join(', ')}).\n`)
    return DONE
  } finally {
    await close()
  }
}

async function checkPack(
  { file, keyFile }: { file: string; keyFile: string | null },
  { out, error }: CommandParts,
): Promise<number> {
  const key = keyFile === null ? null : await readFile(keyFile, 'utf8')
  const verdict = verifyPack(await readFile(file, 'utf8'), key)
  for (const { name, result, detail } of verdict.checks) out(`${result.padEnd(8)} ${name}: ${detail}\n`)
  if (verdict.isIntact) out(`The pack is intact${verdict.isSigned ? ' and signed by this key' : ''}.\n`)
  else error('The pack is not what was exported.\n')
  return verdict.isIntact ? DONE : FAILED
}
