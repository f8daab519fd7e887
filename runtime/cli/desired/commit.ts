import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Environment } from '../../config.ts'
import type { Arguments } from '../command.ts'

const run = promisify(execFile)

/** So many authors are told at most, and so many commits of a merge are asked for theirs. */
const AUTHORS_MAX = 200
/** The longest name with its address that is told whole. */
const NAME_LENGTH_MAX = 512

/** The commit that a folder is at. */
export interface Commit {
  /** Empty where nobody says. */
  sha: string
  /** As people read it; empty where nobody says. */
  author: string
  /** Everybody who may have made it: whom Git names, whom the pipeline names and whom the caller names. */
  authors: string[]
}

/**
 * The commit that a folder is at, with its authors. The options say it, else the pipeline's environment its number and
 * Git its author: what pipelines call an author may be whoever started the run. All of them count as authors.
 */
export async function readCommit(folder: string, args: Arguments, env: Environment): Promise<Commit> {
  const own = await askGit(folder, env)
  const named = [args.text('author'), ...own.authors, env['CI_COMMIT_AUTHOR'], env['GITHUB_ACTOR']]
  const authors = [...new Set(named.flatMap((name) => name?.trim().slice(0, NAME_LENGTH_MAX) || []))]
  return {
    sha: args.text('commit') || env['GITHUB_SHA'] || env['CI_COMMIT_SHA'] || own.sha,
    author: authors[0] ?? '',
    authors: authors.slice(0, AUTHORS_MAX),
  }
}

/** What Git says of the newest commit and, where it is a merge, of the commits that it brought. */
async function askGit(folder: string, env: Environment): Promise<Pick<Commit, 'sha' | 'authors'>> {
  const options = { env: { PATH: env['PATH'], HOME: env['HOME'] }, timeout: 10_000 }
  const format = '--format=%H%n%an <%ae>%n%cn <%ce>%n%(trailers:key=Co-authored-by,valueonly)%x00'
  const log = async (...commits: string[]) => {
    const { stdout } = await run('git', ['-C', folder, 'log', `-${AUTHORS_MAX}`, format, ...commits], options)
    const told = stdout.split('\0').map((text) => text.trim().split('\n'))
    return { sha: told[0]?.[0] ?? '', authors: told.flatMap(([, ...names]) => names) }
  }
  try {
    return await log('HEAD^1..HEAD')
  } catch {
    // A first commit has none before it, nor has the only one that a pipeline fetched.
    return await log('-1', 'HEAD').catch(() => ({ sha: '', authors: [] }))
  }
}
