import { type ChildProcess, fork } from 'node:child_process'

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

type Command = (argument: never) => unknown
type Commands<T> = { [K in keyof T as T[K] extends Command ? K : never]: T[K] }

/** The methods of an object that lives in another process; each returns a promise. */
export type Remote<T> = {
  [K in keyof Commands<T>]: T[K] extends (...given: infer Given) => infer Result
    ? (...given: Given) => Promise<Awaited<Result>>
    : never
} & { pid: number; stop(): Promise<void> }

/** Answer the commands of the parent process with the methods of `subject`, until the channel to it ends. */
export function serveRole(subject: object): void {
  const commands = subject as Record<string, (argument: unknown) => unknown>
  process.on('message', async ({ id, name, argument }: Call) => {
    const answer: Answer = { id }
    try {
      answer.value = await commands[name]!.call(subject, argument)
    } catch (error) {
      answer.error = String(error)
    }
    process.send!(answer)
  })
  process.on('disconnect', () => process.exit(0))
}

/** Start this program again, in a role and a process of its own, and return its methods. */
export function startRole<T extends object>(role: string, options: unknown): Remote<T> {
  const child: ChildProcess = fork(process.argv[1]!, [`--role=${role}`, JSON.stringify(options)], {
    execArgv: [],
  })
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let lastId = 0
  child.on('message', ({ id, value, error }: Answer) => {
    const call = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) call?.resolve(value)
    else call?.reject(new Error(error))
  })
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  void ended.then(() => {
    for (const call of waiting.values()) call.reject(new Error(`the ${role} process ended`))
  })
  const send = (name: string) => (argument?: unknown) =>
    new Promise((resolve, reject) => {
      const id = ++lastId
      waiting.set(id, { resolve, reject })
      child.send({ id, name, argument } satisfies Call)
    })
  const own = {
    pid: child.pid!,
    async stop() {
      child.disconnect()
      await ended
    },
  }
  return new Proxy(own, {
    get(target, name) {
      // An `await` of this object reads `then` to see whether it is a promise.
      if (name === 'then') return undefined
      return name in target ? Reflect.get(target, name) : send(String(name))
    },
  }) as unknown as Remote<T>
}
