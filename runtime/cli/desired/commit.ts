import { execFile } from 'node:child_process'
import { lstat, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { Environment } from '../../config.ts'
import type { Arguments } from '../command.ts'
import { CommandFailure } from '../exit-codes.ts'

const run = promisify(execFile)

/** So many authors are told at most, and so many commits of a merge are asked for theirs, or of a file for co-authors. */
const AUTHORS_MAX = 200
/** In a long history Git looks for long for whoever wrote a file. */
const GIT_WITHIN_MS = 60_000
/** The longest name with its address that is told whole. */
const NAME_LENGTH_MAX = 512

/**
 * Where pipelines say who made a commit and who started the run. A commit may name anybody; who started the run is the
 * word of GitHub or GitLab, which whoever wrote the commit cannot change.
 */
const PIPELINE_AUTHORS = [
  'CI_COMMIT_AUTHOR',
  'GITLAB_USER_EMAIL',
  'GITLAB_USER_LOGIN',
  'GITLAB_USER_NAME',
  'GITHUB_ACTOR',
  'GITHUB_TRIGGERING_ACTOR',
]

/** The commit that a folder is at. */
export interface Commit {
  /** Empty where nobody says. */
  sha: string
  /** As people read it; empty where nobody says. */
  author: string
  /** Older commits are not there, so who wrote a file may be unknown. */
  isShallow: boolean
  /** Whom the caller and the pipeline name, which nobody who wrote the commit can change. */
  certain: string[]
  /** Everybody who may have made it: whom the caller names, whom the pipeline names and whom Git names. */
  authors: string[]
  /** The checkout that the folder lies in; null where it lies in none. */
  checkout: string | null
  /** Whether Git is here and a checkout has a commit of this name. */
  hasCommit: HasCommit
}

type HasCommit = (checkout: string, name: string) => Promise<boolean>

/** Asks each checkout once for a commit, however many documents lie in it. */
function openHasCommit(env: Environment): HasCommit {
  const asked = new Map<string, Promise<boolean>>()
  let isHere: Promise<boolean> | null = null
  return (checkout, name) => {
    const key = JSON.stringify([checkout, name])
    const known = asked.get(key)
    if (known !== undefined) return known
    isHere ??= hasGit(env)
    const found = isHere.then((here) => here && isCommit(checkout, env, name))
    asked.set(key, found)
    return found
  }
}

/** Whom Git names: who wrote and who committed, and whom the messages name beside them, which may be any number. */
interface Named {
  sha: string
  isShallow?: boolean
  people: string[]
  coAuthors: string[]
}

/**
 * The commit that a folder is at, with its authors. The options say it, else the pipeline's environment its number and
 * Git its author: what pipelines call an author may be whoever started the run. All of them count as authors. Throws
 * CommandFailure where there is a commit and Git cannot say who made it.
 */
export async function readCommit(folder: string, args: Arguments, env: Environment): Promise<Commit> {
  const isSaid = Boolean(args.text('author') && args.text('commit'))
  const hasCommit = openHasCommit(env)
  const checkout = await findCheckout(folder)
  const own = checkout === null ? NOTHING : await askGit(checkout, env, isSaid, hasCommit)
  const option = args.text('author')
  const pipeline = PIPELINE_AUTHORS.map((name) => env[name])
  const certain = listNames([option, ...pipeline])
  return {
    sha: args.text('commit') || env['GITHUB_SHA'] || env['CI_COMMIT_SHA'] || own.sha,
    isShallow: own.isShallow ?? false,
    author: listNames([option, ...own.people, ...pipeline])[0] ?? '',
    certain,
    authors: listNames([...certain, ...own.people, ...own.coAuthors]).slice(0, AUTHORS_MAX),
    checkout,
    hasCommit,
  }
}

const listNames = (named: readonly (string | undefined)[]): string[] => [
  ...new Set(named.flatMap((name) => name?.trim().slice(0, NAME_LENGTH_MAX) || [])),
]

/**
 * The authors of a document for the service, before those of the commit: who changed each of its files since the commit
 * whose text runs (`ranSha`), where nobody did whoever last wrote it, and where nobody can say what of it runs everybody who
 * ever changed it. Whoever wrote a text did so also where somebody else committed on top of it. Where there are too many,
 * those whom only a message names are left out first, and never whom the caller or the pipeline names. Throws
 * CommandFailure where more people changed the files than can be told.
 */
export async function authorsOf(
  { files, ranSha }: { files: readonly string[]; ranSha?: string | undefined },
  commit: Commit,
  env: Environment,
): Promise<string[]> {
  const { certain, authors } = commit
  const own = (await Promise.all(files.map((file) => askFileAuthors(file, ranSha, env, commit)))).flat()
  const people = listNames([...certain, ...own.flatMap((named) => named.people)])
  if (people.length > AUTHORS_MAX)
    throw new CommandFailure(
      `${people.length} people changed ${files[0]} and what it leads to, and only ${AUTHORS_MAX} can be told: put it into a new file`,
    )
  const coAuthors = own.flatMap((named) => named.coAuthors)
  return listNames([...people, ...authors, ...coAuthors]).slice(0, AUTHORS_MAX)
}

async function askFileAuthors(
  file: string,
  ranSha: string | undefined,
  env: Environment,
  commit: Commit,
): Promise<Named[]> {
  const folder = await realpath(dirname(file)).catch(() => null)
  const checkout = folder === null ? null : await findCheckout(folder)
  if (folder === null || checkout === null) return []
  // Which commit of a submodule is checked out says the checkout around it.
  const around = await askFileAuthors(checkout, ranSha, env, commit)
  if (!(await commit.hasCommit(checkout, 'HEAD'))) return around
  const full = join(folder, basename(file))
  const path = relative(checkout, full)
  const ran = await findRan(checkout, ranSha, env, commit)
  const range = ran === null ? 'HEAD' : `${ran}..HEAD`
  const since = await listCommits(checkout, env, [range], [full])
  // A file that was not there then may have had another name.
  if (ran === null || (await resolve(checkout, env, `${ran}:${path}`)) === null)
    return [since, await listNamedBefore(checkout, env, range, path), ...around]
  if (since.people.length > 0) return [since, ...around]
  return [await listCommits(checkout, env, ['--max-count=1', 'HEAD'], [full]), ...around]
}

/**
 * The commit of this checkout whose files run; null where nobody can say who wrote what since then: nothing of them ran, or
 * the history does not hold it, since it was rewritten or not fetched. Of a submodule it is the one that was checked out.
 */
async function findRan(
  checkout: string,
  ranSha: string | undefined,
  env: Environment,
  commit: Commit,
): Promise<string | null> {
  if (ranSha === undefined || !isHash(ranSha)) return null
  if (checkout === commit.checkout) return (await commit.hasCommit(checkout, ranSha)) ? ranSha : null
  const outer = await findCheckout(dirname(checkout))
  const around = outer === null ? null : await findRan(outer, ranSha, env, commit)
  const found = around === null ? null : await resolve(outer!, env, `${around}:${relative(outer!, checkout)}`)
  return found !== null && (await commit.hasCommit(checkout, found)) ? found : null
}

const isHash = (text: string): boolean => /^[0-9a-f]{40,64}$/.test(text)

const NOTHING: Named = { sha: '', people: [], coAuthors: [] }

/**
 * What Git says of the newest commit and, where it is a merge, of the commits that it brought, and of all that came
 * since the one that the pipeline says was there before. `isSaid` says that the caller names commit and author, so that
 * a machine without Git will do.
 */
async function askGit(
  checkout: string,
  env: Environment,
  isSaid: boolean,
  hasCommit: HasCommit,
): Promise<Named> {
  if (!(await hasCommit(checkout, 'HEAD'))) {
    if (isSaid || (await hasGit(env))) return NOTHING
    throw new CommandFailure(
      'git is not installed here, so nobody can say who made the commit: install it, or give --commit and --author',
    )
  }
  const list = (commits: string[]) => listCommits(checkout, env, commits)
  // A first commit has none before it, nor has the only one that a pipeline fetched.
  const hasParent = await isCommit(checkout, env, 'HEAD^1')
  const newest = await list(hasParent ? ['HEAD^1..HEAD'] : ['--max-count=1', 'HEAD'])
  const before = await readBefore(env)
  const isThere = before !== null && (await isCommit(checkout, env, before))
  const pushed = isThere ? await list([`${before}..HEAD`]) : NOTHING
  const shallow = await git(checkout, env, ['rev-parse', '--is-shallow-repository'])
  return {
    sha: newest.sha,
    isShallow: shallow.trim() === 'true',
    people: [...newest.people, ...pushed.people],
    coAuthors: [...newest.coAuthors, ...pushed.coAuthors],
  }
}

const hasGit = (env: Environment): Promise<boolean> =>
  run('git', ['--version'], { env: { PATH: env['PATH'] } }).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )

