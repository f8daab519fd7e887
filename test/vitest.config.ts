import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const test = dirname(fileURLToPath(import.meta.url))

/** Files that replace a module for themselves, and the simulation, which keeps its process on one core. */
const APART = ['test/lib/fleet/intake/config-reports.test.ts', 'test/sim/**/*.test.ts']

export default defineConfig({
  root: dirname(test),
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Processes and not threads: native modules (sockets) load once in each.
    pool: 'forks',
    // More than the two cores of the usual machine: they wait for sockets, timers and the database half of the time.
    maxWorkers: 4,
    provide: { patienceMs: 10_000 },
    // As patient: a machine that does much else takes more than the second that is given otherwise.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 20_000,
    hookTimeout: 60_000,
    projects: [
      // One process runs many files: loading the modules anew for each took a third of the whole time.
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/faults/**', ...APART],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'apart', include: APART } },
    ],
  },
})
