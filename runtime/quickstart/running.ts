import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Which processes of a start are alive, kept in the data folder so that the next start can tell. */
interface Running {
  pid: number
  url: string
  /** The service's processes, none before they are started. */
  services: number[]
}

const fileOf = (directory: string) => join(directory, 'running.json')

/**
 * Whether the process exists and runs `script`; where there is no /proc to say what it runs, that it exists is enough.
 */
async function isRunning(pid: number, script: string): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => script)
  return command.includes(script)
}

/**
 * Make sure that no other start uses this data folder. Throws when one does; kills the processes of the service that a
 * killed start left behind.
 */
export async function claimDirectory(directory: string): Promise<void> {
  const text = await readFile(fileOf(directory), 'utf8').catch(() => null)
  if (text === null) return
  const { pid, url, services } = JSON.parse(text) as Running
  if (pid !== process.pid && (await isRunning(pid, 'start.mjs')))
    throw new Error(`muster runs already from this folder: ${url} (process ${pid})`)
  for (const service of services ?? [])
    if (await isRunning(service, 'muster.mjs')) process.kill(service, 'SIGKILL')
  await rm(fileOf(directory), { force: true })
}

/** Write down what runs. */
export async function noteRunning(directory: string, running: Omit<Running, 'pid'>): Promise<void> {
  await writeFile(fileOf(directory), JSON.stringify({ pid: process.pid, ...running }), { mode: 0o600 })
}

/** Say that nothing runs any more. */
export async function forgetRunning(directory: string): Promise<void> {
  await rm(fileOf(directory), { force: true })
}
