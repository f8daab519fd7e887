import { redactText } from './redact.ts'

/** The causes that an error text of an agent is classified into. */
export const AGENT_ERROR_CAUSES = [
  'agent_exited',
  'apply_timeout',
  'authentication_failed',
  'capability_mismatch',
  'certificate_invalid',
  'collector_validation',
  'component_settings_invalid',
  'component_undefined',
  'component_unknown',
  'connection_failed',
  'environment_missing',
  'file_missing',
  'out_of_memory',
  'opamp_send_failed',
  'permission_or_policy',
  'port_in_use',
  'rollback_unavailable',
  'unknown',
  'yaml_invalid',
] as const
export type AgentErrorCause = (typeof AGENT_ERROR_CAUSES)[number]

/** What may be kept of an agent's error text. */
export interface AgentError {
  cause: AgentErrorCause
  /** One of a fixed set of texts, which everybody may see. */
  title: string
  severity: 'high' | 'medium'
  retryable: boolean
  /**
   * What it is about. `exit_code`, `yaml_line` and `port` hold digits; `component_type` a type without its name,
   * `unknown_host` a host that was not found and `address` the host and port that did not answer, which only those may
   * see who may read configs.
   */
  parameters: Readonly<Record<string, string>>
  /**
   * The agent's own text without secrets, at most `AGENT_ERROR_TEXT_MAX` code points; only for `config:read_content`.
   */
  text: string
}

interface Rule {
  cause: AgentErrorCause
  title: string
  retryable: boolean
  severity: 'high' | 'medium'
  pattern: RegExp
}

const rule = (cause: AgentErrorCause, title: string, pattern: RegExp, retryable = true): Rule => ({
  cause,
  title,
  retryable,
  severity: 'high',
  pattern,
})

/** The first rule whose pattern is found decides; the more specific rules come first. */
const RULES: readonly Rule[] = [
  rule(
    'port_in_use',
    'A port is already in use',
    /address already in use|only one usage of each socket address/,
  ),
  rule(
    'component_unknown',
    'A component is not part of this collector',
    /unknown type:|has been deprecated, use the/,
  ),
  rule(
    'component_undefined',
    'A component is used but not defined',
    /which is not configured|is not defined|references (?:receiver|exporter|processor|extension|connector) /,
  ),
  rule(
    'yaml_invalid',
    'The config is not valid YAML',
    /not valid yaml|yaml: |error converting yaml|mapping key .{0,200} already defined/,
  ),
  rule(
    'environment_missing',
    'The config refers to a value that cannot be resolved',
    /environment variable .{0,200} (?:has invalid name|not set)|cannot resolve the configuration|scheme .{0,200} is not supported/,
  ),
  rule(
    'certificate_invalid',
    'A certificate is not accepted',
    /x509:|certificate (?:has expired|signed by unknown|is not valid)|tls: (?:failed to verify|bad certificate|handshake)/,
  ),
  rule(
    'component_settings_invalid',
    'The settings of a component are wrong',
    /has invalid keys|decoding failed|cannot unmarshal|error reading configuration for|unmarshal|expected type|must be specified|must specify|must be greater|invalid duration|missing port in address/,
  ),
  rule(
    'collector_validation',
    'Collector rejected the config',
    /unknown (?:receiver|exporter|processor|extension|connector)|invalid pipeline|invalid component|invalid configuration|must have at least one|not used in any supported|telemetry type is not supported|cycle detected|failed to build pipelines|no (?:receiver|exporter) configuration/,
  ),
  rule(
    'out_of_memory',
    'The collector ran out of memory',
    /out of memory|cannot allocate memory|exit code 137|signal: killed/,
  ),
  rule(
    'file_missing',
    'A file or directory is missing',
    /no such file or directory|cannot find the (?:file|path)|directory must exist/,
  ),
  rule('apply_timeout', 'Config apply timed out', /timeout|timed out|deadline exceeded/),
  rule(
    'authentication_failed',
    'A backend refused the credentials',
    /\b401\b|unauthenticated|unauthorized|invalid credentials|\b403\b|forbidden/,
  ),
  rule(
    'connection_failed',
    'A backend cannot be reached',
    /connection refused|no such host|connection reset|network is unreachable|no route to host|name resolution/,
  ),
  rule(
    'agent_exited',
    'The collector stopped while the config was applied',
    /exited unexpectedly|exit(?:ed)? (?:with )?(?:exit )?(?:code|status)|agent process|crash/,
  ),
  rule('opamp_send_failed', 'OpAMP send failed', /not connected|connection lost|\bsend\b/),
  rule('capability_mismatch', 'Remote config capability mismatch', /capabilit/, false),
  rule('permission_or_policy', 'Agent policy rejected the config', /permission|policy|refus/, false),
  {
    ...rule(
      'rollback_unavailable',
      'Rollback unavailable',
      /rollback[\s\S]{0,200}unavailable|unavailable[\s\S]{0,200}rollback/,
      false,
    ),
    severity: 'medium',
  },
]

