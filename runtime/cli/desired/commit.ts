import { execFile } from 'node:child_process'
import { lstat, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Environment } from '../../config.ts'
import type { Arguments } from '../command.ts'

const run = promisify(execFile)

/** So many authors are told at most, and so many commits of a merge are asked for theirs. */
const AUTHORS_MAX = 200
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
  /** Whom the caller and the pipeline name, which nobody who wrote the commit can change. */
  certain: string[]
  /** Everybody who may have made it: whom the caller names, whom the pipeline names and whom Git names. */
  authors: string[]
}

/** Whom Git names: who wrote and who committed, and whom the messages name beside them, which may be any number. */
interface Named {
  sha: string
  people: string[]
  coAuthors: string[]
}

/**
 * The commit that a folder is at, with its authors. The options say it, else the pipeline's environment its number and
 * Git its author: what pipelines call an author may be whoever started the run. All of them count as authors.
 */
export async function readCommit(folder: string, args: Arguments, env: Environment): Promise<Commit> {
  const own = await askGit(folder, env)
  const option = args.text('author')
  const pipeline = PIPELINE_AUTHORS.map((name) => env[name])
  const certain = listNames([option, ...pipeline])
  return {
    sha: args.text('commit') || env['GITHUB_SHA'] || env['CI_COMMIT_SHA'] || own.sha,
    author: listNames([option, ...own.people, ...pipeline])[0] ?? '',
    certain,
    authors: listNames([...certain, ...own.people, ...own.coAuthors]).slice(0, AUTHORS_MAX),
  }
}

const listNames = (named: readonly (string | undefined)[]): string[] => [
  ...new Set(named.flatMap((name) => name?.trim().slice(0, NAME_LENGTH_MAX) || [])),
]

/**
 * The authors of a document for the service: who last wrote each of its files, however long ago, before those of the
 * commit. Whoever wrote a text did so also where somebody else committed on top of it. Where there are too many, those
 * whom only a message names are left out first, and never whom the caller or the pipeline names.
 */
export async function authorsOf(
  files: readonly string[],
  { certain, authors }: Pick<Commit, 'certain' | 'authors'>,
  env: Environment,
): Promise<string[]> {
  const own = await Promise.all(files.map((file) => askLastAuthors(file, env)))
  const people = own.flatMap((named) => named.people)
  const coAuthors = own.flatMap((named) => named.coAuthors)
  return listNames([...certain, ...people, ...authors, ...coAuthors]).slice(0, AUTHORS_MAX)
}

async function askLastAuthors(file: string, env: Environment): Promise<Named> {
  const folder = await realpath(dirname(file)).catch(() => null)
  const checkout = folder === null ? null : await findCheckout(folder)
  if (folder === null || checkout === null) return NOTHING
  return listCommits(checkout, env, ['--max-count=1', 'HEAD'], [join(folder, basename(file))]).catch(
    () => NOTHING,
  )
}

const NOTHING: Named = { sha: '', people: [], coAuthors: [] }

/**
 * What Git says of the newest commit and, where it is a merge, of the commits that it brought, and of all that came
 * since the one that the pipeline says was there before.
 */
async function askGit(folder: string, env: Environment): Promise<Named> {
  const checkout = await findCheckout(folder)
  if (checkout === null) return NOTHING
  const list = (...commits: string[]) => listCommits(checkout, env, commits)
  // A first commit has none before it, nor has the only one that a pipeline fetched.
  const newest = await list('HEAD^1..HEAD').catch(() => list('--max-count=1', 'HEAD').catch(() => NOTHING))
  const before = await readBefore(env)
  const pushed = before === null ? NOTHING : await list(`${before}..HEAD`).catch(() => NOTHING)
  return {
    sha: newest.sha,
    people: [...newest.people, ...pushed.people],
    coAuthors: [...newest.coAuthors, ...pushed.coAuthors],
  }
}

/** Which commit the branch was at before the push that the pipeline runs for; null where nothing says. */
async function readBefore(env: Environment): Promise<string | null> {
  const event = env['GITHUB_EVENT_PATH']
  const told =
    env['CI_COMMIT_BEFORE_SHA'] ||
    (event === undefined ? undefined : await readFile(event, 'utf8').then(beforeOf, () => undefined))
  // GitLab and GitHub say zeros where there was none.
  return told !== undefined && /^[0-9a-f]{40,64}$/.test(told) && !/^0+$/.test(told) ? told : null
}

function beforeOf(event: string): string | undefined {
  try {
    const { before } = JSON.parse(event) as { before?: unknown }
    return typeof before === 'string' ? before : undefined
  } catch {
    return undefined
  }
}

/** The commits that `rev-list` names for these, those that changed `files` where some are given; newest first. */
async function listCommits(
  checkout: string,
  env: Environment,
  commits: readonly string[],
  files: readonly string[] = [],
): Promise<Named> {
  const range = [`--max-count=${AUTHORS_MAX}`, FORMAT, ...commits, '--', ...files]
  const asked = ['-C', checkout, '--literal-pathspecs', ...HARMLESS, 'rev-list', ...range]
  const { stdout } = await run('git', asked, {
    env: { PATH: env['PATH'], HOME: env['HOME'], ...WITHOUT_HELPERS },
    timeout: 10_000,
    killSignal: 'SIGKILL',
    maxBuffer: 16_777_216,
  })
  // Each commit comes after a line that begins with "commit".
  const told = stdout.split('\0').map((text) => text.trim().split('\n').slice(1))
  return {
    sha: told[0]?.[0] ?? '',
    people: told.flatMap((lines) => lines.slice(1, 3)),
    coAuthors: told.flatMap((lines) => lines.slice(3)),
  }
}

const FORMAT = '--format=%H%n%an <%ae>%n%cn <%ce>%n%(trailers:key=Co-authored-by,valueonly)%x00'

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
