import type { MigrationPreview } from '../../wire/migration.ts'
import { isSecretKey } from '../redact/redact.ts'
import { cleanEndpoint } from './endpoint.ts'
import { KnownSecrets, looksSecret, type Placeholder } from './secrets.ts'

/** The lists of a migration preview: warnings, settings left out, settings carried over, secrets left out. */
export type MigrationFindings = Pick<
  MigrationPreview,
  'warnings' | 'unsupported_keys' | 'evidence' | 'redactions'
>

type Signal = 'logs' | 'metrics' | 'traces'

/** A receiver, as the lines below its id, already indented and quoted. */
interface Receiver {
  id: string
  signal: Signal
  lines: readonly string[]
}

/** More entries of one kind are not listed; a source of a megabyte could hold hundreds of thousands. */
const ENTRIES_MAX = 1_000
const PATH_LENGTH_MAX = 200
const VALUE_LENGTH_MAX = 4_096
const ATTRIBUTE_KEY = /^[A-Za-z0-9_.\-/]+$/
const DEFAULT_ENDPOINT = '${OTLP_EXPORT_ENDPOINT}'

/**
 * A value as YAML, always quoted, so that `null`, numbers and line breaks stay text. `${NAME}` and `${env:NAME}` are
 * left for the collector to fill in; every other `$` is doubled, so that it reaches the collector as it was written.
 */
export function quote(value: string): string {
  const whole = value.replace(/\p{Surrogate}/gu, '\uFFFD')
  const escaped = whole.replace(/\$(?!\{(?:env:)?[A-Za-z_][A-Za-z0-9_]*\})/g, '$$$$')
  return JSON.stringify(escaped).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, toEscape)
}

const toEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

const INDENT = '  '

/** Collects what was found in a vendor's config, and writes the draft. Nothing enters it unchecked. */
export class MigrationDraft {
  readonly findings: MigrationFindings = { warnings: [], unsupported_keys: [], evidence: [], redactions: [] }
  readonly secrets = new KnownSecrets()
  readonly #placeholder: Placeholder
  readonly #redacted = new Set<string>()
  readonly #attributes = new Map<string, string>()
  readonly #receivers: Receiver[] = []
  #exporter = { id: 'otlp', lines: [`endpoint: ${DEFAULT_ENDPOINT}`] }
  #mapped = 0
  #isCut = false

  constructor(placeholder: Placeholder) {
    this.#placeholder = placeholder
  }

  /** How many settings were carried over. */
  get mapped(): number {
    return this.#mapped
  }

