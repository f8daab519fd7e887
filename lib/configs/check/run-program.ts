import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'

/** How a program ended, and what it said up to the limit. */
export interface ProgramRun {
  outcome: 'ended' | 'timed-out' | 'not-started'
  /** -1 when it was killed or did not start. */
  exitCode: number
  stdout: string
  stderr: string
}

/** Where a program runs, how long it may take and how much of its output is kept. */
export interface ProgramLimits {
  /** Its working directory. */
  folder: string
  timeoutMs: number
  /** Of each stream; what comes after is not kept. */
  outputBytesMax: number
}

type Child = ChildProcessByStdio<null, Readable, Readable>

/** How long the streams may stay open after the program ended and its group was killed. */
const DRAIN_MS = 500

/**
 * Run a program with an empty environment in a process group of its own. At the time limit the whole group is
 * killed; what the program started and left behind is killed as well when it ends.
 */
export function runProgram(
  binary: string,
  args: readonly string[],
  limits: ProgramLimits,
): Promise<ProgramRun> {
  return new Promise((resolve) => {
    const child = spawn(binary, [...args], {
      cwd: limits.folder,
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const stdout = collect(child.stdout, limits.outputBytesMax)
    const stderr = collect(child.stderr, limits.outputBytesMax)
    let outcome: ProgramRun['outcome'] = 'ended'
    let isSettled = false
    const settle = (exitCode: number) => {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      child.stdout.destroy()
      child.stderr.destroy()
      resolve({ outcome, exitCode, stdout: stdout(), stderr: stderr() })
    }
    const timer = setTimeout(() => {
      outcome = 'timed-out'
      killGroup(child)
    }, limits.timeoutMs)
    child.on('error', () => {
      outcome = 'not-started'
      settle(-1)
    })
    child.on('exit', (code) => {
      killGroup(child)
      // A process that left the group may still hold the streams open.
      const drain = setTimeout(() => settle(code ?? -1), DRAIN_MS)
      child.on('close', () => {
        clearTimeout(drain)
        settle(code ?? -1)
      })
    })
  })
}

function collect(stream: Readable, bytesMax: number): () => string {
  const chunks: Buffer[] = []
  let length = 0
  stream.on('data', (chunk: Buffer) => {
    // Read past the limit too: a program whose pipe is full would wait for ever.
    if (length < bytesMax) chunks.push(chunk.subarray(0, bytesMax - length))
    length += chunk.length
  })
  stream.on('error', () => undefined)
  return () => Buffer.concat(chunks).toString('utf8')
}

function killGroup(child: Child): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Every process of the group has ended.
  }
}
