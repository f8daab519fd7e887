import { sortedJson } from '../../model/sorted-json.ts'
import { componentType, idsOf } from '../check/components.ts'
import { isOn } from '../check/switches.ts'
import { redactName } from '../redact/redact.ts'
import type { ParsedConfig } from '../yaml/parse.ts'
import { type ConfigObject, type ConfigValue, isObject, lastName, sortedKeys } from '../yaml/value.ts'
import { findHiddenSettings } from './hidden-settings.ts'

/** Where a rule is broken, and how to put it right. Never a value of the config. */
export interface PolicyHit {
  path: string
  /** The component that it is about, where its path does not name it. */
  about?: string
  message: string
  remediation: string
}

/** What every rule looks at. */
export interface PolicyCase {
  candidate: ParsedConfig
  /** What runs now; null when nothing is known to run. */
  current: ParsedConfig | null
  isProduction: boolean
  allowedOtlpEndpoints: readonly string[]
  criticalExporters: readonly string[]
  requiredResourceAttributes: readonly string[]
  sampling: { min: number; max: number; isAsked: boolean }
}

/** One rule: whether it concerns a case, and where the candidate breaks it. */
export interface PolicyRule {
  id: string
  name: string
  severity: 'warning' | 'critical'
  applies(about: PolicyCase): boolean
  find(about: PolicyCase): PolicyHit[]
}

const OTLP_TYPES = new Set(['otelarrow', 'otlp', 'otlp_grpc', 'otlp_http', 'otlphttp'])
/** Exporters that send OTLP to each host that their resolver finds. */
const BALANCER_TYPES = new Set(['load_balancing', 'loadbalancing'])

/** All rules but the one about texts that do not parse, which `evaluatePolicy` judges by itself. */
export const POLICY_RULES: readonly PolicyRule[] = [
  {
    id: 'community.exporters.critical_removal',
    name: 'Critical exporter removal',
    severity: 'critical',
    applies: ({ current, isProduction, criticalExporters }) =>
      current !== null && (isProduction || criticalExporters.length > 0),
    find: findRemovedExporters,
  },
  {
    id: 'community.exporters.otlp_endpoint.allowlist',
    name: 'OTLP endpoint allowlist',
    severity: 'critical',
    applies: ({ isProduction, allowedOtlpEndpoints }) => isProduction && allowedOtlpEndpoints.length > 0,
    find: findForeignEndpoints,
  },
  {
    id: 'community.pipelines.batch.required',
    name: 'Batch processor required',
    severity: 'critical',
    applies: ({ isProduction }) => isProduction,
    find: findUnbatchedPipelines,
  },
  {
    id: 'community.processors.memory_limiter.required',
    name: 'Memory limiter required',
    severity: 'critical',
    applies: ({ isProduction }) => isProduction,
    find: ({ candidate }) =>
      componentsOf(candidate, 'processors').some(({ id }) => componentType(id) === 'memory_limiter')
        ? []
        : [
            {
              path: 'processors.memory_limiter',
              message: 'A production config needs a memory_limiter processor.',
              remediation: 'Define a memory_limiter processor and put it first in every pipeline.',
            },
          ],
  },
  {
    id: 'community.production.insecure_tls',
    name: 'Forbid insecure TLS in production',
    severity: 'critical',
    applies: ({ isProduction }) => isProduction,
    find: findInsecureTls,
  },
  {
    id: 'community.production.tls_verification',
    name: 'Verify certificates in production',
    severity: 'critical',
    applies: ({ isProduction }) => isProduction,
    find: findUnverifiedTls,
  },
  {
    id: 'community.production.plain_http',
    name: 'Forbid plain HTTP to allowed hosts in production',
    severity: 'critical',
    applies: ({ isProduction, allowedOtlpEndpoints }) => isProduction && allowedOtlpEndpoints.length > 0,
    find: findPlainHttp,
  },
  {
    id: 'community.production.expansion',
    name: 'No expansion where a rule looks',
    severity: 'critical',
    applies: ({ isProduction }) => isProduction,
    find: ({ candidate }) => findHiddenSettings(candidate),
  },
  {
    id: 'community.resource.attributes.required',
    name: 'Resource attributes required',
    severity: 'critical',
    applies: ({ isProduction, requiredResourceAttributes }) =>
      isProduction && requiredResourceAttributes.length > 0,
    find: findMissingAttributes,
  },
  {
    id: 'community.sampling.percentage.safe_range',
    name: 'Sampling percentage safe range',
    severity: 'warning',
    applies: ({ isProduction, sampling }) => isProduction || sampling.isAsked,
    find: findUnsafeSampling,
  },
]

