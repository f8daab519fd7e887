import { randomBytes } from 'node:crypto'
import { type SimulatedAgent, startSimulatedAgent } from '../../runtime/quickstart/simulated-agent.ts'

/** Agents that stay, some of them polling over HTTP, and pods that come and go under new names. */
export interface SoakFleet {
  /** How many of the agents that stay are connected, how many pods live now, and how many pods there have been. */
  counts(): { stable: number; pods: number; born: number }
  stop(): Promise<void>
}

/** How many agents stay; two make up a workload. */
const STABLE = 30
const POLLERS = 6
/** The time between two new pods; every other pod is a workload of its own. */
const BIRTH_MS = 250
const LIFE_MS = 6_000
/** How often one of the agents that stay reports another effective config. */
const ROTATION_MS = 250
const BEAT_MS = 2_000

/** The service name of all pods, and the name of the Deployment that half of them belong to. */
export const POD_SERVICE = 'soak-pods'

/** A config that nobody reported before. */
const newConfig = (n: number) => `receivers:
  otlp:
    protocols: {grpc: {endpoint: "0.0.0.0:4317"}}
exporters:
  debug/rotation-${n}: {}
service:
  pipelines:
    traces: {receivers: [otlp], exporters: [debug/rotation-${n}]}
# ${'x'.repeat(2_000)}
`

/** Connect the agents that stay, and begin to start pods. */
export function startSoakFleet(opampPort: number): SoakFleet {
  const socketUrl = `ws://127.0.0.1:${opampPort}/v1/opamp`
  const pollUrl = `http://127.0.0.1:${opampPort}/v1/opamp`
  const behaviour = { kind: 'apply', delayMs: 200 } as const
  const stable = Array.from({ length: STABLE }, (_, n) =>
    startSimulatedAgent({
      url: n < POLLERS ? pollUrl : socketUrl,
      beatMs: BEAT_MS,
      behaviour,
      identifying: { 'service.name': `stable-${n >> 1}`, 'service.version': '0.149.0' },
      nonIdentifying: { 'host.name': `host-${n >> 1}` },
    }),
  )
  const pods = new Set<SimulatedAgent>()
  let born = 0
  const birth = () => {
    const n = born++
    const name = `pod-${n}-${randomBytes(4).toString('hex')}`
    const own = { 'host.name': name }
    const shared = {
      'k8s.cluster.name': 'soak',
      'k8s.namespace.name': 'soak',
      'k8s.deployment.name': POD_SERVICE,
      'k8s.pod.name': name,
    }
    const pod = startSimulatedAgent({
      url: socketUrl,
      beatMs: BEAT_MS,
      reconnectMs: 0,
      behaviour,
      identifying: { 'service.name': POD_SERVICE, 'service.version': n % 3 === 0 ? '0.100.0' : '0.149.0' },
      nonIdentifying: n % 2 === 0 ? own : shared,
    })
    pods.add(pod)
    setTimeout(() => {
      pods.delete(pod)
      // Half of them say goodbye.
      if (n % 4 < 2) void pod.stop()
      else pod.kill()
    }, LIFE_MS)
  }
  let rotations = 0
  const rotate = () => {
    const n = rotations++
    const agent = stable[n % STABLE]!
    const body = Buffer.from(newConfig(n))
    agent.say({ effectiveConfig: { configMap: { configMap: { '': { body } } } } })
    // The test's own memory of messages must not grow with the soak.
    ;(agent.said as unknown[]).length = 0
    ;(agent.heard as unknown[]).length = 0
  }
  const timers = [setInterval(birth, BIRTH_MS), setInterval(rotate, ROTATION_MS)]
  return {
    counts: () => ({
      stable: stable.filter((agent) => agent.isConnected()).length,
      pods: pods.size,
      born,
    }),
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await Promise.all([...stable, ...pods].map((agent) => agent.stop()))
    },
  }
}
