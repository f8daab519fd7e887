import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { type Running, startProgram } from '../../e2e/support/processes.ts'
import { Api, BUNDLE, TEST_JWT_SECRET } from '../../e2e/support/service.ts'

/** A second process on a service's database. */
export interface Standby {
  url: string
  api: Api
  process: Running
  /** The status of a GET; 0 while nothing listens. */
  statusOf(path: string): Promise<number>
}

/**
 * Start a second process; `env` overrides its variables. It listens for agents on `opampPort` once it has taken over.
 */
export async function startStandby(
  dsn: string,
  opampPort: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Standby> {
  const apiPort = await findFreePort('127.0.0.1')
  const url = `http://127.0.0.1:${apiPort}`
  const process_ = startProgram(process.execPath, [BUNDLE], {
    cwd: process.cwd(),
    env: {
      JWT_SECRET: TEST_JWT_SECRET,
      DB_DSN: dsn,
      LISTEN_ADDR: `127.0.0.1:${apiPort}`,
      OPAMP_ADDR: `127.0.0.1:${opampPort}`,
      WORKLOAD_DISCONNECT_GRACE_SECONDS: '20',
      ...env,
    },
  })
  return {
    url,
    api: new Api(url),
    process: process_,
    statusOf: (path) =>
      fetch(url + path).then(
        ({ status }) => status,
        () => 0,
      ),
  }
}
