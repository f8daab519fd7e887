import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

const README = new URL('../../README.md', import.meta.url)

/**
 * Run the shell commands of the README that follow `<!-- commands: name -->`, as they stand; returns what they print
 * last. The environment holds what is given and the PATH; they run in `folder` where one is given.
 */
export async function runReadmeCommands(
  name: string,
  environment: Readonly<Record<string, string>>,
  folder?: string,
): Promise<string> {
  const text = readFileSync(README, 'utf8')
  const found = new RegExp(`<!-- commands: ${name} -->\\s*\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(text)
  if (found?.[1] === undefined) throw new Error(`README.md has no commands "${name}"`)
  const env = { PATH: process.env['PATH'] ?? '', ...environment }
  const { stdout } = await promisify(execFile)('sh', ['-euc', found[1]], {
    env,
    timeout: 30_000,
    cwd: folder,
  })
  return stdout
}
