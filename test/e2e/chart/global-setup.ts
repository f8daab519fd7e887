import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { ROOT } from '../support/environment.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The path of the program that checks a chart; '' where there is no Go to build it with. */
    chartCheck: string
  }
}

/** Build the checker from Helm's own code and the types of Kubernetes. Go builds it anew only after a change. */
export default function setUp(project: TestProject): void {
  if (spawnSync('go', ['version']).status !== 0) {
    console.error('*** SKIPPED: Go is not here, so the chart was neither linted nor rendered. ***')
    project.provide('chartCheck', '')
    return
  }
  const program = join(ROOT, '.cache', 'chart-check', 'chartcheck')
  const { status } = spawnSync('go', ['build', '-o', program, '.'], {
    cwd: join(ROOT, 'test', 'e2e', 'chart', 'checker'),
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false -trimpath -mod=readonly' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) throw new Error('The checker of the chart could not be built')
  project.provide('chartCheck', program)
}