/** Which commit the branch was at before the push that the pipeline runs for; null where nothing says. */
async function readBefore(env: Environment): Promise<string | null> {
  const event = env['GITHUB_EVENT_PATH']
  const told =
    env['CI_COMMIT_BEFORE_SHA'] ||
    (event === undefined ? undefined : await readFile(event, 'utf8').then(beforeOf, () => undefined))
  // GitLab and GitHub say zeros where there was none.
  return told !== undefined && isHash(told) && !/^0+$/.test(told) ? told : null
}

function beforeOf(event: string): string | undefined {
  try {
    const { before } = JSON.parse(event) as { before?: unknown }
    return typeof before === 'string' ? before : undefined
  } catch {
    return undefined
  }
}

/** Whether this names a commit of the checkout. */
const isCommit = async (checkout: string, env: Environment, name: string): Promise<boolean> =>
  (await resolve(checkout, env, `${name}^{commit}`)) !== null

/** The hash of what this names; null where the checkout's history does not hold it. */
async function resolve(checkout: string, env: Environment, name: string): Promise<string | null> {
  try {
    const asked = ['rev-parse', '--verify', '--quiet', '--end-of-options', name]
    return (await git(checkout, env, asked)).trim().split('\n').at(-1)!
  } catch (error) {
    // So Git ends where it only does not know the name.
    if (error instanceof GitFailure && error.code === 1) return null
    throw error
  }
}

