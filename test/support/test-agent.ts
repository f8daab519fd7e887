import { AGENT_CAPABILITIES, type AgentReport } from '../../lib/opamp/report.ts'
import type { AgentLink } from './agent-links.ts'
import { reportOf } from './agent-report.ts'
import type { PlainMessage } from './opamp-messages.ts'

/*
 * The usual agent of the tests: it numbers its messages, remembers what it was offered, and reports only what a test
 * has it report. The other agents each have a reason: the simulated collector of the quick start (`runtime/quickstart`)
 * acts by itself, the agents of `test/sim` do so under virtual time and lie, and those of `test/bench` are cheap enough
 * for 20,000. Tests of single bytes use `agent-wire.ts`.
 */

/** The capabilities of a supervisor. */
export const SUPERVISOR =
  AGENT_CAPABILITIES.reportsStatus |
  AGENT_CAPABILITIES.acceptsRemoteConfig |
  AGENT_CAPABILITIES.reportsEffectiveConfig |
  AGENT_CAPABILITIES.reportsRemoteConfig |
  AGENT_CAPABILITIES.reportsHealth

/** What an agent of a test reports of itself. */
export interface TestAgentOptions {
  /** The uid in hex; a new one by default. Give that of an earlier agent to stand for the same one. */
  uid?: string
  /** The service name, which with the host makes up the workload. */
  service?: string
  host?: string
  version?: string
  pod?: string
  capabilities?: number
  components?: Record<string, readonly string[]>
  /** Announce a list of components by this hash, without the list. */
  componentsHash?: string
  attributes?: Record<string, string>
  /** Further parts of its first report. */
  more?: Partial<AgentReport>
  /** Its first message has no description, as after a broken connection. */
  isBare?: boolean
}

/** An agent that sends what a test tells it to. */
export interface TestAgent {
  uid: string
  /** What the server sent to it, oldest first. */
  received: PlainMessage[]
  /** The hashes it was offered, oldest first. */
  offered(): string[]
  say(report: Partial<AgentReport>): void
  /** Send its full description. */
  describe(): void
  /** Report the status of a config: the one that it was offered last, or that with this hash. */
  applying(hash?: string): void
  apply(hash?: string): void
  fail(message: string, hash?: string): void
  effective(yaml: string): void
  goodbye(): void
  /** The connection breaks. */
  lose(): void
}

let agents = 0

/** Make an agent on a link and send its description, or with `isBare` a message without one. */
export function openTestAgent(link: AgentLink, options: TestAgentOptions = {}): TestAgent {
  const number = ++agents
  const uid = options.uid ?? `0192d3b4000070008000${number.toString(16).padStart(12, '0')}`
  const capabilities = options.capabilities ?? SUPERVISOR
  const received: PlainMessage[] = []
  link.listen((message) => void received.push(message))
  let sequenceNum = 0
  const say: TestAgent['say'] = (part) => {
    // It counts on from a number that it is given, as a process does that starts anew.
    sequenceNum = part.sequenceNum ?? sequenceNum + 1
    link.send(reportOf(uid, sequenceNum, { capabilities, ...part }))
  }
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
    'service.name': service,
    'host.name': host,
    'service.version': version,
    ...(pod === '' ? {} : { 'k8s.pod.name': pod }),
    'os.description': 'a host with otelcol',
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
