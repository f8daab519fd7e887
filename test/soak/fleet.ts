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

/** The Deployment whose push stays open for as long as the soak lasts, while every fourth pod comes and goes in it. */
export const HELD_SERVICE = 'soak-held'
/** Agents of it that stay: some apply what they are offered, and one never says what became of it. */
const HELD = 3

const inDeployment = (name: string, pod: string) => ({
  'k8s.cluster.name': 'soak',
  'k8s.namespace.name': 'soak',
  'k8s.deployment.name': name,
  'k8s.pod.name': pod,
})

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
  const held = Array.from({ length: HELD }, (_, n) =>
    startSimulatedAgent({
      url: socketUrl,
      beatMs: BEAT_MS,
      behaviour: n === 0 ? { kind: 'silent' } : behaviour,
      identifying: { 'service.name': HELD_SERVICE, 'service.version': '0.149.0' },
      nonIdentifying: inDeployment(HELD_SERVICE, `held-${n}`),
    }),
  )
  const pods = new Set<SimulatedAgent>()
  let born = 0
  const birth = () => {
    const n = born++
    const name = `pod-${n}-${randomBytes(4).toString('hex')}`
    const own = { 'host.name': name }
    const service = n % 4 === 3 ? HELD_SERVICE : POD_SERVICE
    const pod = startSimulatedAgent({
      url: socketUrl,
      beatMs: BEAT_MS,
      reconnectMs: 0,
      behaviour,
      identifying: { 'service.name': service, 'service.version': n % 3 === 0 ? '0.100.0' : '0.149.0' },
      nonIdentifying: n % 2 === 0 ? own : inDeployment(service, name),
    })
    pods.add(pod)
    setTimeout(() => {
      pods.delete(pod)
      // Half of them say goodbye.
      if (n % 8 < 4) void pod.stop()
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
      await Promise.all([...stable, ...held, ...pods].map((agent) => agent.stop()))
    },
  }
}
