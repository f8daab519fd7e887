import type { EvidenceItem, EvidencePack } from '../wire/reports.ts'
import { nameInItem, type People } from './people.ts'
import { summarize } from './summary.ts'
import { factText, sortedFacts, visibleText } from './text-values.ts'

const PLAIN = /^[a-zA-Z0-9 :,;/+=%"'-]*$/
const CODE_PLAIN = /^[!-_a-~](?:[ -_a-~]*[!-_a-~])?$/

/** Text in which Markdown and HTML mean nothing. */
export function escapeMarkdown(text: string): string {
  if (PLAIN.test(text)) return text
  return visibleText(text)
    .replace(/[\\`*_{}[\]()<>#|~&!]/g, '\\$&')
    .replace(/\bwww\./gi, (found) => found.replace('.', '\\.'))
}

/** A code span that shows the text as it is, whatever backticks are in it. */
export function codeSpan(text: string): string {
  if (CODE_PLAIN.test(text)) return `\`${text}\``
  const visible = visibleText(text)
  const runs = visible.match(/`+/g) ?? []
  const longest = runs.reduce((max, run) => Math.max(max, run.length), 0)
  const fence = '`'.repeat(longest + 1)
  // Markdown strips one space on each side of a code span that has both; these spaces keep a backtick apart from the
  // fence, and preserve spaces at the ends.
  const isPadded = longest > 0 || visible === '' || (/^ /.test(visible) && / $/.test(visible))
  return isPadded ? `${fence} ${visible} ${fence}` : `${fence}${visible}${fence}`
}

// Underscores inside a word have no meaning in Markdown, so our own names need no escape.
const keyText = (key: string) => (/^[a-z0-9]+(_[a-z0-9]+)*$/.test(key) ? key : escapeMarkdown(key))

function itemLines(item: EvidenceItem): string {
  const observed = item.observed_at === undefined ? '' : ` (${item.observed_at})`
  const marks = [item.severity ?? '', item.redacted ? 'redacted' : ''].filter((mark) => mark !== '')
  const tail = marks.length === 0 ? '' : ` · ${marks.map(escapeMarkdown).join(' · ')}`
  let text = `- ${codeSpan(item.id)} ${escapeMarkdown(item.summary)}${observed}${tail}\n`
  text += `  - resource: ${codeSpan(`${item.resource} ${item.resource_id}`)}\n`
  if (item.content_hash !== undefined) text += `  - content_hash: ${codeSpan(item.content_hash)}\n`
  for (const [key, value] of sortedFacts(item.facts)) text += `  - ${keyText(key)}: ${codeSpan(value)}\n`
  return text
}

function scopeLines({ scope }: EvidencePack): string {
  let text = '## Scope\n\n'
  if (scope.group_id !== undefined) text += `- group_id: ${codeSpan(scope.group_id)}\n`
  if (scope.selector !== undefined) text += `- selector: ${codeSpan(factText(scope.selector))}\n`
  if (scope.whole_fleet) text += `- whole_fleet: ${codeSpan('true')}\n`
  text += `- workload_count: ${codeSpan(String(scope.workload_count ?? 0))}\n`
  text += `- since: ${scope.since === undefined ? 'the beginning' : codeSpan(scope.since)}\n`
  text += `- until: ${scope.until === undefined ? 'now' : codeSpan(scope.until)}\n`
  text += `- workload_ids: ${(scope.workload_ids ?? []).map(codeSpan).join(', ')}\n`
  return `${text}\nThe period bounds config history, config plans, alerts and events; the other sections show how things stood when the pack was made.\n\n`
}

function signatureLines(pack: EvidencePack): string {
  let text = '## Signatures\n\n'
  for (const { scheme, verifier = '', payload_hash, key_id = '', signature_b64 } of pack.signatures ?? []) {
    text += `- scheme: ${codeSpan(scheme)}, verifier: ${codeSpan(verifier)}, payload_hash: ${codeSpan(payload_hash)}`
    text += key_id === '' ? '' : `, key_id: ${codeSpan(key_id)}`
    text += signature_b64 === undefined ? '\n' : `, signature_b64: ${codeSpan(signature_b64)}\n`
  }
  return text
}

function summaryLines(pack: EvidencePack, people: People): string {
  const told = summarize(pack, people).map(([heading, lines]) =>
    lines.length === 1
      ? `- ${heading}: ${escapeMarkdown(lines[0]!)}\n`
      : `- ${heading}:\n${lines.map((line) => `  - ${escapeMarkdown(line)}\n`).join('')}`,
  )
  return `## In short\n\n${told.join('')}\n`
}

/** The pack as a readable text, in the pack's own order, below what it comes to. */
export function* renderMarkdown(pack: EvidencePack, people: People): Generator<string> {
  yield '# Evidence Pack\n\n'
  for (const key of ['schema_version', 'generated_at', 'inputs_hash', 'report_hash'] as const)
    yield `- ${keyText(key)}: ${codeSpan(pack[key])}\n`
  yield `\n${summaryLines(pack, people)}${scopeLines(pack)}`
  if (pack.warnings !== undefined && pack.warnings.length > 0) {
    const lines = pack.warnings.map(
      ({ code, message }) => `- ${codeSpan(code)}: ${escapeMarkdown(message)}\n`,
    )
    yield `## Warnings\n\n${lines.join('')}\n`
  }
  for (const section of pack.sections) {
    yield `## ${escapeMarkdown(section.title)}\n\n`
    if (section.items.length === 0) yield 'Nothing to report.\n'
    for (const item of section.items) yield itemLines(nameInItem(item, people))
    yield '\n'
  }
  if (pack.signed_audit !== undefined) {
    yield '## Signed audit\n\n'
    for (const [key, value] of sortedFacts({ ...pack.signed_audit }))
      yield `- ${keyText(key)}: ${codeSpan(value)}\n`
    yield '\n'
  }
  if (pack.audit_head !== undefined)
    yield `## Audit head\n\n- seq: ${codeSpan(String(pack.audit_head.seq))}\n- hash: ${codeSpan(pack.audit_head.hash)}\n\n`
  yield signatureLines(pack)
}
