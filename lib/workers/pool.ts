import { Worker } from 'node:worker_threads'
import type { Log } from '../log.ts'

/**
 * Bounded threads for work that would hold the event loop: Argon2id, YAML of unbounded size, reports.
 *
 * A kind of work is one file `runtime/workers/<name>-worker.ts` that calls `serveWorker(handler)`. The build bundles each
 * to `<name>-worker.mjs` beside the service's bundle; from a checkout they lie in `.cache/`. A pool never looks for
 * them: its maker passes the URL (`workerUrl` of `runtime/files.ts`; `testWorkerUrl` of `test/support/workers.ts`).
 */
export interface WorkerPool<Payload, Result> {
  /**
   * Do one job. `payload` is copied, but for what is named in `transfer`; `room` is one of the options' rooms. Codes: `worker-busy` when the queue is full or
   * the pool closed, `worker-timed-out` when the job took too long (its thread is ended), `worker-failed` when the
   * handler threw or its thread died; the cause is for the log.
   */
  run(payload: Payload, transfer?: readonly ArrayBuffer[], room?: string): Promise<WorkerOutcome<Result>>
  /** Threads that live now, and jobs that wait for one. */
  load(): { threads: number; queued: number }
  /**
   * What the threads' heaps take, in bytes. Node 22.16 and 24 can ask a thread that is at work; of one that cannot be
   * asked it is what it had taken after its last job, and what the options say that the present one may add.
   */
  heapBytes(): Promise<number>
  /** End all threads; jobs that run or wait get `worker-busy`. */
  close(): Promise<void>
}

export type WorkerOutcome<Result> =
  | { ok: true; value: Result }
  | { ok: false; code: 'worker-busy' | 'worker-timed-out' | 'worker-failed'; cause: string }

export interface WorkerPoolOptions<Payload = never> {
  /** For log lines. */
  name: string
  entry: URL
  maxThreads: number
  /** Jobs that may wait beside those that run; more are refused at once. Rooms have their own. */
  maxQueued: number
  /**
   * Kinds of callers that are not to crowd each other out, by name. When a thread becomes free, the room with the
   * fewest jobs under way goes first.
   */
  rooms?: Readonly<Record<string, WorkerRoom>>
  /** For one job, from the moment its thread gets it; a thread's first job includes its start. */
  timeoutMs: number
  /** A thread without work for this long is ended. */
  idleMs?: number
  /** A thread that needs more ends with `worker-failed`. */
  heapMbMax?: number
  /** Bytes of heap that a job may take while it runs, at most `heapMbMax`; without this all of those. */
  heapBytesOf?(payload: Payload): number
  log: Log
}

/** What one kind of callers may take of a pool. */
export interface WorkerRoom {
  /** Threads that its jobs may hold at once. Whatever the other rooms may hold together leaves the rest. */
  maxThreads: number
  maxQueued: number
}

/** What goes to a thread and comes back, see `serveWorker`. */
export type WorkerReply = ({ ok: true; value: unknown } | { ok: false; cause: string }) & {
  /** What the thread's heap takes when the job is done. */
  heapBytes: number
}

/** Make a pool. No thread is started before the first job. */
export function openWorkerPool<Payload, Result>(
  options: WorkerPoolOptions<Payload>,
): WorkerPool<Payload, Result> {
  return new ThreadPool<Payload, Result>(options)
}

interface Job<Payload, Result> {
  payload: Payload
  transfer: readonly ArrayBuffer[]
  room: Room<Payload, Result>
  settle(outcome: WorkerOutcome<Result>): void
}

interface Thread<Payload, Result> {
  worker: Worker
  job: Job<Payload, Result> | null
  timer: NodeJS.Timeout | undefined
  /** What its heap had taken after its last job, and what the present one may add. */
  heapBytes: number
  addedBytesMax: number
}

interface Room<Payload, Result> extends WorkerRoom {
  queue: Job<Payload, Result>[]
  running: number
}

class ThreadPool<Payload, Result> implements WorkerPool<Payload, Result> {
  readonly #options: WorkerPoolOptions<Payload>
  readonly #threads = new Set<Thread<Payload, Result>>()
  /** By name; the one without a name is for jobs that say none. */
  readonly #rooms = new Map<string, Room<Payload, Result>>()
  #isClosed = false

  constructor(options: WorkerPoolOptions<Payload>) {
    this.#options = options
    const { maxThreads, maxQueued, rooms = {} } = options
    for (const [name, room] of Object.entries({ '': { maxThreads, maxQueued }, ...rooms }))
      this.#rooms.set(name, { ...room, queue: [], running: 0 })
  }

