import { createHash } from 'node:crypto'
import { AGENT_CAPABILITIES } from '../../lib/opamp/report.ts'
import { DEFAULT_COMPONENTS, READ_ONLY, type SimulatedAgentOptions, SUPERVISED } from './simulated-agent.ts'

/** One member of the demo fleet; its name is stable, so that a restart shows the same instances. */
export interface DemoAgent {
  name: string
  options: Omit<SimulatedAgentOptions, 'url' | 'secret' | 'storage'>
}

/** Supervised, but not saying which components it has: nobody can tell beforehand what it will reject. */
const SECRETIVE = SUPERVISED & ~AGENT_CAPABILITIES.reportsAvailableComponents

/** What the gateway is to run. */
export const GATEWAY_CONFIG = `receivers:
  otlp:
    protocols:
      grpc:
        endpoint: 0.0.0.0:4317
      http:
        endpoint: 0.0.0.0:4318
processors:
  memory_limiter:
    check_interval: 1s
    limit_mib: 400
  batch:
    timeout: 5s
exporters:
  otlphttp:
    endpoint: https://telemetry.example.com:4318
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter, batch]
      exporters: [otlphttp]
    metrics:
      receivers: [otlp]
      processors: [memory_limiter, batch]
      exporters: [otlphttp]
`

/** What the agents on the nodes are to run. */
export const NODE_CONFIG = `receivers:
  hostmetrics:
    collection_interval: 30s
    scrapers:
      cpu: {}
      memory: {}
  filelog:
    include: [/var/log/pods/*/*/*.log]
processors:
  batch: {}
exporters:
  otlp:
    endpoint: otel-gateway.observability:4317
service:
  pipelines:
    metrics:
      receivers: [hostmetrics]
      processors: [batch]
      exporters: [otlp]
    logs:
      receivers: [filelog]
      processors: [batch]
      exporters: [otlp]
`

/** What the collector that does not say what it can is to run. */
export const LEGACY_CONFIG = `receivers:
  otlp:
    protocols:
      grpc:
        endpoint: 0.0.0.0:4317
exporters:
  debug: {}
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [debug]
`

/** A host that does not exist, as a slip of the pen makes one. */
const MISSPELT_HOST = 'telemetry.exmaple.com'

/**
 * The config of payments: collectors start with it but reach nobody. The misspelt host is there to be found and
 * corrected.
 */
export const PAYMENTS_CONFIG = GATEWAY_CONFIG.replace('telemetry.example.com', MISSPELT_HOST)

/** What the collectors on the hosts of the stores are to run, each with the name of its host. */
export const STORE_CONFIG = `receivers:
  hostmetrics:
    collection_interval: 30s
    scrapers:
      cpu: {}
      memory: {}
processors:
  batch: {}
exporters:
  otlphttp:
    endpoint: https://telemetry.example.com:4318
    headers:
      x-store: \${muster:store}
service:
  pipelines:
    metrics:
      receivers: [hostmetrics]
      processors: [batch]
      exporters: [otlphttp]
`

/** The same with a bound for their memory: the change that there is to carry to all of them. */
export const STORE_CONFIG_BOUNDED = STORE_CONFIG.replace(
  '  batch: {}\n',
  '  memory_limiter:\n    check_interval: 1s\n    limit_mib: 200\n  batch: {}\n',
).replace('[batch]', '[memory_limiter, batch]')

/** The workloads of the stores: one host each. */
export const STORES = Array.from({ length: 40 }, (_, at) => `store-${String(at + 1).padStart(2, '0')}`)
/** The stores that are not like the others, by what is special about each. */
export const ODD_STORES = { saysNothing: 'store-13', isOld: 'store-27', isHeld: 'store-34' }
/** The `service.name` of the collectors in the stores. */
export const STORE_SERVICE = 'store-collector'

/** The components of a build that has no memory limiter yet. */
const WITHOUT_LIMITER = {
  ...DEFAULT_COMPONENTS,
  processors: DEFAULT_COMPONENTS['processors']!.filter((name) => name !== 'memory_limiter'),
}

