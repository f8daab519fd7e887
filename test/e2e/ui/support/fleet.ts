import { createHash } from 'node:crypto'
import { AgentToServer } from '../../../../lib/opamp/schema.ts'
import {
  type SimulatedAgent,
  type SimulatedAgentOptions,
  SUPERVISED,
  startSimulatedAgent,
} from '../../../../runtime/quickstart/simulated-agent.ts'
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

/** Announce many workloads with one poll each, as agents behind HTTP would. */
export async function announceThousands(service: Service, count: number): Promise<void> {
  const announce = async (index: number) => {
    const uid = createHash('sha256').update(`crowd ${index}`).digest().subarray(0, 16)
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
    const message = AgentToServer.encode({
      instanceUid: uid,
      sequenceNum: 0,
      capabilities: SUPERVISED,
      agentDescription: {
        identifyingAttributes: [
          text('service.name', `crowd-${String(index).padStart(5, '0')}`),
          text('service.version', '0.149.0'),
        ],
        nonIdentifyingAttributes: [
          text('host.name', `host-${index}`),
          text('os.type', 'linux'),
          text('env', ['prod', 'staging', 'dev'][index % 3] ?? 'dev'),
        ],
      },
      health: { healthy: true, status: 'StatusOK' },
    }).finish()
    const response = await fetch(service.opampHttpUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf', authorization: `Bearer ${SHARED_SECRET}` },
      body: Uint8Array.from(message),
    })
    if (response.status !== 200) throw new Error(`OpAMP answered ${response.status}`)
    await response.arrayBuffer()
  }
  for (let from = 0; from < count; from += 50)
    await Promise.all(Array.from({ length: Math.min(50, count - from) }, (_, at) => announce(from + at)))
}
