import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { readReadmeBlock } from './readme-blocks.ts'

/**
 * Run the shell commands of the README that follow `<!-- commands: name -->`, as they stand; returns what they print
 * last. The environment holds what is given and the PATH; they run in `folder` where one is given.
 */
export async function runReadmeCommands(
  name: string,
  environment: Readonly<Record<string, string>>,
  folder?: string,
): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', ...environment }
  const { stdout } = await promisify(execFile)('sh', ['-euc', readReadmeBlock('commands', name)], {
    env,
    timeout: 55_000,
    cwd: folder,
  })
  return stdout
}
