import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startProgram } from './processes.ts'
import { BUNDLE } from './service.ts'

/** How a command of the client ended. */
export interface ClientRun {
  code: number | null
  output: string
}

/** Run the client of the bundle to its end, with exactly this environment. */
export async function runClient(
  args: readonly string[],
  { env = {}, input, cwd = '/' }: { env?: Record<string, string>; input?: string; cwd?: string } = {},
): Promise<ClientRun> {
  const started = startProgram(process.execPath, [BUNDLE, ...args], {
    cwd,
    env,
    ...(input === undefined ? {} : { input }),
  })
  const force = setTimeout(() => started.stop('SIGKILL'), 30_000)
  await started.ended
  clearTimeout(force)
  return { code: started.exitCode(), output: started.output() }
}

/** Put a program `muster` into a folder that exists, which is the client of the bundle. */
export async function writeMuster(folder: string): Promise<void> {
  const file = join(folder, 'muster')
  await writeFile(file, `#!/bin/sh\nexec '${process.execPath}' '${BUNDLE}' "$@"\n`)
  await chmod(file, 0o755)
}
