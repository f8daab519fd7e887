import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { ROOT, setUpService } from '../support/environment.ts'

const NO_GO = 3

/** Build the collector, the service and its database. */
export default function setUp(project: TestProject): Promise<() => Promise<void>> {
  const build = spawnSync(process.execPath, [join(ROOT, 'test/e2e/collector/build.mjs')], {
    stdio: 'inherit',
  })
  if (build.status !== 0 && build.status !== NO_GO) throw new Error('The collector could not be built')
  project.provide('hasCollector', build.status === 0)
  return setUpService(project, 'muster.mjs')
}
