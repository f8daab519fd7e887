import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const here = dirname(fileURLToPath(import.meta.url))

export default defineConfig({
  root: join(here, '..', '..', '..'),
  test: {
    include: ['test/e2e/ui/**/*.test.ts'],
    globalSetup: [join(here, 'global-setup.ts')],
    pool: 'forks',
    fileParallelism: false,
    maxConcurrency: 2,
    provide: { patienceMs: 45_000 },
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // A page may follow an action late on a slow machine.
    expect: { poll: { timeout: 20_000 } },
  },
})