  warn(code: string, message: string, path?: string): void {
    this.#push(this.findings.warnings, {
      code,
      severity: 'warning',
      message,
      ...(path === undefined ? {} : { path: this.label(path) }),
    })
  }

  unsupported(path: string, reason: string, suggestion?: string): void {
    const entry = { path: this.label(path), reason, ...(suggestion === undefined ? {} : { suggestion }) }
    this.#push(this.findings.unsupported_keys, entry)
  }

  /** Note a secret that was left out; a path is noted once only. */
  redact(path: string, reason = 'the value of a secret key is not copied', placeholder?: string): void {
    const label = this.label(path)
    if (this.#redacted.has(label)) return
    this.#redacted.add(label)
    this.#push(this.findings.redactions, {
      path: label,
      placeholder: placeholder ?? this.#placeholder,
      reason,
    })
  }

  /** Note why a part of the draft is there, without counting a setting as carried over. */
  explain(ruleId: string, sourcePath: string, targetPath: string, explanation: string): void {
    this.#push(this.findings.evidence, {
      source_path: this.label(sourcePath),
      target_path: this.label(targetPath),
      rule_id: ruleId,
      explanation,
    })
  }

  /** Note a setting that a rule carried over. */
  map(ruleId: string, sourcePath: string, targetPath: string, explanation: string): void {
    this.#mapped++
    this.explain(ruleId, sourcePath, targetPath, explanation)
  }

  /** A name or path of the source as it may be shown: cut, and nothing of it when it holds a secret. */
  label(text: string): string {
    if (this.secrets.isIn(text) || looksSecret(text.slice(0, VALUE_LENGTH_MAX))) return '[redacted]'
    return text.length > PATH_LENGTH_MAX ? `${text.slice(0, PATH_LENGTH_MAX)}…` : text
  }

  /** A value of the source if it may be copied; null, and noted, when it is too long or looks like a secret. */
  copy(value: string, path: string): string | null {
    if (value.length > VALUE_LENGTH_MAX) {
      this.unsupported(path, 'the value is too long')
      return null
    }
    if (!this.secrets.isIn(value) && !looksSecret(value)) return value
    this.redact(path, 'the value looks like a secret and is not copied')
    return null
  }

  /** Carry a setting over as a resource attribute of everything; false when its key or value cannot be. */
  attribute(key: string, value: string, path: string, ruleId: string): boolean {
    if (!this.isAttributeKey(key, path)) return false
    const copied = this.copy(value, path)
    if (copied === null || copied.trim() === '' || this.#attributes.size >= ENTRIES_MAX) return false
    this.#attributes.set(key, copied)
    this.map(ruleId, path, `processors.resource.attributes[${key}]`, 'Added to the resource of all signals.')
    return true
  }

  /** Add a resource attribute that counts as no setting: a label of the request, or a second name for a setting. */
  labelAttribute(key: string, value: string): void {
    if (value.trim() === '' || !this.isAttributeKey(key, `labels.${key}`)) return
    const copied = this.copy(value, `labels.${key}`)
    if (copied !== null) this.#attributes.set(key, copied)
  }

  /** Whether a key may become an attribute's; the finding is noted when not. */
  isAttributeKey(key: string, path: string): boolean {
    if (isSecretKey(key)) {
      this.redact(path)
      return false
    }
    if (ATTRIBUTE_KEY.test(key) && this.label(key) === key) return true
    this.unsupported(path, 'the name has characters that an attribute cannot carry')
    return false
  }

  /** A filelog receiver; `resource` holds attributes of its own entries only. */
  fileReceiver(
    name: string,
    include: readonly string[],
    options: { resource?: ReadonlyMap<string, string>; operators?: readonly string[] } = {},
  ): void {
    const resource = [...(options.resource ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
    const lines = ['include:', ...include.map((path) => `${INDENT}- ${quote(path)}`)]
    if (resource.length > 0) {
      lines.push('resource:', ...resource.map(([key, value]) => `${INDENT}${quote(key)}: ${quote(value)}`))
    }
    if (options.operators?.length) {
      lines.push('operators:', ...options.operators.map((type) => `${INDENT}- type: ${type}`))
    }
    this.receiver(`filelog/${name}`, 'logs', lines)
  }

  /** A receiver by the lines of its settings, which must be quoted already. */
  receiver(id: string, signal: Signal, lines: readonly string[]): void {
    this.#push(this.#receivers, { id, signal, lines })
  }

  /** Send everything to an OTLP endpoint, cleaned of credentials; ignored, and noted, when it cannot be used. */
  otlpEndpoint(raw: string, path: string): void {
    const endpoint = this.endpoint(raw, path)
    if (endpoint === null) return
    this.#exporter = {
      id: speaksHttp(endpoint) ? 'otlphttp' : 'otlp',
      lines: [`endpoint: ${quote(endpoint)}`],
    }
  }

  /** Send everything to a Splunk HTTP event collector. */
  splunkExporter(endpoint: string): void {
    this.#exporter = {
      id: 'splunk_hec',
      lines: ['token: ${SPLUNK_HEC_TOKEN}', `endpoint: ${quote(endpoint)}`],
    }
  }

  /** An endpoint without its secrets; null, and noted, when it is no endpoint or may not be copied. */
  endpoint(raw: string, path: string): string | null {
    const { text, redactions } = cleanEndpoint(raw, path)
    for (const one of redactions) this.redact(one.path, one.reason, one.placeholder)
    if (text === null) {
      this.warn('endpoint_invalid', 'The endpoint is not a URL or host and port and was left out.', path)
      return null
    }
    // `token=${REDACTED_SECRET}`, with the placeholder already in it, must not count as a secret.
    const rest = text.replace(/(?<![^?&#])[^?&#]*=\$\{REDACTED_SECRET\}/g, '')
    return this.copy(rest, path) === null ? null : text
  }

  /** The draft: receivers, resource and batch processors, one exporter, a pipeline for each signal. */
  render(): string {
    const receivers = this.#receivers.length > 0 ? this.#receivers : [OTLP_TRACES]
    const attributes = [...this.#attributes].sort(([a], [b]) => (a < b ? -1 : 1))
    const processors = attributes.length > 0 ? 'resource, batch' : 'batch'
    const signals = (['traces', 'metrics', 'logs'] as const).flatMap((signal) => {
      const ids = receivers.filter((one) => one.signal === signal).map((one) => one.id)
      return ids.length > 0 ? [{ signal, ids }] : []
    })
    const lines = [
      'receivers:',
      ...receivers.flatMap(({ id, lines }) => [`  ${id}:`, ...lines.map((line) => `    ${line}`)]),
      'processors:',
      ...(attributes.length > 0 ? ['  resource:', '    attributes:'] : []),
      ...attributes.flatMap(([key, value]) => [
        `      - key: ${quote(key)}`,
        `        value: ${quote(value)}`,
        '        action: upsert',
      ]),
      '  batch: {}',
      'exporters:',
      `  ${this.#exporter.id}:`,
      ...this.#exporter.lines.map((line) => `    ${line}`),
      'service:',
      '  pipelines:',
      ...signals.flatMap(({ signal, ids }) => [
        `    ${signal}:`,
        '      receivers:',
        ...ids.map((id) => `        - ${id}`),
        `      processors: [${processors}]`,
        `      exporters: [${this.#exporter.id}]`,
      ]),
    ]
    return `${lines.join('\n')}\n`
  }

  #push<T>(list: T[], entry: T): void {
    if (list.length < ENTRIES_MAX) {
      list.push(entry)
      return
    }
    if (this.#isCut) return
    this.#isCut = true
    const message = `Only the first ${ENTRIES_MAX} entries of each kind are carried over and listed.`
    this.findings.warnings.unshift({ code: 'answer_truncated', severity: 'warning', message })
  }
}

/** Whether an OTLP endpoint is one of HTTP: a URL, unless its port is the one of gRPC. */
function speaksHttp(endpoint: string): boolean {
  return /^https?:\/\//i.test(endpoint) && !/^[^/]+\/\/[^/?#]*:4317(?:[/?#]|$)/.test(endpoint)
}

/** The receiver of a draft whose source gave none: OTLP on its usual ports. */
const OTLP_TRACES: Receiver = {
  id: 'otlp',
  signal: 'traces',
  lines: ['protocols:', '  grpc: {}', '  http: {}'],
}
