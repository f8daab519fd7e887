import { compareText } from '../../model/text-order.ts'
import type { DiffEndpoint, DiffEndpointValue } from '../../wire/diff.ts'
import type { RiskLevel } from '../../wire/plan.ts'
import { CATEGORIES } from '../../wire/values.ts'
import { isAddressKey } from '../check/address-keys.ts'
import { componentType } from '../check/components.ts'
import { isSecretKey, MASK, redactName, redactString, redactUrl } from '../redact/redact.ts'
import { type ConfigValue, isObject, lastName, sortedKeys } from '../yaml/value.ts'
import { type ComparedConfig, type ComparedPart, maxRisk, partRef } from './model.ts'
import type { Renamings } from './renamings.ts'
import { ruleRisk } from './rules.ts'

/** Keys below which exporters name several addresses, as a list or with commas: Kafka, Elasticsearch, load balancing. */
const LIST_KEYS = new Set(['brokers', 'endpoints', 'hostnames', 'addresses', 'servers', 'urls'])
/** What the load-balancing exporter asks for the addresses that it sends to. */
const RESOLVER_PATH = /(?:\.|::)resolver(?:\.|::)(?:dns(?:\.|::)hostname|k8s(?:\.|::)service)$/

interface Found {
  part: ComparedPart
  path: string
  /** As written. */
  text: string
  isSecret: boolean
}

interface Address {
  scheme: string
  host: string
  port: string
  path: string
}

/** Compare all addresses that components listen on or send to; sorted by path, equal ones left out. */
export function diffEndpoints(
  base: ComparedConfig,
  target: ComparedConfig,
  /** The exporters of the target that send to where nothing went before. */
  destinations: ReadonlySet<string>,
  { to }: Pick<Renamings, 'to'>,
): DiffEndpoint[] {
  const before = endpointsOf(base)
  const after = endpointsOf(target)
  return [...new Set([...before.keys(), ...after.keys()])].sort(compareText).flatMap((path) => {
    const left = before.get(path)
    const right = after.get(path)
    if (left && right && normalise(left) === normalise(right)) return []
    const { part } = (left ?? right)!
    const isTold = part.category === 'exporters' && destinations.has(part.id)
    const isUsed = base.parts.has(part.key)
    const { risk, rules } = to.has(part.key)
      ? LOST_TO_NOBODY
      : left
        ? judge(part, left, right)
        : judgeAdded(part, isTold, isUsed)
    return [
      {
        id: `endpoint:${redactName(path)}`,
        kind: left && right ? 'modified' : left ? 'removed' : 'added',
        component: partRef(part, part.path),
        endpoint_kind: kindOf(part.id),
        field_path: redactName(path),
        ...(left ? { before: shown(left) } : {}),
        ...(right ? { after: shown(right) } : {}),
        risk,
        rules,
      },
    ]
  })
}

/**
 * The addresses that a component names, each as host and port; one that cannot be read (`${…}`) as it is written. What
 * stands below a secret key is none: a header called `server` says who sends, not where to.
 */
export function hostsOf(part: ComparedPart): string[] {
  const found = new Map<string, Found>()
  collect(part, part.settings, part.path, false, found)
  const hosts = [...found.values()].flatMap(({ text, isSecret }) => {
    if (isSecret) return []
    return listAddresses(text).map((one) => {
      const address = readAddress(one, kindOf(part.id))
      return address ? `${address.host}${address.port === '' ? '' : `:${address.port}`}` : one
    })
  })
  return [...new Set(hosts)]
}

/**
 * The addresses of a text that may name several with commas between them; one that is filled in at start is left whole.
 * A password may hold a comma as well, so it is taken out before.
 */
const listAddresses = (text: string): string[] =>
  text.includes('${')
    ? [text]
    : (text.includes('://') ? redactUrl(text) : redactName(text))
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '')

function endpointsOf({ parts }: ComparedConfig): Map<string, Found> {
  const found = new Map<string, Found>()
  for (const part of parts.values()) {
    if ((CATEGORIES as readonly string[]).includes(part.category)) {
      collect(part, part.settings, part.path, isSecretKey(part.id), found)
    }
  }
  return found
}

function collect(
  part: ComparedPart,
  value: ConfigValue,
  path: string,
  isSecret: boolean,
  into: Map<string, Found>,
): void {
  if (Array.isArray(value)) {
    value.forEach((entry, index) => {
      collect(part, entry, `${path}[${index}]`, isSecret, into)
    })
    return
  }
  if (!isObject(value)) return
  for (const key of sortedKeys(value)) {
    const entry = value[key]!
    const at = `${path}.${key}`
    const isHidden = isSecret || isSecretKey(key)
    for (const [path, text] of listNamed(part, key, entry, at))
      into.set(path, { part, path, text, isSecret: isHidden })
    collect(part, entry, at, isHidden, into)
  }
}

const isText = (value: ConfigValue): value is string | number =>
  (typeof value === 'string' && value.trim() !== '') || typeof value === 'number'

