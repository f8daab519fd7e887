import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const test = dirname(fileURLToPath(import.meta.url))

export default defineConfig({
  root: dirname(test),
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/e2e/**', 'test/faults/**'],
    globalSetup: ['test/support/global-setup.ts'],
    // Processes and not threads: native modules (sockets) load once in each.
    pool: 'forks',
    maxWorkers: 2,
    provide: { patienceMs: 10_000 },
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
})
