import { componentType } from '../check/components.ts'
import { checkExpansions } from '../check/expansions.ts'
import type { ParsedConfig } from '../yaml/parse.ts'
import { type ConfigValue, isExpanded, isObject, lastName, sortedKeys } from '../yaml/value.ts'

/** Settings of exporters, receivers and extensions that rules judge, or that hold such settings. */
const JUDGED_SETTINGS = new Set([
  'client',
  'config',
  'grpc',
  'http',
  'insecure',
  'insecure_skip_verify',
  'protocols',
  'scrape_configs',
  'tls',
  'tls_config',
  'tls_settings',
])
/** Settings of a collector's own telemetry that hold where and how it is sent. */
const JUDGED_TELEMETRY = new Set([
  ...JUDGED_SETTINGS,
  'batch',
  'exporter',
  'logs',
  'metrics',
  'otlp',
  'periodic',
  'processors',
  'readers',
  'simple',
  'traces',
])
/** Settings of samplers that rules judge, or that hold such settings. */
const JUDGED_SAMPLING = new Set(['policies', 'probabilistic', 'sampling_percentage'])
const SAMPLERS = new Set(['probabilistic_sampler', 'tail_sampling'])

interface Hidden {
  path: string
  message: string
  remediation: string
}

/**
 * Places that a rule has to judge and that only the collector fills in: whoever writes `${yaml:…}` or `${env:NO:-true}`
 * there would pass every rule. Other settings, such as keys and passwords, may be filled in as they are.
 */
export function findHiddenSettings({ root }: ParsedConfig): Hidden[] {
  const paths: string[] = []
  for (const category of ['exporters', 'receivers', 'extensions'])
    walkComponents(root[category], category, () => JUDGED_SETTINGS, paths)
  walkComponents(
    root['processors'],
    'processors',
    (id) => (SAMPLERS.has(componentType(id)) ? JUDGED_SAMPLING : null),
    paths,
  )
  walkService(root['service'], paths)
  return paths.map((path) => ({
    path,
    message: 'A rule has to judge what stands here, and only the collector fills it in.',
    remediation: 'Write the value itself; expansions may stand in other settings.',
  }))
}

/** `judgedOf` says which settings of a component are judged; null when none is. */
function walkComponents(
  section: ConfigValue | undefined,
  category: string,
  judgedOf: (id: string) => ReadonlySet<string> | null,
  into: string[],
): void {
  if (isExpanded(section)) into.push(category)
  if (!isObject(section)) return
  for (const id of sortedKeys(section)) {
    const judged = judgedOf(id)
    if (judged === null) continue
    const settings = section[id]!
    if (isExpanded(settings)) into.push(`${category}.${id}`)
    else walkSettings({ value: settings, path: `${category}.${id}`, isJudged: false }, judged, into)
  }
}

function walkSettings(
  { value, path, isJudged }: { value: ConfigValue; path: string; isJudged: boolean },
  judged: ReadonlySet<string>,
  into: string[],
): void {
  if (isExpanded(value)) {
    if (isJudged || makesStructure(value)) into.push(path)
  } else if (Array.isArray(value)) {
    value.forEach((entry, index) => {
      walkSettings({ value: entry, path: `${path}[${index}]`, isJudged }, judged, into)
    })
  } else if (isObject(value)) {
    for (const key of sortedKeys(value)) {
      const part = {
        value: value[key]!,
        path: `${path}.${key}`,
        isJudged: judged.has(lastName(key).toLowerCase()),
      }
      walkSettings(part, judged, into)
    }
  }
}

/** Whether a text uses `${yaml:…}`: its one use is to bring mappings and lists that no rule sees. */
const makesStructure = (text: string): boolean => checkExpansions(text).providers.includes('yaml')

function walkService(service: ConfigValue | undefined, into: string[]): void {
  if (isExpanded(service)) into.push('service')
  if (!isObject(service)) return
  const telemetry = { value: service['telemetry'] ?? null, path: 'service.telemetry', isJudged: true }
  walkSettings(telemetry, JUDGED_TELEMETRY, into)
  const pipelines = service['pipelines']
  if (isExpanded(pipelines)) into.push('service.pipelines')
  if (!isObject(pipelines)) return
  for (const name of sortedKeys(pipelines)) {
    if (isExpanded(pipelines[name])) into.push(`service.pipelines.${name}`)
  }
}
