import { parse, stringify } from 'yaml'

/** Component types by category, as a collector's build has them. */
export type ComponentLists = Readonly<Record<string, readonly string[]>>

type Yaml = Record<string, unknown>

const SECTIONS = ['connectors', 'exporters', 'extensions', 'processors', 'receivers'] as const

const mapOf = (value: unknown): Yaml =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Yaml) : {}

/** The type of a component's id: `otlp` of `otlp/eu`. */
export const typeOf = (id: string): string => id.split('/')[0]!

/**
 * Why a collector with these components would not start with `yaml`, in the words a real one uses; null when
 * it would. An empty config starts and does nothing.
 */
export function startupError(yaml: string, components: ComponentLists): string | null {
  let config: Yaml
  try {
    config = mapOf(parse(yaml))
  } catch (error) {
    return `cannot unmarshal the configuration: ${error instanceof Error ? error.message : ''}`
  }
  for (const section of SECTIONS) {
    for (const id of Object.keys(mapOf(config[section]))) {
      if (!components[section]?.includes(typeOf(id))) {
        return `error decoding '${section}': unknown type: "${typeOf(id)}" for id: "${id}"`
      }
    }
  }
  return danglingReference(config)
}

function danglingReference(config: Yaml): string | null {
  for (const [pipeline, parts] of Object.entries(mapOf(mapOf(config['service'])['pipelines']))) {
    for (const [section, ids] of Object.entries(mapOf(parts))) {
      for (const id of Array.isArray(ids) ? ids.map(String) : []) {
        const isKnown = id in mapOf(config[section]) || id in mapOf(config['connectors'])
        const kind = section.slice(0, -1)
        if (!isKnown)
          return `service::pipelines::${pipeline}: references ${kind} "${id}" which is not configured`
      }
    }
  }
  return null
}

/** What a supervisor adds to every config for its own use; it differs from run to run. */
export interface Injected {
  instanceUid: string
  ppid: number
  port: number
  resource: Readonly<Record<string, string>>
}

/** The config a collector reports as effective: what was asked for, resolved, sorted, and with the injected parts. */
export function effectiveConfigOf(yaml: string, injected: Injected): string {
  const config = mapOf(parse(yaml))
  const service = mapOf(config['service'])
  const extensions = Array.isArray(service['extensions']) ? service['extensions'] : []
  const endpoint = `ws://127.0.0.1:${injected.port}/v1/opamp`
  const opamp = {
    capabilities: {
      reports_available_components: true,
      reports_effective_config: true,
      reports_health: true,
    },
    instance_uid: injected.instanceUid,
    ppid: injected.ppid,
    ppid_poll_interval: '5s',
    server: { ws: { endpoint, tls: { insecure: true } } },
  }
  const resolved = {
    connectors: {},
    exporters: {},
    processors: {},
    receivers: {},
    ...config,
    extensions: { ...mapOf(config['extensions']), opamp },
    service: {
      ...service,
      extensions: [...extensions, 'opamp'],
      telemetry: { ...mapOf(service['telemetry']), resource: injected.resource },
    },
  }
  return stringify(resolved, { sortMapEntries: true, indent: 4 })
}

/** The components of every pipeline that `yaml` starts, as the health tree of a collector names them. */
export function pipelinesOf(yaml: string): ReadonlyMap<string, readonly string[]> {
  const pipelines = new Map<string, string[]>()
  for (const [name, parts] of Object.entries(mapOf(mapOf(mapOf(parse(yaml))['service'])['pipelines']))) {
    const components = Object.entries(mapOf(parts)).flatMap(([section, ids]) =>
      Array.isArray(ids) ? ids.map((id) => `${section.slice(0, -1)}:${id}`) : [],
    )
    pipelines.set(`pipeline:${name}`, components)
  }
  return pipelines
}

/** The exporters of `yaml` that send to one of these hosts, each with its host; what a collector cannot reach fails. */
export function exportersTo(yaml: string, hosts: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [id, settings] of Object.entries(mapOf(mapOf(parse(yaml))['exporters']))) {
    const endpoint = String(mapOf(settings)['endpoint'] ?? '')
    const host = hosts.find((one) => endpoint.includes(one))
    if (host !== undefined) found.set(`exporter:${id}`, host)
  }
  return found
}
