import type { TestProject } from 'vitest/node'
import { setUpService } from '../support/environment.ts'

/** Build the bundle with the UI, and start a database. */
export default function setUp(project: TestProject): Promise<() => Promise<void>> {
  return setUpService(project, 'muster.mjs')
}
