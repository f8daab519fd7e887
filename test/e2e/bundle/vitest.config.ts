import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const here = dirname(fileURLToPath(import.meta.url))

export default defineConfig({
  root: join(here, '..', '..', '..'),
  test: {
    include: ['test/e2e/bundle/**/*.test.ts'],
    globalSetup: [join(here, 'global-setup.ts')],
    pool: 'forks',
    fileParallelism: false,
    provide: { patienceMs: 45_000 },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
