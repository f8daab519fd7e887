import { parseUrl } from './parse-url.ts'

/** Why a text is no pattern of a link, with the part of it that is at fault. */
export type LinkTemplateFault =
  | { code: 'not_https' | 'in_host' | 'open_brace'; part: string }
  | { code: 'placeholder_unknown'; part: string }

/** A pattern of a link, read: texts, and between them the placeholders. */
export interface LinkTemplate {
  /** One more than there are placeholders. */
  texts: readonly string[]
  /** `id`, `name`, `cluster`, `environment`, or `label:` and the key of a label. */
  placeholders: readonly string[]
}

/** What fills the placeholders of a link: the facts of one workload. */
export interface LinkFacts {
  id: string
  name: string
  cluster: string
  environment: string
  labels: Readonly<Record<string, string>>
}

const FACTS = ['id', 'name', 'cluster', 'environment'] as const
const LABEL = 'label:'
/** What ends the host of an https URL; a reader of URLs takes a backslash for a slash. */
const AFTER_HOST = /[/?#\\]/
const SCHEME = 'https://'

const isKnown = (placeholder: string): boolean =>
  (FACTS as readonly string[]).includes(placeholder) ||
  (placeholder.startsWith(LABEL) && placeholder.length > LABEL.length)

/**
 * Read the pattern of a link, such as `https://grafana.example.com/d/x?var-host={label:host.name}`. It is https, and
 * its host is written out and has no user: what agents report may fill in a path or a query, and never where it leads.
 */
export function readLinkTemplate(
  text: string,
): { ok: true; template: LinkTemplate } | { ok: false; fault: LinkTemplateFault } {
  const fail = (code: LinkTemplateFault['code'], part: string) =>
    ({ ok: false, fault: { code, part } }) as const
  const texts: string[] = []
  const placeholders: string[] = []
  let from = 0
  for (let open = text.indexOf('{'); open >= 0; open = text.indexOf('{', from)) {
    const close = text.indexOf('}', open)
    if (close < 0) return fail('open_brace', text.slice(open))
    const placeholder = text.slice(open + 1, close)
    if (!isKnown(placeholder)) return fail('placeholder_unknown', placeholder)
    texts.push(text.slice(from, open))
    placeholders.push(placeholder)
    from = close + 1
  }
  texts.push(text.slice(from))
  const loose = texts.find((one) => one.includes('}'))
  if (loose !== undefined) return fail('open_brace', loose)
  const host = texts[0]!.startsWith(SCHEME) ? texts[0]!.slice(SCHEME.length) : null
  if (host === null) return fail('not_https', text.slice(0, 40))
  // A reader of URLs skips further slashes: what came behind them would be the host.
  const end = host.search(AFTER_HOST)
  if (end === 0) return fail('not_https', text.slice(0, 40))
  const isWhole = placeholders.length === 0 || end > 0
  if (!isWhole) return fail('in_host', placeholders[0]!)
  const sample = texts.join('x')
  const url = parseUrl(sample)
  if (url === null || /[\s\\]/.test(sample)) return fail('not_https', sample.slice(0, 40))
  const { protocol, username, password } = url
  if (protocol !== 'https:' || username !== '' || password !== '')
    return fail('not_https', host.split('/')[0]!)
  return { ok: true, template: { texts, placeholders } }
}

const factOf = (facts: LinkFacts, placeholder: string): string => {
  if (!placeholder.startsWith(LABEL)) return facts[placeholder as (typeof FACTS)[number]]
  const key = placeholder.slice(LABEL.length)
  return Object.hasOwn(facts.labels, key) ? facts.labels[key]! : ''
}

/**
 * Fill in a pattern for one workload, each value encoded. It cannot be filled where a fact is missing, or is made of
 * dots alone, which would climb in the path; then the answer names the placeholder.
 */
export function fillLinkTemplate(
  { texts, placeholders }: LinkTemplate,
  facts: LinkFacts,
): { ok: true; url: string } | { ok: false; missing: string } {
  let url = texts[0]!
  for (const [at, placeholder] of placeholders.entries()) {
    const value = factOf(facts, placeholder)
    if (/^\.*$/.test(value)) return { ok: false, missing: placeholder }
    url += encodeURIComponent(value.toWellFormed()) + texts[at + 1]!
  }
  return { ok: true, url }
}