interface Component {
  id: string
  settings: ConfigValue
}

function componentsOf(config: ParsedConfig, category: string): Component[] {
  const section = config.root[category]
  return isObject(section) ? sortedKeys(section).map((id) => ({ id, settings: section[id]! })) : []
}

function pipelinesOf(config: ParsedConfig): Array<{ name: string; pipeline: ConfigObject }> {
  const service = config.root['service']
  const pipelines = isObject(service) ? service['pipelines'] : undefined
  if (!isObject(pipelines)) return []
  return sortedKeys(pipelines).flatMap((name) => {
    const pipeline = pipelines[name]!
    return isObject(pipeline) ? [{ name, pipeline }] : []
  })
}

/** The exporters that pipelines send to, each with the names of these pipelines. */
function usedExporters(config: ParsedConfig): Map<string, string[]> {
  const used = new Map<string, string[]>()
  for (const { name, pipeline } of pipelinesOf(config))
    for (const { id } of idsOf(pipeline['exporters'])) used.set(id, [...(used.get(id) ?? []), name])
  return used
}

/** Why this exporter must stay, and what would let it go. */
const sayWhoIsListed = (exporter: string, isListed: boolean): string =>
  isListed
    ? `${exporter} is listed in MUSTER_POLICY_CRITICAL_EXPORTERS of the service.`
    : 'MUSTER_POLICY_CRITICAL_EXPORTERS of the service lists none, so that in production every exporter must stay; once it lists some, the others may go.'

/** The new names of exporters that are used under another one with the same settings, by their former names. */
function findRenamed(candidate: ParsedConfig, current: ParsedConfig): ReadonlyMap<string, string> {
  const keyOf = ({ id, settings }: Component) => `${componentType(id)} ${sortedJson(settings)}`
  const before = componentsOf(current, 'exporters')
  const former = new Set(before.map(({ id }) => id))
  const used = usedExporters(candidate)
  const added = new Map<string, string>()
  for (const one of componentsOf(candidate, 'exporters'))
    if (used.has(one.id) && !former.has(one.id) && !added.has(keyOf(one))) added.set(keyOf(one), one.id)
  return new Map(
    before.flatMap((one) => {
      const name = added.get(keyOf(one))
      return name === undefined ? [] : [[one.id, name]]
    }),
  )
}

function findRemovedExporters({ candidate, current, criticalExporters }: PolicyCase): PolicyHit[] {
  if (current === null) return []
  const after = usedExporters(candidate)
  const isListed = criticalExporters.length > 0
  const remaining = new Set(pipelinesOf(candidate).map(({ name }) => name))
  const renamed = findRenamed(candidate, current)
  return [...usedExporters(current)]
    .filter(([id]) => !after.has(id) && (!isListed || criticalExporters.includes(id)))
    .map(([id, pipelines]) => {
      const names = pipelines.map(redactName).join(', ')
      const exporter = redactName(id)
      const [first = ''] = pipelines
      const name = renamed.get(id)
      if (name !== undefined)
        return {
          path: `exporters.${redactName(name)}`,
          about: exporter,
          message: `${exporter} is called ${redactName(name)} now, with the same settings; the policy goes by names.`,
          remediation: `Keep the name ${exporter}. ${sayWhoIsListed(exporter, isListed)}`,
        }
      return {
        path: remaining.has(first) ? `service.pipelines.${redactName(first)}.exporters` : 'service.pipelines',
        about: exporter,
        message: `${names} no longer ${pipelines.length === 1 ? 'sends' : 'send'} to ${exporter}, and no other pipeline does.`,
        remediation: `Keep ${exporter} in a pipeline. ${sayWhoIsListed(exporter, isListed)}`,
      }
    })
}

interface Endpoint {
  path: string
  text: string
}

/**
 * Where a collector sends OTLP to: the `endpoint` of its OTLP exporters, and those of single signals
 * (`traces_endpoint`), which win over it; the hosts of its balancing exporters; and the endpoints of its own telemetry.
 */
