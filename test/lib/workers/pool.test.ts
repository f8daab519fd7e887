import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import type { ConfigJob, ConfigJobResult } from '../../../lib/configs/jobs.ts'
import type { PasswordJob, PasswordResult } from '../../../lib/identity/password-job.ts'
import { silentLog } from '../../../lib/log.ts'
import { openWorkerPool, type WorkerPool, type WorkerPoolOptions } from '../../../lib/workers/pool.ts'
import { testWorkerUrl } from '../../support/workers.ts'

const directory = await mkdtemp(join(tmpdir(), 'muster-worker-'))
afterAll(() => rm(directory, { recursive: true }))

// A worker that speaks the protocol of `serveWorker`, and whose jobs end, hang, throw or die as told.
const entry = pathToFileURL(join(directory, 'worker.mjs'))
await writeFile(
  entry,
  `import { parentPort, threadId } from 'node:worker_threads'
   parentPort.on('message', (job) => {
     if (job.kind === 'die') process.exit(3)
     const heapBytes = 5_000_000
     if (job.kind === 'throw') parentPort.postMessage({ ok: false, cause: 'thrown', heapBytes })
     if (job.kind === 'who') parentPort.postMessage({ ok: true, value: threadId, heapBytes })
     if (job.kind === 'wait') job.gate && Atomics.wait(new Int32Array(job.gate), 0, 0), parentPort.postMessage({ ok: true, value: threadId, heapBytes })
   })`,
)

type TestJob = { kind: 'die' | 'throw' | 'who' } | { kind: 'wait'; gate: SharedArrayBuffer }

const pools: WorkerPool<never, never>[] = []
afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.close())))

function open<P, R>(options: Partial<WorkerPoolOptions> = {}): WorkerPool<P, R> {
  const defaults = { name: 'test', entry, maxThreads: 1, maxQueued: 1, timeoutMs: 10_000, log: silentLog }
  const pool = openWorkerPool<P, R>({ ...defaults, ...options })
  pools.push(pool as unknown as WorkerPool<never, never>)
  return pool
}

const gate = () => new SharedArrayBuffer(4)
function lift(shared: SharedArrayBuffer): void {
  Atomics.store(new Int32Array(shared), 0, 1)
  Atomics.notify(new Int32Array(shared), 0)
}

