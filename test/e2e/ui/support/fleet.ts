import { createHash } from 'node:crypto'
import {
  type SimulatedAgent,
  type SimulatedAgentOptions,
  SUPERVISED,
  startSimulatedAgent,
} from '../../../../runtime/quickstart/simulated-agent.ts'
import { PollLink } from '../../../support/agent-links.ts'
import { HEALTHY } from '../../../support/agent-report.ts'
import { openTestAgent } from '../../../support/test-agent.ts'
import type { Service } from '../../support/service.ts'
import { SHARED_SECRET } from './service.ts'

/** The attributes that make pods of one deployment one workload. */
export const deployment = (name: string, pod: string, environment = 'staging'): Record<string, string> => ({
  'k8s.cluster.name': 'eu-1',
  'k8s.namespace.name': 'shop',
  'k8s.deployment.name': name,
  'k8s.pod.name': pod,
  env: environment,
})

/** Connect one simulated collector under a supervisor. */
export function connect(
  service: Service,
  name: string,
  pod: string,
  options: Partial<SimulatedAgentOptions> = {},
  environment = 'staging',
): SimulatedAgent {
  return startSimulatedAgent({
    url: service.opampUrl,
    secret: SHARED_SECRET,
    identifying: { 'service.name': name, 'service.version': '0.149.0' },
    nonIdentifying: deployment(name, pod, environment),
    reconnectMs: 300,
    ...options,
  })
}

/** Announce many workloads with one poll each, as agents behind HTTP would; with `leave` each says goodbye with the next. */
export async function announceThousands(
  service: Service,
  count: number,
  { leave = false } = {},
): Promise<void> {
  const url = service.opampHttpUrl.replace('http://', '')
  const announce = async (index: number) => {
    const link = new PollLink(url, { authorization: `Bearer ${SHARED_SECRET}` })
    const agent = openTestAgent(link, {
      uid: createHash('sha256').update(`crowd ${index}`).digest('hex').slice(0, 32),
      service: `crowd-${String(index).padStart(5, '0')}`,
      host: `host-${index}`,
      attributes: { 'os.type': 'linux', env: ['prod', 'staging', 'dev'][index % 3] ?? 'dev' },
      capabilities: SUPERVISED,
      more: { health: HEALTHY },
    })
    if (leave) agent.goodbye()
    await link.answered()
  }
  for (let from = 0; from < count; from += 50)
    await Promise.all(Array.from({ length: Math.min(50, count - from) }, (_, at) => announce(from + at)))
}
