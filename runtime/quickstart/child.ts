import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'

/** A part of the quick start that runs as a process of its own. */
export interface Child {
  pid: number
  /** Resolves when it has ended, with how: `code 1`, `signal SIGKILL`. */
  ended: Promise<string>
  hasEnded(): boolean
  /** Ask it to stop, and force it after `patienceMs`. */
  stop(patienceMs: number): Promise<void>
}

/**
 * Start a Node script whose output goes to `logFile`. It is not in the terminal's process group: Ctrl-C reaches
 * this process, which then stops its parts in order.
 */
export function startChild(options: {
  script: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  logFile: string
  /** Give it a channel that closes when this process is gone, for a part that looks at it. */
  hasChannel: boolean
}): Child {
  const log = openSync(options.logFile, 'a', 0o600)
  const child: ChildProcess = spawn(process.execPath, [options.script, ...options.args], {
    env: options.env,
    detached: true,
    stdio: options.hasChannel ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
  })
  closeSync(log)
  let isOver = false
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      isOver = true
      resolve(signal === null ? `code ${code}` : `signal ${signal}`)
    })
    child.once('error', (error) => {
      isOver = true
      resolve(error.message)
    })
  })
  return {
    pid: child.pid ?? 0,
    ended,
    hasEnded: () => isOver,
    async stop(patienceMs) {
      if (isOver) return
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), patienceMs)
      await ended
      clearTimeout(force)
    },
  }
}

/** The last lines of a log, for a message that says why a part ended. */
export function tailLog(file: string, lines = 8): string {
  const text = readFileSync(file, 'utf8').trimEnd()
  return text.split('\n').slice(-lines).join('\n')
}

/** Rename the log of the former start to `<file>.1`, so that each start writes a log of its own. */
export async function turnLog(file: string): Promise<void> {
  if (existsSync(file)) await rename(file, `${file}.1`)
}