/**
 * The commits that `rev-list` names for these, newest first: of all that changed `files`, where some are given, since anybody
 * could be hidden behind more of them.
 */
async function listCommits(
  checkout: string,
  env: Environment,
  commits: readonly string[],
  files: readonly string[] = [],
): Promise<Named> {
  const list = async (format: string, ...range: string[]) => {
    const told = await git(checkout, env, [
      '--literal-pathspecs',
      'rev-list',
      `--format=${format}%x00`,
      ...range,
    ])
    // Each commit comes after a line that begins with "commit".
    return told.split('\0').map((text) => text.trim().split('\n').slice(1))
  }
  const bound = files.length === 0 ? [`--max-count=${AUTHORS_MAX}`] : []
  const told = await list('%H%n%an <%ae>%n%cn <%ce>', ...bound, ...commits, '--', ...files)
  const found = told.flatMap(([sha = '']) => (sha === '' ? [] : [sha])).slice(0, AUTHORS_MAX)
  const messages =
    found.length === 0
      ? []
      : await list('%(trailers:key=Co-authored-by,valueonly)', '--no-walk=unsorted', ...found, '--')
  return {
    sha: told[0]?.[0] ?? '',
    people: told.flatMap((lines) => lines.slice(1)),
    coAuthors: messages.flat(),
  }
}

/** Whom the commits name that changed a file, under whatever name it had in each; without those beside them. */
async function listNamedBefore(
  checkout: string,
  env: Environment,
  commits: string,
  file: string,
): Promise<Named> {
  const told = await git(checkout, env, [
    ...['--literal-pathspecs', 'log', '--follow', '--format=%an <%ae>%n%cn <%ce>', '--no-patch'],
    ...[commits, '--', file],
  ])
  return { ...NOTHING, people: told.split('\n').filter((line) => line !== '') }
}

/** Git could not be asked, or did not answer. */
class GitFailure extends CommandFailure {
  /** How Git ended; absent where it did not by itself. */
  readonly code: number | undefined

  constructor(message: string, code: number | undefined) {
    super(message)
    this.code = code
  }
}

/**
 * What Git prints. Throws GitFailure: who made a commit decides who may approve it, so nothing is asked for where that
 * cannot be told.
 */
async function git(checkout: string, env: Environment, asked: readonly string[]): Promise<string> {
  // Containers often run as another user than the one who fetched; what could be run is switched off below.
  const all = ['-C', checkout, '-c', `safe.directory=${checkout}`, ...HARMLESS, ...asked]
  try {
    const { stdout } = await run('git', all, {
      env: { PATH: env['PATH'], HOME: env['HOME'], ...WITHOUT_HELPERS },
      timeout: GIT_WITHIN_MS,
      killSignal: 'SIGKILL',
      maxBuffer: 16_777_216,
    })
    return stdout
  } catch (error) {
    const { code, stderr, message, killed } = error as Error &
      Partial<Record<'code' | 'killed', unknown>> & { stderr?: string }
    const slow = killed === true && code === null ? `Git did not answer in ${GIT_WITHIN_MS / 1_000} s` : ''
    const why = slow || stderr?.trim().split('\n')[0] || message.split('\n')[0]!
    throw new GitFailure(
      `who made the commit cannot be read from ${checkout}: ${why.slice(0, NAME_LENGTH_MAX)}`,
      typeof code === 'number' ? code : undefined,
    )
  }
}

/** Whatever the settings of a repository can make Git run, switched off. */
const HARMLESS = [
  'safe.bareRepository=explicit',
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'core.sshCommand=false',
  'core.askPass=false',
  'credential.helper=',
  'diff.external=',
  'log.showSignature=false',
  'gpg.program=false',
  'protocol.allow=never',
].flatMap((setting) => ['-c', setting])

/** Commits are only read: nothing is fetched, asked for or written meanwhile. */
const WITHOUT_HELPERS = { GIT_NO_LAZY_FETCH: '1', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' }

/**
 * The folder with `.git` that a folder lies in; null where there is none. Git looks for repositories without `.git` as
 * well, and such a one can be committed as ordinary files: its settings would be those of whoever made a pull request.
 */
async function findCheckout(folder: string): Promise<string | null> {
  const start = await realpath(folder).catch(() => null)
  for (let at = start; at !== null; at = dirname(at) === at ? null : dirname(at))
    if (await lstat(join(at, '.git')).then(Boolean, () => false)) return at
  return null
}
