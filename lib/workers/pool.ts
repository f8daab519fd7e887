import { Worker } from 'node:worker_threads'
import type { Log } from '../log.ts'

/**
 * A bounded pool of threads for work that would block the event loop: Argon2id, YAML of any size, reports.
 *
 * Each kind of work is one file `runtime/workers/<name>-worker.ts` that calls `serveWorker(handler)`. The build bundles
 * it to `<name>-worker.mjs` beside the bundle of the service; from a checkout the bundles are in `.cache/`. A pool does
 * not search for them: its maker passes the URL (`workerUrl` of `runtime/files.ts`; `testWorkerUrl` of
 * `test/support/workers.ts`).
 */
export interface WorkerPool<Payload, Result> {
  /**
   * Do one job. `payload` is copied, except for the buffers in `transfer`, which are handed over; `room` names one of
   * the rooms in the options. Codes: `worker-busy` when the queue is full or the pool closed, `worker-timed-out` when
   * the job took too long (its thread is ended), `worker-failed` when the handler threw or its thread died; the cause
   * is for the log.
   */
  run(payload: Payload, transfer?: readonly ArrayBuffer[], room?: string): Promise<WorkerOutcome<Result>>
  /** How many threads there are, and how many jobs wait for one. */
  load(): { threads: number; queued: number }
  /**
   * How much heap all threads take, in bytes. Node 22.16 and 24 can ask a thread that is at work. For a thread that
   * cannot be asked it is what it took after its last job, and while a job runs also what `heapBytesOf` says that the
   * job may add.
   */
  heapBytes(): Promise<number>
  /** End all threads; jobs that run or wait get `worker-busy`. */
  close(): Promise<void>
}

/** How a job ended; `cause` is for the log. */
export type WorkerOutcome<Result> =
  | { ok: true; value: Result }
  | { ok: false; code: 'worker-busy' | 'worker-timed-out' | 'worker-failed'; cause: string }

/** What a pool is made with. */
export interface WorkerPoolOptions<Payload = never> {
  /** The name of the pool in log lines. */
  name: string
  entry: URL
  maxThreads: number
  /** How many jobs without a room may wait; one more is refused at once. Rooms have their own limits. */
  maxQueued: number
  /**
   * Kinds of callers that must not crowd each other out, by name. When a thread becomes free, the next job is taken
   * from the room with the fewest running jobs.
   */
  rooms?: Readonly<Record<string, WorkerRoom>>
  /** The time limit for one job, from the moment its thread gets it; the first job of a thread includes its start. */
  timeoutMs: number
  /** A thread without work for this long is ended; a minute by default. */
  idleMs?: number
  /** A thread that needs more heap ends with `worker-failed`. In MiB. */
  heapMbMax?: number
  /**
   * How many bytes a job may add to the heap while it runs; never counted as more than `heapMbMax`. Without this
   * function a running job counts as that much.
   */
  heapBytesOf?(payload: Payload): number
  log: Log
}

/** How much of a pool one kind of callers may take. */
export interface WorkerRoom {
  /** How many threads its jobs may hold at once. What the other rooms cannot take together stays free for this one. */
  maxThreads: number
  maxQueued: number
}

/** What a thread answers to a job, see `serveWorker`. */
export type WorkerReply = ({ ok: true; value: unknown } | { ok: false; cause: string }) & {
  /** Bytes of heap that the thread takes when the job is done. */
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
  /** Bytes of its heap after its last job, and the bytes that the present job may add. */
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
  /** By name; jobs that name no room are in the room `''`. */
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

  /** How much heap a thread may take that cannot be asked; while no job runs in it, its heap does not grow. */
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
    // Before the job is posted, because the buffers that are handed over cannot be read here afterwards.
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

  /** Start the next job after a thread has ended, where there is one. */
  #next(): void {
    const job = this.#isClosed ? undefined : this.#takeNext()
    if (!job) return
    const thread = this.#findFree()
    if (thread) this.#give(thread, job)
    else job.room.queue.unshift(job)
  }

  /** Take the oldest job of the room with the fewest running jobs, among those that may run one more. */
  #takeNext(): Job<Payload, Result> | undefined {
    let chosen: Room<Payload, Result> | undefined
    for (const room of this.#rooms.values()) {
      if (room.queue.length === 0 || room.running >= room.maxThreads) continue
      if (chosen === undefined || room.running < chosen.running) chosen = room
    }
    return chosen?.queue.shift()
  }
}

/** How long a thread may take to answer how much heap it takes. */
const HEAP_ANSWER_MS = 500

const MIB = 1_048_576
/** The heap of a thread before its first job, and the limit of a thread without one of its own, in MiB. */
const HEAP_AT_START_BYTES = 8 * MIB
const HEAP_MB_MAX = 64

/** Bytes of heap that a thread takes; null where it cannot be asked or does not answer in time. */
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
