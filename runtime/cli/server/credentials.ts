import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Environment } from '../../config.ts'
import { CommandFailure } from '../exit-codes.ts'

/** Tokens by the URL of their service, and the URL that was signed in to last. */
export interface Credentials {
  current: string | null
  tokens: Readonly<Record<string, string>>
}

const NONE: Credentials = { current: null, tokens: {} }

/** Where tokens are kept: below the user's folder for settings. */
export function credentialsFile(env: Environment): string {
  const folder = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config')
  return join(folder, 'muster', 'credentials.json')
}

/** The kept tokens; none where there is no file. Throws CommandFailure where the file cannot be read. */
export async function readCredentials(env: Environment): Promise<Credentials> {
  const file = credentialsFile(env)
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NONE
    throw new CommandFailure(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  try {
    const { current, tokens } = JSON.parse(text) as Partial<Credentials>
    if (typeof tokens !== 'object' || tokens === null) throw new Error('no tokens')
    const own = Object.entries(tokens).filter(([, token]) => typeof token === 'string')
    return { current: typeof current === 'string' ? current : null, tokens: Object.fromEntries(own) }
  } catch {
    throw new CommandFailure(`${file} is damaged: remove it and sign in again`)
  }
}

/**
 * Replace what is kept. Only the user can read the file, also while it is written. Throws CommandFailure where it
 * cannot be written.
 */
export async function writeCredentials(env: Environment, credentials: Credentials): Promise<void> {
  const file = credentialsFile(env)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const beside = `${file}.${process.pid}`
  try {
    await rm(beside, { force: true })
    await writeFile(beside, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    await chmod(beside, 0o600)
    await rename(beside, file)
  } catch (error) {
    await rm(beside, { force: true })
    throw new CommandFailure(`${file} cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}
