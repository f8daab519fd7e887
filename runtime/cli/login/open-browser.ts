import { spawn } from 'node:child_process'
import type { Environment } from '../../config.ts'

/** The program that shows an address: `BROWSER`, else the one of the system. */
function programOf(env: Environment): string {
  if (env['BROWSER']) return env['BROWSER']
  return process.platform === 'darwin' ? 'open' : 'xdg-open'
}

/** Show an address to the person in front. Where nothing can, nothing happens: it was printed as well. */
export function openBrowser(address: string, env: Environment): void {
  const child = spawn(programOf(env), [address], {
    ...{ detached: true, stdio: 'ignore', env: { ...env } },
  })
  child.on('error', () => undefined)
  child.unref()
}
