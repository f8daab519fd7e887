import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Keep a process of this machine, with all its threads, on the core that belongs to this test worker. For two that ask
 * and answer in turn: waking a process on another core takes longer than what is asked. Where the system cannot do it,
 * everything stays as it is.
 */
export async function keepOnOneCore(pid: number): Promise<void> {
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 1)
  const core = worker % availableParallelism()
  await run('taskset', ['--all-tasks', '--pid', '--cpu-list', String(core), String(pid)]).catch(() => {})
}
