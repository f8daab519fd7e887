import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const here = dirname(fileURLToPath(import.meta.url))

export default defineConfig({
  root: join(here, '..', '..', '..'),
  test: {
    include: ['test/e2e/collector/**/*.test.ts'],
    globalSetup: [join(here, 'global-setup.ts')],
    pool: 'forks',
    // Real collectors load a small machine: one file at a time keeps them within their time limits.
    fileParallelism: false,
    provide: { patienceMs: 45_000 },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