  run(
    payload: Payload,
    transfer: readonly ArrayBuffer[] = [],
    roomName = '',
  ): Promise<WorkerOutcome<Result>> {
    const room = this.#rooms.get(roomName)
    if (room === undefined) throw new Error(`Worker pool ${this.#options.name} has no room "${roomName}"`)
    return new Promise((settle) => {
      const job: Job<Payload, Result> = { payload, transfer, room, settle }
      const thread = this.#isClosed || room.running >= room.maxThreads ? undefined : this.#findFree()
      if (thread) this.#give(thread, job)
      else if (this.#isClosed || room.queue.length >= room.maxQueued) settle(BUSY)
      else room.queue.push(job)
    })
  }

  load(): { threads: number; queued: number } {
    let queued = 0
    for (const { queue } of this.#rooms.values()) queued += queue.length
    return { threads: this.#threads.size, queued }
  }

  async heapBytes(): Promise<number> {
    const sizes = await Promise.all(
      [...this.#threads].map(async (thread) => (await askHeapBytes(thread.worker)) ?? this.#assume(thread)),
    )
    return sizes.reduce((sum, size) => sum + size, 0)
  }

  /** What a thread may have taken that cannot be asked: while nothing runs in it, its heap does not grow. */
  #assume({ job, heapBytes, addedBytesMax }: Thread<Payload, Result>): number {
    if (job === null) return heapBytes
    const bytesMax = (this.#options.heapMbMax ?? HEAP_MB_MAX) * MIB
    return Math.max(heapBytes, Math.min(bytesMax, heapBytes + addedBytesMax))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const { queue } of this.#rooms.values()) for (const job of queue.splice(0)) job.settle(BUSY)
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, BUSY)))
  }

  #findFree(): Thread<Payload, Result> | undefined {
    for (const thread of this.#threads) if (thread.job === null) return thread
    return this.#threads.size < this.#options.maxThreads ? this.#start() : undefined
  }

  #start(): Thread<Payload, Result> {
    const worker = new Worker(this.#options.entry, {
      env: {},
      resourceLimits: this.#options.heapMbMax ? { maxOldGenerationSizeMb: this.#options.heapMbMax } : {},
    })
    const thread: Thread<Payload, Result> = {
      worker,
      job: null,
      timer: undefined,
      heapBytes: HEAP_AT_START_BYTES,
      addedBytesMax: 0,
    }
    this.#threads.add(thread)
    worker.on('message', (reply: WorkerReply) => this.#finish(thread, reply))
    worker.on('error', (error) => this.#fail(thread, error.message))
    worker.on('exit', (code) => this.#fail(thread, `thread ended with code ${code}`))
    return thread
  }

  #give(thread: Thread<Payload, Result>, job: Job<Payload, Result>): void {
    clearTimeout(thread.timer)
    thread.job = job
    job.room.running++
    // Only a thread at work keeps the process alive.
    thread.worker.ref()
    thread.timer = setTimeout(() => {
      this.#options.log.warn({ worker: this.#options.name }, 'worker job took too long')
      const cause = `no result within ${this.#options.timeoutMs} ms`
      void this.#end(thread, { ok: false, code: 'worker-timed-out', cause })
      this.#next()
    }, this.#options.timeoutMs)
    // Before it is posted: what is handed over is gone from here then.
    thread.addedBytesMax = this.#options.heapBytesOf?.(job.payload) ?? Number.POSITIVE_INFINITY
    try {
      thread.worker.postMessage(job.payload, [...job.transfer])
    } catch (error) {
      this.#finish(thread, { ok: false, cause: (error as Error).message, heapBytes: thread.heapBytes })
    }
  }

  #finish(thread: Thread<Payload, Result>, reply: WorkerReply): void {
    const job = thread.job
    if (!job) return
    clearTimeout(thread.timer)
    thread.job = null
    thread.heapBytes = reply.heapBytes
    job.room.running--
    job.settle(
      reply.ok
        ? { ok: true, value: reply.value as Result }
        : { ok: false, code: 'worker-failed', cause: reply.cause },
    )
    const next = this.#takeNext()
    if (next) {
      this.#give(thread, next)
      return
    }
    thread.worker.unref()
    thread.timer = setTimeout(() => void this.#end(thread, BUSY), this.#options.idleMs ?? 60_000)
    thread.timer.unref()
  }

  /** The thread died by itself. */
  #fail(thread: Thread<Payload, Result>, cause: string): void {
    if (!this.#threads.has(thread)) return
    this.#options.log.error({ worker: this.#options.name, cause }, 'worker thread died')
    void this.#end(thread, { ok: false, code: 'worker-failed', cause })
    this.#next()
  }

  async #end(thread: Thread<Payload, Result>, outcome: WorkerOutcome<Result>): Promise<void> {
    this.#threads.delete(thread)
    clearTimeout(thread.timer)
    const job = thread.job
    thread.job = null
    if (job) job.room.running--
    job?.settle(outcome)
    await thread.worker.terminate()
  }

  /** A place became free without a thread to take the next job. */
  #next(): void {
    const job = this.#isClosed ? undefined : this.#takeNext()
    if (!job) return
    const thread = this.#findFree()
    if (thread) this.#give(thread, job)
    else job.room.queue.unshift(job)
  }

  /** The oldest job of the room that has the fewest under way, among those that may have one more. */
  #takeNext(): Job<Payload, Result> | undefined {
    let chosen: Room<Payload, Result> | undefined
    for (const room of this.#rooms.values()) {
      if (room.queue.length === 0 || room.running >= room.maxThreads) continue
      if (chosen === undefined || room.running < chosen.running) chosen = room
    }
    return chosen?.queue.shift()
  }
}

/** How long a thread may take to say what it has taken. */
const HEAP_ANSWER_MS = 500

const MIB = 1_048_576
/** What a thread takes before its first job, and what one may take that has no limit of its own. */
const HEAP_AT_START_BYTES = 8 * MIB
const HEAP_MB_MAX = 64

/** Null for a thread that cannot be asked, or does not answer in time. */
async function askHeapBytes(worker: Partial<Pick<Worker, 'getHeapStatistics'>>): Promise<number | null> {
  if (worker.getHeapStatistics === undefined) return null
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), HEAP_ANSWER_MS)
  })
  const heap = await Promise.race([worker.getHeapStatistics().catch(() => null), late])
  clearTimeout(timer)
  return heap === null ? null : heap.total_heap_size + heap.external_memory
}

const BUSY = { ok: false, code: 'worker-busy', cause: 'no thread is free and the queue is full' } as const
