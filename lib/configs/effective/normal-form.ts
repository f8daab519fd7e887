import { stringify } from 'yaml'
import { configHash } from '../../model/config-hash.ts'
import { EFFECTIVE_BYTES_MAX } from '../../model/effective-bytes.ts'
import { namesAgent, type OwnAttributes } from '../../model/own-attributes.ts'
import { componentType } from '../check/components.ts'
import { parseConfig } from '../yaml/parse.ts'
import { type ConfigObject, type ConfigValue, emptyObject, isObject, sortedKeys } from '../yaml/value.ts'

/** A config as instances run it, without what differs between two instances or two runs of the same config. */
export interface NormalForm {
  /** YAML, keys sorted. */
  text: string
  /** SHA-256 of `text`, lower-case hex: the `reported_config_hash`. */
  hash: string
  /** Whether it has pipelines, which is what makes an agent a collector. */
  runsPipelines: boolean
  /** Whether one of its pipelines is for profiles. */
  runsProfiles: boolean
}

/** Settings of an `opamp` extension that the supervisor fills in for one instance or one run. */
const SUPERVISOR_SETTINGS = ['agent_description', 'instance_uid', 'ppid'] as const

const LOCAL_ADDRESS = /^(?:[a-z]+:\/\/)?(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?(?:\/|$)/i

/**
 * The normal form of a config that an agent reports; null when it cannot be read or is empty, which is no
 * report, and when it would be longer than a report may be: a short text with aliases can stand for a long one. Left out: uid, parent process, description and local server address of an `opamp` extension, and
 * what the telemetry resource says of the agent itself: which agent it is, and what the agent reports to be (`own`).
 */
export function normalForm(reported: string, own: OwnAttributes = {}): NormalForm | null {
  const parsed = parseConfig(reported)
  if (!parsed.ok) return null
  const root = new Sorting().sort(parsed.document.root) as ConfigObject | null
  if (root === null) return null
  dropSupervisorSettings(root)
  dropAgentAttributes(root, own)
  const text = stringify(root, { aliasDuplicateObjects: false, lineWidth: 0, version: '1.1' })
  if (Buffer.byteLength(text) > EFFECTIVE_BYTES_MAX) return null
  const service = root['service']
  const pipelines = isObject(service) && isObject(service['pipelines']) ? service['pipelines'] : null
  const runsProfiles = Object.keys(pipelines ?? {}).some((name) => componentType(name) === 'profiles')
  return { text, hash: configHash(text), runsPipelines: pipelines !== null, runsProfiles }
}

/** Copies a config, all keys sorted and shared parts written out, as long as that is no longer than a report may be. */
class Sorting {
  #left = EFFECTIVE_BYTES_MAX

  /** Null when there is too much of it. */
  sort(root: ConfigValue): ConfigValue | null {
    const sorted = this.#copy(root, 0)
    return this.#left < 0 ? null : sorted
  }

  #copy(value: ConfigValue, depth: number): ConfigValue {
    if (this.#left < 0) return null
    if (Array.isArray(value)) {
      this.#left -= depth * value.length
      return value.map((entry) => this.#copy(entry, depth + 1))
    }
    if (!isObject(value)) {
      this.#left -= String(value).length + 1
      return value
    }
    const sorted = emptyObject()
    for (const key of sortedKeys(value)) {
      this.#left -= depth + key.length + 1
      sorted[key] = this.#copy(value[key]!, depth + 1)
    }
    return sorted
  }
}

function dropSupervisorSettings(root: ConfigObject): void {
  const extensions = root['extensions']
  if (!isObject(extensions)) return
  for (const [id, settings] of Object.entries(extensions)) {
    if (componentType(id) !== 'opamp' || !isObject(settings)) continue
    for (const key of SUPERVISOR_SETTINGS) delete settings[key]
    const server = settings['server']
    if (!isObject(server)) continue
    for (const transport of Object.values(server)) {
      if (!isObject(transport)) continue
      const { endpoint } = transport
      if (typeof endpoint === 'string' && LOCAL_ADDRESS.test(endpoint)) delete transport['endpoint']
    }
  }
}

function dropAgentAttributes(root: ConfigObject, own: OwnAttributes): void {
  const service = root['service']
  const telemetry = isObject(service) ? service['telemetry'] : undefined
  const resource = isObject(telemetry) ? telemetry['resource'] : undefined
  if (!isObject(resource)) return
  const isOfAgent = (key: string, value: ConfigValue | undefined) =>
    namesAgent(key) || (Object.hasOwn(own, key) && own[key] === String(value))
  for (const key of Object.keys(resource)) if (isOfAgent(key, resource[key])) delete resource[key]
  // Newer collectors write the resource as a list of name and value.
  const { attributes } = resource
  if (!Array.isArray(attributes)) return
  resource['attributes'] = attributes.filter(
    (entry) =>
      !(isObject(entry) && typeof entry['name'] === 'string' && isOfAgent(entry['name'], entry['value'])),
  )
}