/** The addresses that one setting names, each with its path; none where it is no address. */
function listNamed(part: ComparedPart, key: string, value: ConfigValue, path: string): [string, string][] {
  const name = lastName(key).toLowerCase()
  const isOfExporter = part.category === 'exporters'
  const isList = isOfExporter && LIST_KEYS.has(name)
  if (isList && Array.isArray(value))
    return value.flatMap((entry, at) =>
      isText(entry) ? [[`${path}[${at}]`, String(entry).trim()] as [string, string]] : [],
    )
  const isOne = isAddressKey(name) || isList || (isOfExporter && RESOLVER_PATH.test(path))
  return isOne && isText(value) ? [[path, String(value).trim()]] : []
}

function kindOf(id: string): string {
  const type = componentType(id)
  if (type.startsWith('otlphttp') || type.startsWith('otlp_http')) return 'otlp_http'
  return type.startsWith('otlp') ? 'otlp_grpc' : 'generic'
}

/** Scheme, host, port and path; null for what is no address, such as one that is filled in at start. */
function readAddress(text: string, kind: string): Address | null {
  const match =
    /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:[^/?#]*@)?(\[[0-9a-f:.%]+\]|[a-z0-9_.-]*)(?::(\d{1,5}))?(\/[^?#]*)?(?:[?#].*)?$/is.exec(
      text,
    )
  if (!match) return null
  const scheme = match[1]?.toLowerCase() ?? (kind === 'otlp_http' ? 'http' : 'grpc')
  return { scheme, host: (match[2] ?? '').toLowerCase(), port: match[3] ?? '', path: match[4] ?? '' }
}

/** An address in one spelling: the same for two spellings of one address. */
function normalise({ part, text }: Found): string {
  const address = readAddress(text, kindOf(part.id))
  if (!address) return text
  const { host, port, path } = address
  const query = /\?[^#]*/.exec(text)?.[0] ?? ''
  const scheme = text.includes('://') ? `${address.scheme}://` : ''
  return `${scheme}${host}${port === '' ? '' : `:${port}`}${path.replace(/\/$/, '')}${query}`
}

function shown(found: Found): DiffEndpointValue {
  if (found.isSecret || redactString(found.text) === MASK) return { raw: MASK, normalized: MASK }
  const raw = clean(found.text)
  // From the text without credentials: what may be the beginning of one is not shown as a host.
  const address = readAddress(raw, kindOf(found.part.id))
  const spelt = normalise({ ...found, text: raw })
  if (!address) return { raw, normalized: clean(spelt) }
  // Shown with a scheme always: with the default one where the text has none.
  const normalized = clean(spelt.includes('://') ? spelt : `${address.scheme}://${spelt}`)
  const { scheme, host, port, path } = address
  return {
    raw,
    scheme,
    ...(host === '' ? {} : { host }),
    ...(port === '' ? {} : { port: Number(port) }),
    ...(path === '' ? {} : { path: redactString(path) }),
    normalized,
    insecure: scheme === 'http' || scheme === 'grpc',
    tls_enabled: scheme === 'https',
  }
}

function clean(text: string): string {
  return text.includes('://') ? redactUrl(redactString(text)) : redactString(text)
}

/** The address of a component that has it still, under another id. */
const LOST_TO_NOBODY: { risk: RiskLevel; rules: string[] } = { risk: 'low', rules: [] }

/** How risky an added address is. With an exporter that is a new destination itself, the exporter has the rule. */
function judgeAdded(
  { category }: ComparedPart,
  isNewDestination: boolean,
  isKnownExporter: boolean,
): { risk: RiskLevel; rules: string[] } {
  if (isNewDestination) return { risk: 'high', rules: [] }
  return category === 'exporters' && isKnownExporter
    ? { risk: ruleRisk('destination_added'), rules: ['destination_added'] }
    : { risk: 'low', rules: [] }
}

function judge(
  part: ComparedPart,
  left: Found,
  right: Found | undefined,
): { risk: RiskLevel; rules: string[] } {
  if (!right) return { risk: 'medium', rules: [] }
  const kind = kindOf(part.id)
  const before = readAddress(left.text, kind)
  const after = readAddress(right.text, kind)
  const isDowngrade = before?.scheme === 'https' && after?.scheme === 'http'
  const downgrade = isDowngrade ? ['transport_security_weakened'] : []
  const of = (rule: string) => ({ risk: ruleRisk(rule), rules: [rule, ...downgrade] })
  if (part.category === 'receivers') return of('receiver_endpoint_exposure_changed')
  const isMoved =
    !before ||
    !after ||
    before.host !== after.host ||
    before.port !== after.port ||
    before.scheme !== after.scheme
  if (part.category === 'exporters' && kind !== 'generic' && isMoved) {
    return of('otlp_endpoint_changed')
  }
  if (part.category === 'exporters' && before?.host !== after?.host) {
    return of('destination_changed')
  }
  return { risk: maxRisk(['medium', isDowngrade ? 'high' : 'none']), rules: downgrade }
}
