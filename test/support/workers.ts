import { inject } from 'vitest'

/** The bundled worker thread of `runtime/workers/<name>-worker.ts`; the global set-up has bundled them all. */
export function testWorkerUrl(name: string): URL {
  return new URL(`${name}-worker.mjs`, inject('workersUrl'))
}