describe('worker pool', () => {
  it('uses one thread again and again', async () => {
    const pool = open<TestJob, number>()
    const first = await pool.run({ kind: 'who' })
    expect(await pool.run({ kind: 'who' })).toEqual(first)
    expect(pool.load()).toEqual({ threads: 1, queued: 0 })
  })

  const canAsk = 'getHeapStatistics' in Worker.prototype
  it('says what the heaps of its threads take, by asking them or by what they said after their last job', async () => {
    const pool = open<TestJob, number>()
    expect(await pool.heapBytes()).toBe(0)
    await pool.run({ kind: 'who' })
    const bytes = await pool.heapBytes()
    if (canAsk) expect(bytes).toBeGreaterThan(1_000_000)
    else expect(bytes).toBe(5_000_000)
    await pool.close()
    expect(await pool.heapBytes()).toBe(0)
  })

  it('counts what the present job may add where a thread cannot be asked, up to its limit', async () => {
    const shared = gate()
    const heapBytesOf = vi.fn(() => 10_000_000)
    const pool = open<TestJob, number>({ heapBytesOf, heapMbMax: 64, maxThreads: 2 })
    await pool.run({ kind: 'who' })
    const job = { kind: 'wait', gate: shared } as const
    const waiting = [pool.run(job)]
    // A thread that is blocked does not answer how much memory it uses.
    expect(await pool.heapBytes()).toBe(15_000_000)
    heapBytesOf.mockReturnValue(1_000_000_000)
    waiting.push(pool.run(job))
    expect(await pool.heapBytes()).toBe(15_000_000 + 64 * 1_048_576)
    expect(heapBytesOf).toHaveBeenLastCalledWith(job)
    lift(shared)
    await Promise.all(waiting)
    if (!canAsk) expect(await pool.heapBytes()).toBe(10_000_000)
  })

  it('takes the whole limit for what a job may add that says nothing of it', async () => {
    const shared = gate()
    const pool = open<TestJob, number>({ heapMbMax: 32 })
    const waiting = pool.run({ kind: 'wait', gate: shared })
    expect(await pool.heapBytes()).toBe(32 * 1_048_576)
    lift(shared)
    await waiting
  })

  it('hears from the threads of the service what they have taken', async () => {
    const pool = open<ConfigJob, ConfigJobResult>({ entry: testWorkerUrl('config') })
    await pool.run({ kind: 'outline', text: 'receivers: {}\n' })
    expect(await pool.heapBytes()).toBeGreaterThan(2_000_000)
    expect(await pool.heapBytes()).toBeLessThan(200_000_000)
  })

  it('refuses at once what neither runs nor fits the queue', async () => {
    const pool = open<TestJob, number>()
    const shared = gate()
    const running = pool.run({ kind: 'wait', gate: shared })
    const queued = pool.run({ kind: 'who' })
    expect(await pool.run({ kind: 'who' })).toMatchObject({ ok: false, code: 'worker-busy' })
    lift(shared)
    expect(await running).toMatchObject({ ok: true })
    expect(await queued).toMatchObject({ ok: true })
  })

  it('keeps a thread and a queue for each kind of caller', async () => {
    const one = { maxThreads: 1, maxQueued: 1 }
    const pool = open<TestJob, number>({ maxThreads: 2, rooms: { agents: one, operators: one } })
    const shared = gate()
    const reading = pool.run({ kind: 'wait', gate: shared }, [], 'agents')
    const waiting = pool.run({ kind: 'who' }, [], 'agents')
    // The second thread is free, but not for jobs about agents.
    expect(pool.load()).toEqual({ threads: 1, queued: 1 })
    expect(await pool.run({ kind: 'who' }, [], 'agents')).toMatchObject({ ok: false, code: 'worker-busy' })
    expect(await pool.run({ kind: 'who' }, [], 'operators')).toMatchObject({ ok: true })
    lift(shared)
    expect(await reading).toMatchObject({ ok: true })
    expect(await waiting).toMatchObject({ ok: true })
    expect(() => pool.run({ kind: 'who' }, [], 'strangers')).toThrow('no room "strangers"')
  })

  it('serves the room that has the fewest jobs under way first', async () => {
    const room = { maxThreads: 2, maxQueued: 4 }
    const pool = open<TestJob, number>({ maxThreads: 2, rooms: { agents: room, operators: room } })
    const gates = [gate(), gate()]
    const order: string[] = []
    const held = gates.map((shared) => pool.run({ kind: 'wait', gate: shared }, [], 'agents'))
    const note = (who: string) => pool.run({ kind: 'who' }, [], who).then(() => order.push(who))
    const queued = [note('agents'), note('operators')]
    lift(gates[0]!)
    await Promise.all(queued)
    expect(order).toEqual(['operators', 'agents'])
    lift(gates[1]!)
    await Promise.all(held)
  })

  it('ends the thread of a job that takes too long and goes on with the next', async () => {
    const pool = open<TestJob, number>({ timeoutMs: 3_000 })
    const hanging = pool.run({ kind: 'wait', gate: gate() })
    const next = pool.run({ kind: 'who' })
    expect(await hanging).toMatchObject({ ok: false, code: 'worker-timed-out' })
    expect(await next).toMatchObject({ ok: true })
  })

  it('fails the job of a handler that throws, and keeps its thread', async () => {
    const pool = open<TestJob, number>()
    const before = await pool.run({ kind: 'who' })
    expect(await pool.run({ kind: 'throw' })).toEqual({ ok: false, code: 'worker-failed', cause: 'thrown' })
    expect(await pool.run({ kind: 'who' })).toEqual(before)
  })

  it('fails the job of a thread that dies and starts another', async () => {
    const pool = open<TestJob, number>()
    expect(await pool.run({ kind: 'die' })).toMatchObject({ ok: false, code: 'worker-failed' })
    expect(await pool.run({ kind: 'who' })).toMatchObject({ ok: true })
  })

  it('ends a thread without work', async () => {
    const pool = open<TestJob, number>({ idleMs: 10 })
    await pool.run({ kind: 'who' })
    await expect.poll(() => pool.load().threads).toBe(0)
  })

  it('refuses everything once it is closed', async () => {
    const pool = open<TestJob, number>()
    const running = pool.run({ kind: 'wait', gate: gate() })
    await pool.close()
    expect(await running).toMatchObject({ code: 'worker-busy' })
    expect(await pool.run({ kind: 'who' })).toMatchObject({ code: 'worker-busy' })
  })

  it('runs a worker of the service, bundled', async () => {
    const pool = open<PasswordJob, PasswordResult>({ entry: testWorkerUrl('password') })
    const hashed = await pool.run({ kind: 'hash', password: 'correct horse', salt: new Uint8Array(16) })
    if (!hashed.ok) throw new Error(hashed.cause)
    expect(hashed.value).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    const verify = (password: string) => pool.run({ kind: 'verify', password, hash: hashed.value as string })
    expect(await verify('correct horse')).toEqual({ ok: true, value: true })
    expect(await verify('correct horsf')).toEqual({ ok: true, value: false })
  })
})