function otlpEndpoints(config: ParsedConfig): Endpoint[] {
  const exporters = componentsOf(config, 'exporters').flatMap(({ id, settings }) => {
    const type = componentType(id)
    const isBalancer = BALANCER_TYPES.has(type)
    if (!isBalancer && !OTLP_TYPES.has(type)) return []
    return [...endpointsBelow(settings, `exporters.${id}`, isBalancer ? RESOLVED_KEY : ENDPOINT_KEY)]
  })
  return [...exporters, ...endpointsBelow(ownTelemetryOf(config), OWN_TELEMETRY, ENDPOINT_KEY)]
}

const OWN_TELEMETRY = 'service.telemetry'

/** The settings of the telemetry that a collector sends about itself. */
function ownTelemetryOf(config: ParsedConfig): ConfigValue {
  const service = config.root['service']
  return isObject(service) ? (service['telemetry'] ?? null) : null
}

const ENDPOINT_KEY = /(?:^|_)endpoint$/i
/** Settings of a balancing exporter that name its hosts, or the service through which it finds them. */
const RESOLVED_KEY = /^(?:hostnames?|service|service_name)$/i

function* endpointsBelow(value: ConfigValue, path: string, wanted: RegExp): Generator<Endpoint> {
  if (Array.isArray(value))
    for (const [index, entry] of value.entries()) yield* endpointsBelow(entry, `${path}[${index}]`, wanted)
  if (!isObject(value)) return
  for (const key of sortedKeys(value)) {
    const entry = value[key]!
    const at = `${path}.${key}`
    if (!wanted.test(lastName(key))) yield* endpointsBelow(entry, at, wanted)
    else yield* textsOf(entry, at)
  }
}

/** A text that is not blank, or each such text of a list, with its path. */
function* textsOf(value: ConfigValue, path: string): Generator<Endpoint> {
  if (Array.isArray(value))
    for (const [index, entry] of value.entries()) yield* textsOf(entry, `${path}[${index}]`)
  else if (typeof value === 'string' && value.trim() !== '') yield { path, text: value }
}

function isAllowed(endpoint: string, { allowedOtlpEndpoints }: PolicyCase): boolean {
  const host = hostOf(endpoint)
  if (host === null) return false
  return allowedOtlpEndpoints
    .flatMap((entry) => hostOf(entry) ?? [])
    .some((entry) => host === entry || host.endsWith(`.${entry}`))
}

function findForeignEndpoints(about: PolicyCase): PolicyHit[] {
  return otlpEndpoints(about.candidate)
    .filter(({ text }) => !isAllowed(text, about))
    .map(({ path }) => ({
      path,
      message: 'This OTLP endpoint is not on the list of allowed hosts.',
      remediation: 'Send to an allowed host, or have the host added to the list.',
    }))
}

function findPlainHttp(about: PolicyCase): PolicyHit[] {
  return otlpEndpoints(about.candidate)
    .filter(({ text }) => /^\s*http:/i.test(text) && isAllowed(text, about))
    .map(({ path }) => ({
      path,
      message: 'OTLP is sent to an allowed host over plain HTTP here.',
      remediation: 'Use "https://".',
    }))
}

/** Schemes whose host stands where that of a URL stands; `dns://a/b` of gRPC asks `a` and sends to `b`. */
const URL_SCHEMES = new Set(['http', 'https', 'grpc', 'grpcs'])

