import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Environment } from '../../config.ts'
import type { Arguments } from '../command.ts'

const run = promisify(execFile)

/**
 * The commit that a folder is at, and its author: from the options, else from the pipeline's environment variables,
 * else from Git. Empty where none of them says.
 */
export async function readCommit(
  folder: string,
  args: Arguments,
  env: Environment,
): Promise<{ sha: string; author: string }> {
  const sha = args.text('commit') ?? (env['GITHUB_SHA'] || env['CI_COMMIT_SHA'] || '')
  const author = args.text('author') ?? (env['CI_COMMIT_AUTHOR'] || env['GITHUB_ACTOR'] || '')
  if (sha !== '' && author !== '') return { sha, author }
  const own = await askGit(folder, env)
  return { sha: sha || own.sha, author: author || own.author }
}

async function askGit(folder: string, env: Environment): Promise<{ sha: string; author: string }> {
  try {
    const options = { env: { PATH: env['PATH'], HOME: env['HOME'] }, timeout: 10_000 }
    const { stdout } = await run('git', ['-C', folder, 'log', '-1', '--format=%H%n%an <%ae>'], options)
    const [sha = '', author = ''] = stdout.trim().split('\n')
    return { sha, author }
  } catch {
    // There is no repository, or no Git.
    return { sha: '', author: '' }
  }
}
