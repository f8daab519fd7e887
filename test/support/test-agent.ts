import { AGENT_CAPABILITIES, type AgentReport } from '../../lib/opamp/report.ts'
import type { AgentLink } from './agent-links.ts'
import { reportOf } from './agent-report.ts'
import type { PlainMessage } from './opamp-messages.ts'

/*
 * The agent of the tests: it counts its messages, knows what it was offered, and says what a test has it say. Others
 * there are for a reason each: the simulated collector of the quick start (`runtime/quickstart`) acts by itself, the
 * agents of `test/sim` do so under virtual time and lie, and the load of `test/bench` is cheap enough for 20,000.
 * Where the bytes themselves are the matter, a test speaks through `agent-wire.ts`.
 */

/** The capabilities of a supervisor. */
export const SUPERVISOR =
  AGENT_CAPABILITIES.reportsStatus |
  AGENT_CAPABILITIES.acceptsRemoteConfig |
  AGENT_CAPABILITIES.reportsEffectiveConfig |
  AGENT_CAPABILITIES.reportsRemoteConfig |
  AGENT_CAPABILITIES.reportsHealth

/** What an agent of a test is. */
export interface TestAgentOptions {
  /** Of an agent that was there before; a new one by default. */
  uid?: string
  /** The workload is made of service and host. */
  service?: string
  host?: string
  version?: string
  pod?: string
  capabilities?: number
  components?: Record<string, readonly string[]>
  /** Announce a list of components by this hash, without the list. */
  componentsHash?: string
  attributes?: Record<string, string>
  /** Said together with what it is. */
  more?: Partial<AgentReport>
  /** Its first message holds nothing, as after a broken connection. */
  isBare?: boolean
}

/** An agent that a test speaks for. */
export interface TestAgent {
  uid: string
  /** What the server sent to it, oldest first. */
  received: PlainMessage[]
  /** The hashes it was offered, oldest first. */
  offered(): string[]
  say(report: Partial<AgentReport>): void
  /** Say all that it is. */
  describe(): void
  /** What became of the config that it was offered last, or of another one. */
  applying(hash?: string): void
  apply(hash?: string): void
  fail(message: string, hash?: string): void
  effective(yaml: string): void
  goodbye(): void
  /** The connection breaks. */
  lose(): void
}

let agents = 0

/** Let an agent say over a link what it is; with `isBare`, that it is there. */
export function openTestAgent(link: AgentLink, options: TestAgentOptions = {}): TestAgent {
  const number = ++agents
  const uid = options.uid ?? `0192d3b4000070008000${number.toString(16).padStart(12, '0')}`
  const capabilities = options.capabilities ?? SUPERVISOR
  const received: PlainMessage[] = []
  link.listen((message) => void received.push(message))
  let sequenceNum = 0
  const say: TestAgent['say'] = (part) => link.send(reportOf(uid, ++sequenceNum, { capabilities, ...part }))
  const offered = () =>
    received.flatMap((message) => {
      const config = message['remoteConfig'] as { configHash?: Uint8Array } | undefined
      return config?.configHash === undefined ? [] : [Buffer.from(config.configHash).toString('hex')]
    })
  const status = (
    word: 'applying' | 'applied' | 'failed',
    hash = offered().at(-1) ?? '',
    errorMessage = '',
  ) => say({ remoteConfigStatus: { hash, status: word, errorMessage } })
  const { service = 'edge', host = `host-${number}`, version = '0.149.0', pod = '' } = options
  const attributes = {
    ...{ 'service.name': service, 'host.name': host, 'service.version': version },
    ...(pod === '' ? {} : { 'k8s.pod.name': pod }),
    ...{ 'os.description': 'a host with otelcol' },
    ...options.attributes,
  }
  const describe = () =>
    say({
      attributes: new Map(Object.entries(attributes)),
      components: componentsOf(options, number),
      ...options.more,
    })
  if (options.isBare === true) say({})
  else describe()
  return {
    uid,
    received,
    offered,
    say,
    describe,
    applying: (hash) => status('applying', hash),
    apply: (hash) => status('applied', hash),
    fail: (message, hash) => status('failed', hash, message),
    effective: (yaml) =>
      say({
        effectiveConfig: { files: new Map([['', { body: Buffer.from(yaml), contentType: 'text/yaml' }]]) },
      }),
    goodbye: () => say({ isDisconnect: true, hasCapabilities: false, capabilities: 0 }),
    lose: () => link.lose(),
  }
}

function componentsOf(
  { components, componentsHash }: TestAgentOptions,
  number: number,
): AgentReport['components'] {
  if (components !== undefined)
    return { hash: `c0${number}`, components: new Map(Object.entries(components)) }
  return componentsHash === undefined ? null : { hash: componentsHash, components: null }
}