const UNKNOWN = {
  cause: 'unknown',
  title: 'Remote config error',
  retryable: true,
  severity: 'medium',
} as const

/** Longest text that is kept, in code points. */
export const AGENT_ERROR_TEXT_MAX = 1_000
/**
 * How much of a text is looked at, in UTF-16 units: more than is kept, so that masking does not depend on where the cut
 * falls.
 */
const LOOKED_AT_MAX = 4_000

/**
 * Classify the error text of an agent or of one of its components: the cause and what else may be kept and shown. The
 * text itself is included unless `withText` is false.
 */
export function classifyAgentError(raw: string, { withText } = { withText: true }): AgentError {
  const seen = raw.slice(0, LOOKED_AT_MAX).replace(/\p{Cs}/gu, '')
  const lower = seen.toLowerCase()
  const { cause, title, severity, retryable } = RULES.find(({ pattern }) => pattern.test(lower)) ?? UNKNOWN
  const text = withText ? cut(redactText(seen)) : ''
  return { cause, title, severity, retryable, parameters: parametersOf(seen), text }
}

function parametersOf(text: string): Record<string, string> {
  const parameters: Record<string, string> = {}
  const exit =
    /exit(?:ed)?(?: unexpectedly)?(?: with)?(?: exit)? (?:code|status)[: ]{1,2}(-?\d{1,10})\b/i.exec(text)
  if (exit) parameters['exit_code'] = exit[1]!
  const type =
    /unknown type: "([A-Za-z][A-Za-z0-9_]{0,62})"/.exec(text) ??
    /references (?:receiver|exporter|processor|extension|connector) "([A-Za-z][A-Za-z0-9_]{0,62})(?:\/[^"]*)?"/.exec(
      text,
    ) ??
    /\b(?:receivers|exporters|processors|extensions|connectors)::([A-Za-z][A-Za-z0-9_]{0,62})\b/.exec(text) ??
    /error reading configuration for "([A-Za-z][A-Za-z0-9_]{0,62})(?:\/[^"]*)?"/.exec(text)
  if (type) parameters['component_type'] = type[1]!
  const line = /yaml: (?:unmarshal errors:\s{0,4})?line (\d{1,9})\b/.exec(text)
  if (line) parameters['yaml_line'] = line[1]!
  const port = /:(\d{1,5}): bind: /.exec(text) ?? /port (\d{1,5}) (?:is )?already in use/i.exec(text)
  if (port && Number(port[1]) <= 65_535) parameters['port'] = port[1]!
  Object.assign(parameters, unreachableOf(text))
  return parameters
}

/** The host that was not found, or the address that did not answer, as Go's network library names them. */
function unreachableOf(text: string): Record<string, string> {
  const host =
    /\blookup ([A-Za-z0-9_][A-Za-z0-9_.-]{0,252})(?: on [^\s]{1,80})?: (?:no such host|[^:\n]{0,80}name resolution|server misbehaving|i\/o timeout)/.exec(
      text,
    )
  if (host) return { unknown_host: redactText(host[1]!) }
  const address =
    /\bdial (?:tcp|udp)[46]? (?:[^\s]{1,80}->)?((?:\[[0-9A-Fa-f:.%]{2,60}\]|[A-Za-z0-9_.-]{1,253}):\d{1,5}): /.exec(
      text,
    )
  return address ? { address: redactText(address[1]!) } : {}
}

/** A path as collectors write it: `service::pipelines::traces: …`, with the error behind the last name. */
const PATH = /\b(?:receivers|processors|exporters|connectors|extensions|service)(?:::[^\s"':]{1,128}){1,16}/
/** `'exporters' error reading configuration for "otlp/eu": …`, and the like for an unknown type. */
const READ_PATH =
  /'(receivers|processors|exporters|connectors|extensions)' (?:error reading configuration for|unknown type: "[^"]{1,128}" for id:) "([^"]{1,128})"/

/** The path in the config that a kept error text is about, such as `exporters.otlp/eu`; empty where it names none. */
export function pathOfAgentError(text: string): string {
  const read = READ_PATH.exec(text)
  if (read !== null) return `${read[1]}.${read[2]}`
  return PATH.exec(text)?.[0].replaceAll('::', '.') ?? ''
}

function cut(text: string): string {
  // A code point has at most two code units, so this much holds one code point too many if the text has one.
  const points = [...text.slice(0, AGENT_ERROR_TEXT_MAX * 2 + 2)]
  return points.length > AGENT_ERROR_TEXT_MAX
    ? `${points.slice(0, AGENT_ERROR_TEXT_MAX - 1).join('')}…`
    : text
}