/** A change for production that waits for somebody to decide. */
export const CHECKOUT_DRAFT = GATEWAY_CONFIG.replace(
  '  batch:\n',
  '  probabilistic_sampler:\n    sampling_percentage: 25\n  batch:\n',
).replace('[memory_limiter, batch]', '[memory_limiter, probabilistic_sampler, batch]')

/** 16 bytes made of the name, with the version and variant bits of a UUIDv7. */
function uidOf(name: string): Uint8Array {
  const bytes = createHash('sha256').update(`muster demo ${name}`).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return new Uint8Array(bytes)
}

const identity = (service: string, version: string) => ({
  'service.name': service,
  'service.version': version,
})

function pod(
  workload: { kind: 'deployment' | 'daemonset'; name: string; environment: string },
  suffix: string,
  version: string,
  config: string,
): DemoAgent {
  const name = `${workload.name}-${suffix}`
  return {
    name,
    options: {
      uid: uidOf(name),
      identifying: identity(workload.name, version),
      nonIdentifying: {
        'os.type': 'linux',
        'host.arch': 'amd64',
        'host.name': name,
        'k8s.cluster.name': 'demo',
        'k8s.namespace.name': 'observability',
        [`k8s.${workload.kind}.name`]: workload.name,
        'k8s.pod.name': name,
        'deployment.environment': workload.environment,
      },
      initialConfig: config,
      behaviour: { kind: 'apply', delayMs: 2_000 },
    },
  }
}

function machine(
  host: string,
  service: string,
  version: string,
  more: Partial<DemoAgent['options']> = {},
): DemoAgent {
  return {
    name: host,
    options: {
      uid: uidOf(host),
      identifying: identity(service, version),
      nonIdentifying: {
        'os.type': 'linux',
        'host.arch': 'arm64',
        'host.name': host,
        'deployment.environment': 'staging',
      },
      behaviour: { kind: 'apply', delayMs: 2_000 },
      ...more,
    },
  }
}

function store(host: string): DemoAgent {
  if (host === ODD_STORES.isOld)
    return machine(host, STORE_SERVICE, '0.131.0', { components: WITHOUT_LIMITER })
  const isSecretive = host === ODD_STORES.saysNothing
  const more = isSecretive ? { components: WITHOUT_LIMITER, capabilities: SECRETIVE } : {}
  return machine(host, STORE_SERVICE, '0.149.0', more)
}

/**
 * The demo fleet: several workloads, several instances, one that fails, one that only reports, one that rejects what
 * it lacks, and forty hosts for one fleet config.
 */
export function listDemoAgents(): DemoAgent[] {
  const gateway = { kind: 'deployment', name: 'otel-gateway', environment: 'staging' } as const
  const node = { kind: 'daemonset', name: 'otel-node', environment: 'staging' } as const
  const checkout = { kind: 'deployment', name: 'checkout-collector', environment: 'production' } as const
  const payments = { kind: 'deployment', name: 'payments-collector', environment: 'staging' } as const
  return [
    ...['7c9f5-2xkqp', '7c9f5-8hm4t', '7c9f5-zt6wd'].map((suffix) =>
      pod(gateway, suffix, '0.149.0', GATEWAY_CONFIG),
    ),
    ...['4kf8s', '9pq2n', 'b7xvl', 'tr5cw'].map((suffix, index) =>
      pod(node, suffix, index === 3 ? '0.131.0' : '0.149.0', NODE_CONFIG),
    ),
    ...['5d8b7-lq9rf', '5d8b7-w4jzn'].map((suffix) => pod(checkout, suffix, '0.149.0', GATEWAY_CONFIG)),
    ...['66c4f-m2xtd', '66c4f-qk8zn'].map((suffix) => {
      const { name, options } = pod(payments, suffix, '0.149.0', PAYMENTS_CONFIG)
      return { name, options: { ...options, unreachableHosts: [MISSPELT_HOST] } }
    }),
    machine('legacy-billing-1', 'billing-collector', '0.140.1', { capabilities: SECRETIVE }),
    machine('branch-office-7', 'edge-collector', '0.149.0', { capabilities: READ_ONLY }),
    ...STORES.map(store),
  ]
}
