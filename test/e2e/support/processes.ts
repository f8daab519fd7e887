import { type ChildProcess, spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'

/** A program that a test started, with everything that it printed. */
export interface Running {
  pid: number
  output(): string
  hasEnded(): boolean
  /** Null while it runs, and when a signal ended it. */
  exitCode(): number | null
  ended: Promise<void>
  /** Ask it to stop, then force it. Whatever it started and left behind is ended too. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

const STOP_PATIENCE_MS = 12_000
const OUTPUT_KEPT = 200_000

/** Start a program with exactly this environment, and nothing but `input` to read. */
export function startProgram(
  command: string,
  args: readonly string[],
  { input = '', ...options }: { env: NodeJS.ProcessEnv; cwd: string; input?: string },
): Running {
  const child: ChildProcess = spawn(command, args, options)
  // A program that does not read its input may have ended before it is written.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)
  let output = ''
  const add = (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-OUTPUT_KEPT)
  }
  child.stdout?.on('data', add)
  child.stderr?.on('data', add)
  let isOver = false
  const ended = new Promise<void>((resolve) => {
    const over = () => {
      isOver = true
      resolve()
    }
    child.once('exit', over)
    child.once('error', (error) => {
      output += error.message
      over()
    })
  })
  const pid = child.pid ?? 0
  return {
    pid,
    output: () => output,
    hasEnded: () => isOver,
    exitCode: () => child.exitCode,
    ended,
    async stop(signal = 'SIGTERM') {
      if (isOver) return
      const children = await listChildren(pid)
      child.kill(signal)
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS)
      await ended
      clearTimeout(force)
      // The supervisor leaves its collector running when it is stopped.
      for (const one of children) endProcess(one)
    },
  }
}

/** The name and arguments of a process that has not ended; null for one that has, also for a zombie. */
export async function describeProcess(pid: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const state = text.slice(text.lastIndexOf(')') + 2)[0]
  if (state === undefined || state === 'Z' || state === 'X') return null
  return readFile(`/proc/${pid}/cmdline`, 'utf8').then(
    (command) => command.replaceAll('\0', ' '),
    () => null,
  )
}

/** The processes that a process started and that are alive. */
export async function listChildren(pid: number): Promise<number[]> {
  const children: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    // The fields behind the name, which stands in brackets and may hold anything: state, parent.
    const parent = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
    if (parent === pid) children.push(Number(name))
  }
  return children
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
