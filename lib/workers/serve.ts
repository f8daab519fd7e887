import { getHeapStatistics } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import type { WorkerReply } from './pool.ts'

/**
 * Answer the jobs of a `WorkerPool` in this thread; the pool sends one at a time. An exception of the handler fails its
 * job only. `listBuffers` names the buffers of a result that are handed over instead of copied.
 */
export function serveWorker<Payload, Result>(
  handler: (payload: Payload) => Promise<Result> | Result,
  listBuffers: (result: Result) => ArrayBuffer[] = () => [],
): void {
  const port = parentPort
  if (!port) throw new Error('serveWorker needs a worker thread')
  port.on('message', async (payload: Payload) => {
    let outcome: { ok: true; value: unknown } | { ok: false; cause: string }
    let buffers: ArrayBuffer[] = []
    try {
      const value = await handler(payload)
      buffers = listBuffers(value)
      outcome = { ok: true, value }
    } catch (error) {
      outcome = { ok: false, cause: error instanceof Error ? error.message : String(error) }
    }
    const { total_heap_size, external_memory } = getHeapStatistics()
    const reply: WorkerReply = { ...outcome, heapBytes: total_heap_size + external_memory }
    port.postMessage(reply, buffers)
  })
}
