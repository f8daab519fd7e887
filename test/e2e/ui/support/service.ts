import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Service, SHARED_SECRET, startService } from '../../support/service.ts'

const BUNDLE = fileURLToPath(new URL('../../../../dist/muster.mjs', import.meta.url))

/** The administrator that exists when the service of these tests starts. */
export const TEST_ADMIN = { email: 'admin@example.com', password: 'correct horse battery' }
export { SHARED_SECRET }

/** Start the bundle with every capability of the complete edition. */
export const startComplete = (env: Record<string, string> = {}, apiPort?: number): Promise<Service> =>
  startService({
    args: [BUNDLE, '--edition', 'complete'],
    cwd: dirname(BUNDLE),
    ...(apiPort === undefined ? {} : { apiPort }),
    env: { WORKLOAD_DISCONNECT_GRACE_SECONDS: '5', ...env },
  })