/** The lower-case host of `host`, `host:port`, `[v6]:port` or a URL; null when there is none to be read. */
export function hostOf(endpoint: string): string | null {
  const text = endpoint.trim()
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)
  if (scheme !== null && !URL_SCHEMES.has(scheme[1]!.toLowerCase())) return null
  const authority = text.slice(scheme?.[0].length ?? 0).split(/[/?#]/, 1)[0]!
  const host = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase()
  const match = /^(\[[0-9a-f:.%]+\]|[a-z0-9_.-]+?)\.?(?::\d{1,5})?$/.exec(host)
  return match ? match[1]! : null
}

function findUnbatchedPipelines({ candidate }: PolicyCase): PolicyHit[] {
  return pipelinesOf(candidate).flatMap(({ name, pipeline }) =>
    idsOf(pipeline['processors']).some(({ id }) => componentType(id) === 'batch')
      ? []
      : [
          {
            path: `service.pipelines.${name}.processors`,
            message: `Pipeline "${name}" has no batch processor.`,
            remediation: 'Add a batch processor to the pipeline.',
          },
        ],
  )
}

function findInsecureTls({ candidate }: PolicyCase): PolicyHit[] {
  return componentsWith(candidate, 'insecure').map(({ component, path }) => ({
    path: component === OWN_TELEMETRY ? path : `${component}.tls.insecure`,
    message: 'Transport security is switched off.',
    remediation: 'Remove "insecure: true" and use TLS.',
  }))
}

function findUnverifiedTls({ candidate }: PolicyCase): PolicyHit[] {
  return componentsWith(candidate, 'insecure_skip_verify').map(({ path }) => ({
    path,
    message: 'The certificate of the other side is not verified.',
    remediation: 'Remove "insecure_skip_verify: true" and name the authority in "ca_file".',
  }))
}

/**
 * Exporters, receivers, extensions and the collector's own telemetry in which a setting of this name is on, with the
 * first place of each.
 */
function componentsWith(config: ParsedConfig, name: string): { component: string; path: string }[] {
  const parts = (['exporters', 'receivers', 'extensions'] as const).flatMap((category) =>
    componentsOf(config, category).map(({ id, settings }) => ({ component: `${category}.${id}`, settings })),
  )
  parts.push({ component: OWN_TELEMETRY, settings: ownTelemetryOf(config) })
  return parts.flatMap(({ component, settings }) => {
    const path = pathOfSwitch(settings, name, component)
    return path === null ? [] : [{ component, path }]
  })
}

function pathOfSwitch(value: ConfigValue, name: string, path: string): string | null {
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) {
      const found = pathOfSwitch(entry, name, `${path}[${index}]`)
      if (found !== null) return found
    }
    return null
  }
  if (!isObject(value)) return null
  for (const key of sortedKeys(value)) {
    const entry = value[key]!
    const at = `${path}.${key}`
    if (lastName(key).toLowerCase() === name && isOn(entry)) return at
    const found = pathOfSwitch(entry, name, at)
    if (found !== null) return found
  }
  return null
}

function findMissingAttributes({ candidate, requiredResourceAttributes }: PolicyCase): PolicyHit[] {
  const set = new Set<string>()
  for (const { id, settings } of componentsOf(candidate, 'processors')) {
    const attributes =
      componentType(id) === 'resource' && isObject(settings) ? settings['attributes'] : undefined
    if (!Array.isArray(attributes)) continue
    for (const entry of attributes)
      if (isObject(entry) && typeof entry['key'] === 'string') set.add(entry['key'])
  }
  const missing = requiredResourceAttributes.filter((key) => !set.has(key))
  if (missing.length === 0) return []
  return [
    {
      path: 'processors.resource.attributes',
      message: `No resource processor sets the required attributes: ${missing.join(', ')}.`,
      remediation: 'Set them in a resource processor.',
    },
  ]
}

function findUnsafeSampling({ candidate, sampling }: PolicyCase): PolicyHit[] {
  return componentsOf(candidate, 'processors').flatMap(({ id, settings }) => {
    if (!isObject(settings)) return []
    const type = componentType(id)
    if (type === 'probabilistic_sampler') {
      return samplingHit(settings['sampling_percentage'], `processors.${id}.sampling_percentage`, sampling)
    }
    const policies = type === 'tail_sampling' ? settings['policies'] : undefined
    if (!Array.isArray(policies)) return []
    return policies.flatMap((policy, index) => {
      if (!isObject(policy)) return []
      const path = `processors.${id}.policies[${index}]`
      const nested = isObject(policy['probabilistic']) ? policy['probabilistic'] : {}
      return [
        ...samplingHit(policy['sampling_percentage'], `${path}.sampling_percentage`, sampling),
        ...samplingHit(nested['sampling_percentage'], `${path}.probabilistic.sampling_percentage`, sampling),
      ]
    })
  })
}

function samplingHit(
  value: ConfigValue | undefined,
  path: string,
  { min, max }: PolicyCase['sampling'],
): PolicyHit[] {
  const isNumeric = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')
  const percentage = isNumeric ? Number(value) : Number.NaN
  if (Number.isNaN(percentage) || (percentage >= min && percentage <= max)) return []
  return [
    {
      path,
      message: `The sampling percentage is outside the safe range of ${min} to ${max}.`,
      remediation: 'Choose a percentage inside the range.',
    },
  ]
}
