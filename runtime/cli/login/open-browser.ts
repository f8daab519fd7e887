import { spawn } from 'node:child_process'
import type { Environment } from '../../config.ts'

/** The program that opens an address: `BROWSER`, else the system's. */
function programOf(env: Environment): string {
  if (env['BROWSER']) return env['BROWSER']
  return process.platform === 'darwin' ? 'open' : 'xdg-open'
}

/** Open an address in the browser. Where no program can, nothing happens: the address was printed as well. */
export function openBrowser(address: string, env: Environment): void {
  const child = spawn(programOf(env), [address], {
    detached: true,
    stdio: 'ignore',
    env: withoutOurs(env),
  })
  child.on('error', () => undefined)
  child.unref()
}

/** The environment without settings of muster, one of which may be a token. */
const withoutOurs = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('MUSTER_')))
