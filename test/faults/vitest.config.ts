import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const here = dirname(fileURLToPath(import.meta.url))

export default defineConfig({
  root: join(here, '..', '..'),
  test: {
    include: ['test/faults/**/*.test.ts'],
    globalSetup: [join(here, 'global-setup.ts')],
    pool: 'forks',
    // These tests load the machine on purpose, so their files run one at a time.
    fileParallelism: false,
    provide: { patienceMs: 45_000 },
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
})
