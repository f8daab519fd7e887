import { type SimulatedAgent, startSimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'

/**
 * Agents that behave as supervisors do, fail configs that hold `FAILS`, and let a test see each offer before they act
 * on it.
 */
export interface SupervisedAgents {
  agents: SimulatedAgent[]
  /** Called with the hash of each offer as its frame arrives. */
  onOffer: ((hash: string) => void) | null
  /** Every offer that arrived: the uid of the agent, and the hash. */
  heard: { uid: string; hash: string }[]
  /** One more of the same workload. */
  add(): SimulatedAgent
  /** Let one say goodbye. */
  remove(agent: SimulatedAgent): Promise<void>
  end(): void
}

/** The agents report a config as failed when its text holds this. */
export const FAILS = '# cannot be run'

/** A config that the agents can run; the mark makes different ones. */
export const runnableConfig = (mark: string): string =>
  [
    'receivers:\n  otlp:\n    protocols:\n      grpc:\n        endpoint: 0.0.0.0:4317\n',
    'exporters:\n  debug: {}\n',
    `service:\n  pipelines:\n    traces:\n      receivers: [otlp]\n      exporters: [debug]\n# ${mark}\n`,
  ].join('')

/** Start agents of one workload. They reconnect a tenth of a second after they lose their connection. */
export function startSupervisedAgents(url: string, count: number): SupervisedAgents {
  const fleet: SupervisedAgents = {
    agents: [],
    onOffer: null,
    heard: [],
    add() {
      const agent = startOne(url, fleet)
      fleet.agents.push(agent)
      return agent
    },
    async remove(agent) {
      fleet.agents.splice(fleet.agents.indexOf(agent), 1)
      await agent.stop()
    },
    end() {
      for (const agent of fleet.agents) agent.kill()
    },
  }
  for (let n = 0; n < count; n++) fleet.add()
  return fleet
}

function startOne(url: string, fleet: SupervisedAgents): SimulatedAgent {
  const agent = startSimulatedAgent({
    url,
    beatMs: 1_000,
    reconnectMs: 100,
    nonIdentifying: { 'host.name': 'supervised' },
    behaviour: { kind: 'apply', delayMs: 20 },
  })
  const { collector } = agent
  const hear = collector.hear.bind(collector)
  collector.hear = (word) => {
    const offer = word.remoteConfig
    if (offer !== undefined) {
      const hash = Buffer.from(offer.configHash ?? []).toString('hex')
      fleet.heard.push({ uid: agent.uidHex(), hash })
      fleet.onOffer?.(hash)
      const yaml = Buffer.from(offer.config?.configMap?.['']?.body ?? []).toString('utf8')
      collector.behaviour = yaml.includes(FAILS)
        ? { kind: 'fail', delayMs: 20, errorMessage: 'exit code 1' }
        : { kind: 'apply', delayMs: 20 }
    }
    hear(word)
  }
  return agent
}
