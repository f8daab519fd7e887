import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Running, startProgram } from '../support/processes.ts'
import { type Service, SHARED_SECRET } from '../support/service.ts'
import { readSnippet } from '../support/snippets.ts'

const BIN = fileURLToPath(new URL('./bin', import.meta.url))
const COLLECTOR = join(BIN, 'otelcol-e2e')

/** A collector under test, with a supervisor or without one. */
export interface Collector {
  process: Running
  directory: string
  /** The text of the config that a supervised collector runs now, as the supervisor merged it. */
  mergedConfig(): Promise<string>
  /** Stop it and keep its storage, for `restart`. */
  leave(): Promise<void>
  /** Stop it if it runs, and start it with the storage that it had. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const environment = (more: Readonly<Record<string, string>> = {}) => ({
  PATH: process.env['PATH'] ?? '',
  HOME: tmpdir(),
  OPAMP_SHARED_SECRET: SHARED_SECRET,
  ...more,
})

async function findMergedConfig(directory: string): Promise<string> {
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (entry.name === 'effective.yaml') return readFile(join(entry.parentPath, entry.name), 'utf8')
  }
  return ''
}

const STARTS_MAX = 4

// All collectors would serve their own metrics on the same port. On a busy machine the first start of a collector takes
// longer than the 3 s that a supervisor waits by default.
const ON_ONE_MACHINE = `  args: ['--set=service.telemetry.metrics.level=none']
  bootstrap_timeout: 10s
`

async function start(
  command: string,
  config: string,
  env: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {},
): Promise<Collector> {
  const directory = await mkdtemp(join(tmpdir(), 'muster-e2e-collector-'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
  const storage = join(directory, 'storage')
  await mkdir(storage)
  const file = join(directory, 'config.yaml')
  const here = config
    .replaceAll('/var/lib/otelcol/supervisor', storage)
    .replace('\nagent:\n', `\nagent:\n${ON_ONE_MACHINE}`)
  await writeFile(file, here)
  let isWanted = true
  let starts = 0
  const launch = (): Running => {
    starts++
    const running = startProgram(command, ['--config', file], { cwd: directory, env: environment(env) })
    // A supervisor ends when its collector does not answer in time at the first start. Start it again, as systemd
    // would.
    running.ended.then(() => {
      if (isWanted && starts < STARTS_MAX && collector.process === running) collector.process = launch()
    })
    return running
  }
  const collector: Collector = {
    process: launch(),
    directory,
    mergedConfig: () => findMergedConfig(storage),
    async leave() {
      isWanted = false
      await collector.process.stop()
    },
    async restart() {
      await collector.leave()
      isWanted = true
      collector.process = launch()
    },
    async stop() {
      await collector.leave()
      await rm(directory, { recursive: true, force: true })
    },
  }
  return collector
}

/** The receiver's port comes from the environment, so that one config fits several collectors on one machine. */
const portEnv = (port: number) => ({ OTLP_PORT: String(port) })

/** A collector under the supervisor, set up as the README says. */
export function startSupervised(service: Service, port: number): Promise<Collector> {
  const config = readSnippet('supervisor', {
    'wss://muster.example.com/v1/opamp': service.opampUrl,
    '/usr/local/bin/otelcol': COLLECTOR,
  })
  return start(join(BIN, 'opampsupervisor'), config, portEnv(port))
}

/** A supervisor on a host of its own, whose collector has run the config `source` since before muster knew it. */
export function startHost(service: Service, host: string, source: string): Promise<Collector> {
  const agent = `agent:
  config_files: [source.yaml]
  description:
    identifying_attributes:
      service.name: edge-${host}
    non_identifying_attributes:
      host.name: ${host}
`
  const config = readSnippet('supervisor', {
    'wss://muster.example.com/v1/opamp': service.opampUrl,
    '/usr/local/bin/otelcol': COLLECTOR,
    'agent:\n': agent,
  })
  return start(join(BIN, 'opampsupervisor'), config, {}, { 'source.yaml': source })
}

/** One pod of the Deployment `otel-gateway` under the supervisor, set up as the README says. */
export function startPod(service: Service, pod: string, port: number): Promise<Collector> {
  const config = readSnippet('kubernetes', {
    'wss://muster.example.com/v1/opamp': service.opampUrl,
    '/usr/local/bin/otelcol': COLLECTOR,
  })
  const env = { K8S_NAMESPACE: 'observability', K8S_POD_NAME: pod, ...portEnv(port) }
  return start(join(BIN, 'opampsupervisor'), config, env)
}

/** A collector with the extension alone, set up as the README says. */
export function startUnsupervised(
  service: Service,
  transport: 'ws' | 'http',
  port: number,
): Promise<Collector> {
  const config =
    transport === 'ws'
      ? readSnippet('extension', {
          'wss://muster.example.com/v1/opamp': service.opampUrl,
          ':4318': `:${port}`,
        })
      : readSnippet('extension-http', {
          'https://muster.example.com/v1/opamp': service.opampHttpUrl,
          ':4318': `:${port}`,
          'polling_interval: 10s': 'polling_interval: 1s',
        })
  // A service name of its own, since two collectors of one name on one host are one workload. And no own metrics, which
  // all collectors would serve on the same port of this machine.
  const telemetry = `${NO_OWN_METRICS}    resource:\n      service.name: edge-${transport}\n`
  return start(COLLECTOR, config.replace('service:\n', `service:\n${telemetry}`), {})
}

const NO_OWN_METRICS = '  telemetry:\n    metrics:\n      level: none\n'

/** A config for the collectors of these tests: OTLP over HTTP in, the console out. */
export function makeConfig(options: { batchTimeout: string; endpoint?: string }): string {
  return `receivers:
  otlp:
    protocols:
      http:
        endpoint: ${options.endpoint ?? `127.0.0.1:\${env:OTLP_PORT}`}
processors:
  batch:
    timeout: ${options.batchTimeout}
exporters:
  debug:
    verbosity: basic
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [batch]
      exporters: [debug]
`
}

/** Whether a collector takes traces on a port now. */
export async function takesTraces(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"resourceSpans":[]}',
    signal: AbortSignal.timeout(2_000),
  })
  return answer.status === 200
}
