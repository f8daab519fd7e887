import { type ChildProcess, fork } from 'node:child_process'
import { Load, type LoadOptions, type LoadStats } from './load.ts'

interface Call {
  id: number
  name: string
  argument: unknown
}

interface Answer {
  id: number
  value?: unknown
  error?: string
}

/** The load in a process of its own, driven over the channel to its parent. */
export interface RemoteLoad {
  pid: number
  connect(): Promise<{ seconds: number }>
  beats(options: { intervalMs: number }): Promise<void>
  stopBeats(): Promise<void>
  flood(options: { seconds: number }): Promise<{ perSecond: number }>
  reconnectAfter(options: { ms: number }): Promise<void>
  cut(options: { from: number; count: number }): Promise<void>
  resetStats(): Promise<void>
  stats(): Promise<LoadStats>
  end(): Promise<void>
}

/** What the bundle does when it is started as a load: answer commands until the channel ends. */
export function serveLoad(options: LoadOptions): void {
  const load = new Load(options)
  const commands = load as unknown as Record<string, (argument: unknown) => unknown>
  process.on('message', async ({ id, name, argument }: Call) => {
    const answer: Answer = { id }
    try {
      answer.value = await commands[name]!.call(load, argument)
    } catch (error) {
      answer.error = String(error)
    }
    process.send!(answer)
  })
  process.on('disconnect', () => process.exit(0))
}

/** Start a load. */
export function startLoad(options: LoadOptions): RemoteLoad {
  const child: ChildProcess = fork(process.argv[1]!, ['--role=load', JSON.stringify(options)], {
    execArgv: [],
  })
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  let lastId = 0
  child.on('message', ({ id, value, error }: Answer) => {
    const call = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) call?.resolve(value as never)
    else call?.reject(new Error(error))
  })
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  void ended.then(() => {
    for (const call of waiting.values()) call.reject(new Error('the load process ended'))
  })
  const call =
    <T>(name: string) =>
    (argument?: unknown) =>
      new Promise<T>((resolve, reject) => {
        const id = ++lastId
        waiting.set(id, { resolve, reject })
        child.send({ id, name, argument } satisfies Call)
      })
  return {
    pid: child.pid!,
    connect: call('connect'),
    beats: call('beats'),
    stopBeats: call('stopBeats'),
    flood: call('flood'),
    reconnectAfter: call('reconnectAfter'),
    cut: call('cut'),
    resetStats: call('resetStats'),
    stats: call('stats'),
    async end() {
      child.disconnect()
      await ended
    },
  }
}
