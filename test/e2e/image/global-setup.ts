import type { TestProject } from 'vitest/node'
import { startDatabase } from '../support/environment.ts'

/** Start a database; the image is built by the tests. */
export default function setUp(project: TestProject): Promise<() => Promise<void>> {
  return startDatabase(project)
}
