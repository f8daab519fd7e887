import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, inject } from 'vitest'
import type { Config } from '../../runtime/config.ts'
import { type RunningService, type ServiceOptions, startService } from '../../runtime/service.ts'
import { type RecordingLog, recordingLog } from './fakes.ts'
import { checkAnswer, signIn, TEST_CONFIG } from './invoke.ts'
import type { TestDatabase } from './postgres.ts'

/** The real service on free ports over a test database, as a test uses it. */
export interface TestService {
  service: RunningService
  log: RecordingLog
  /** `http://127.0.0.1:port` of the API listener. */
  url: string
  /** `127.0.0.1:port/v1/opamp`, without a scheme. */
  opampUrl: string
  /** Why the service gave up by itself; null while it has not. */
  fatal(): string | null
  /** Call the API; `as` is a token. */
  call(
    method: string,
    path: string,
    options?: { as?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<{ status: number; headers: Headers; text: string; json: unknown }>
  /** A token of a new user with these groups; an administrator by default. */
  token(groups?: Parameters<typeof signIn>[1]): Promise<string>
  stop(): Promise<void>
}

const ROOT = new URL('../../', import.meta.url)

/** Start the service as `main.ts` does. The caller stops it; `useTestService` does that by itself. */
export async function startTestService(
  database: TestDatabase,
  config: Partial<Config> = {},
  signal?: AbortSignal,
  more: Partial<Pick<ServiceOptions, 'clock' | 'webhookNetwork' | 'descriptorLimit'>> = {},
): Promise<TestService> {
  const log = recordingLog()
  let fatal: string | null = null
  const service = await startService(
    {
      config: { ...TEST_CONFIG, databaseDsn: database.dsn, ...config },
      files: {
        migrations: fileURLToPath(new URL('migrations', ROOT)),
        ui: fileURLToPath(new URL('dist/ui', ROOT)),
        workers: fileURLToPath(inject('workersUrl')),
      },
      log,
      onFatal(reason) {
        fatal = reason
      },
      ...more,
    },
    signal,
  )
  const url = `http://127.0.0.1:${service.apiPort}`
  return {
    service,
    log,
    url,
    opampUrl: `127.0.0.1:${service.opampPort}/v1/opamp`,
    fatal: () => fatal,
    async call(method, path, { as, body, headers = {} } = {}) {
      const response = await fetch(url + path, {
        method,
        redirect: 'manual',
        headers: { ...(as === undefined ? {} : { authorization: `Bearer ${as}` }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      const contentType = response.headers.get('content-type')
      const { status } = response
      const json: unknown = contentType === 'application/json' ? JSON.parse(text) : null
      const declared: Record<string, string> = contentType === null ? {} : { 'Content-Type': contentType }
      checkAnswer(method, path.split('?')[0]!, { status, headers: declared, json })
      return { status, headers: response.headers, text, json }
    },
    // `signIn` wants a test context for its clock; the service's own is one, but for the fakes it does not use.
    token: async (groups) => (await signIn(service.ctx as never, groups)).token,
    stop: () => service.stop(),
  }
}

/** Start a service that is stopped after the file's tests. */
export async function useTestService(
  database: TestDatabase,
  config: Partial<Config> = {},
): Promise<TestService> {
  const started = await startTestService(database, config)
  afterAll(() => started.stop())
  return started
}

/** A port that was free a moment ago, for a service that has to come back at the same address. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
