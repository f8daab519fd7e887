import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const here = dirname(fileURLToPath(import.meta.url))

export default defineConfig({
  root: here,
  test: {
    include: ['*.test.ts'],
    globalSetup: ['global-setup.ts'],
    pool: 'forks',
    provide: { patienceMs: 45_000 },
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
})
