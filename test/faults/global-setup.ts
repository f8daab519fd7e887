import type { TestProject } from 'vitest/node'
import { setUpService } from '../e2e/support/environment.ts'

/** Build the bundle, and start a database. */
export default function setUp(project: TestProject): Promise<() => Promise<void>> {
  return setUpService(project, 'muster.mjs')
}
