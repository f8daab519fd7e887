import { createHash, type Hash } from 'node:crypto'
import type { EvidenceItem, EvidencePack, EvidenceSection } from '../wire/reports.ts'
import type { NormalRequest } from './request.ts'

/**
 * The canonical form of evidence packs, version 1. All hashes and the JSON answer are made of it.
 *
 * - UTF-8 JSON without white space and without a final newline.
 * - Records have their fields in the order of the lists below. A field marked `?` is left out when it is absent,
 *   null, an empty text, 0, false, an empty list or an empty map; every other field is always there.
 * - The flag `campaigns` of a request is left out when it is false: packs from before there was one keep their hashes.
 * - Maps (facts, labels, selectors) have their keys sorted by UTF-8 bytes, at every depth.
 * - Numbers are plain decimal integers. Times are RFC 3339 in UTC with `Z`, as texts.
 * - In texts `"` `\` backspace, tab, newline, form feed and return are two-character escapes; other control
 *   characters `\u00xx`; `<` `>` `&` U+2028 U+2029 and lone surrogates (as `\ufffd`) are `\u` escapes in lower
 *   case; everything else stands as it is.
 *
 * `inputs_hash` is the SHA-256 of the record {request, sections, workload_ids}: the request in normal form, all
 * sections but `audit_verification` (each export moves the audit chain's head), and the resolved ids sorted. A
 * format that has room for fewer rows does not change it.
 *
 * `report_hash` is the SHA-256 of the pack with `report_hash` empty and without `signatures`.
 */
export type CanonicalShape =
  | { kind: 'value' }
  | { kind: 'list'; of: CanonicalShape }
  | {
      kind: 'record'
      fields: readonly (readonly [name: string, isOptional: boolean, shape: CanonicalShape])[]
    }

const VALUE: CanonicalShape = { kind: 'value' }
const list = (of: CanonicalShape): CanonicalShape => ({ kind: 'list', of })

/**
 * A record with these fields, separated by blanks; `?` marks a field that is left out when empty. A field is a plain
 * value unless `shapes` has a shape for it.
 */
function record(names: string, shapes: Record<string, CanonicalShape> = {}): CanonicalShape {
  const fields = names.split(' ').map((entry) => {
    const name = entry.replace('?', '')
    return [name, entry.endsWith('?'), shapes[name] ?? VALUE] as const
  })
  return { kind: 'record', fields }
}

const REQUEST_SCOPE = record('workload_ids? group_id? selector? whole_fleet? since? until?')
const INCLUDE = record(
  'workload_summary config_history current_config config_plan campaigns? drift_findings version_intelligence alerts ' +
    'workload_events rollback_readiness audit_verification signed_audit_metadata',
)
const REQUEST = record('schema_version report_type scope include redaction', {
  scope: REQUEST_SCOPE,
  include: INCLUDE,
})
const ITEM = record('id resource resource_id observed_at? severity? summary facts content_hash? redacted')
const SECTION = record('id title order items', { items: list(ITEM) })
const PACK_SCOPE = record(
  'workload_ids? workload_count? group_id? selector? whole_fleet? since? until? requested_scope',
  { requested_scope: REQUEST_SCOPE },
)
const SIGNATURE = record('scheme key_id? signed_at payload_hash signature_b64? verifier?')
const SIGNED_AUDIT = record(
  'status verifier verified_from? verified_until? head_hash? checked_at first_bad_sequence?',
)
const PACK = record(
  'schema_version generated_at inputs_hash report_hash scope sections signatures? signed_audit? audit_head? warnings?',
  {
    scope: PACK_SCOPE,
    sections: list(SECTION),
    signatures: list(SIGNATURE),
    signed_audit: SIGNED_AUDIT,
    audit_head: record('seq hash'),
    warnings: list(record('code message')),
  },
)

const INPUTS = record('request sections workload_ids', { request: REQUEST, sections: list(SECTION) })

/** The shapes that tests and the verifier use. */
export const CANONICAL_SHAPES = { inputs: INPUTS, item: ITEM, pack: PACK, request: REQUEST }

/** The section that is left out of `inputs_hash`. */
export const AUDIT_SECTION_ID = 'audit_verification'

const SURROGATE = /[\ud800-\udfff]/
/** Compare two texts by their UTF-8 bytes; JavaScript's own order is that of UTF-16. */
export function compareUtf8(a: string, b: string): number {
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : a > b ? 1 : 0
}

/** A map's keys by their UTF-8 bytes. */
export function sortedKeys(map: object): string[] {
  const keys = Object.keys(map).sort()
  return SURROGATE.test(keys.join('')) ? keys.sort(compareUtf8) : keys
}

const NEEDS_MORE = /[<>&\u2028\u2029\ud800-\udfff]/
const ESCAPED: Record<string, string> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/** Printable ASCII without what needs an escape. */
const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/

/** A text as the canonical form has it, quotes included. */
export function canonicalString(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`
  if (!NEEDS_MORE.test(text)) return JSON.stringify(text)
  // JSON.stringify would write a lone surrogate as an escape of its own code, and not as `\ufffd`.
  const wellFormed = text.replace(/\p{Surrogate}/gu, '\uFFFD')
  const quoted = JSON.stringify(wellFormed).replace(/[<>&\u2028\u2029]/g, (found) => ESCAPED[found]!)
  return wellFormed === text ? quoted : quoted.replaceAll('\uFFFD', '\\ufffd')
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** The canonical text of a value that has no shape: sorted maps, lists, texts, whole numbers, booleans, null. */
function canonicalValue(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'string') return canonicalString(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new Error(`canonical form has whole numbers only, found ${value}`)
    return String(value)
  }
  if (Array.isArray(value)) return `[${value.map(canonicalValue).join(',')}]`
  const map = value as Record<string, unknown>
  let text = ''
  for (const key of sortedKeys(map))
    text += `${text === '' ? '' : ','}${canonicalString(key)}:${canonicalValue(map[key])}`
  return `{${text}}`
}

/** The canonical text of a value of a shape. Throws on a number that is not whole. */
export function canonicalText(value: unknown, shape: CanonicalShape): string {
  if (shape.kind === 'value') return canonicalValue(value)
  if (shape.kind === 'list') {
    return `[${((value ?? []) as unknown[]).map((entry) => canonicalText(entry, shape.of)).join(',')}]`
  }
  const object = (value ?? {}) as Record<string, unknown>
  let text = ''
  for (const [name, isOptional, fieldShape] of shape.fields) {
    const field = object[name]
    if (isOptional && isEmpty(field)) continue
    text += `${text === '' ? '' : ','}"${name}":${canonicalText(field, fieldShape)}`
  }
  return `{${text}}`
}

/** Lower-case hex of the SHA-256 of a value's canonical text. */
export function canonicalHash(value: unknown, shape: CanonicalShape): string {
  return createHash('sha256').update(canonicalText(value, shape)).digest('hex')
}

const CHUNK_CHARACTERS = 262_144

/** The canonical bytes of a section, in chunks, so that a long section is never one text. */
export interface EncodedSection {
  id: string
  chunks: readonly Uint8Array<ArrayBuffer>[]
}

/** The canonical bytes of a section. */
export function encodeSection(section: EvidenceSection): EncodedSection {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let pending = canonicalText({ ...section, items: [] }, SECTION).replace(/\]\}$/, '')
  section.items.forEach((item: EvidenceItem, index) => {
    pending += (index === 0 ? '' : ',') + canonicalText(item, ITEM)
    if (pending.length < CHUNK_CHARACTERS) return
    chunks.push(new TextEncoder().encode(pending))
    pending = ''
  })
  chunks.push(new TextEncoder().encode(`${pending}]}`))
  return { id: section.id, chunks }
}

/** A pack without its sections and without what is computed from its bytes. */
export type UnsignedPack = Omit<EvidencePack, 'inputs_hash' | 'report_hash' | 'signatures' | 'sections'>

function updateWithSections(hash: Hash, sections: readonly EncodedSection[]): void {
  sections.forEach((section, index) => {
    if (index > 0) hash.update(',')
    for (const chunk of section.chunks) hash.update(chunk)
  })
}

/** `inputs_hash`; see the top of this file. */
export function hashInputs(
  request: NormalRequest,
  sections: readonly EncodedSection[],
  workloadIds: readonly string[],
): string {
  const counted = sections.filter(({ id }) => id !== AUDIT_SECTION_ID)
  const hash = createHash('sha256').update(`{"request":${canonicalText(request, REQUEST)},"sections":[`)
  updateWithSections(hash, counted)
  return hash.update(`],"workload_ids":${canonicalValue([...workloadIds].sort(compareUtf8))}}`).digest('hex')
}

/** The canonical text of a pack before and after its sections. */
function packFrame(pack: Omit<EvidencePack, 'sections'>): { head: string; tail: string } {
  const text = canonicalText({ ...pack, sections: [] }, PACK)
  // No text can look like this, because quotes inside texts are escaped.
  const at = text.indexOf('"sections":[]') + '"sections":['.length
  return { head: text.slice(0, at), tail: text.slice(at) }
}

/** `report_hash`; see the top of this file. */
export function hashReport(
  pack: UnsignedPack,
  inputsHash: string,
  sections: readonly EncodedSection[],
): string {
  const { head, tail } = packFrame({ ...pack, inputs_hash: inputsHash, report_hash: '', signatures: [] })
  const hash = createHash('sha256').update(head)
  updateWithSections(hash, sections)
  return hash.update(tail).digest('hex')
}

/** The canonical bytes of a whole pack, in chunks. */
export function encodePack(
  pack: Omit<EvidencePack, 'sections'>,
  sections: readonly EncodedSection[],
): Uint8Array<ArrayBuffer>[] {
  const { head, tail } = packFrame(pack)
  const encoder = new TextEncoder()
  const chunks: Uint8Array<ArrayBuffer>[] = [encoder.encode(head)]
  sections.forEach((section, index) => {
    if (index > 0) chunks.push(encoder.encode(','))
    chunks.push(...section.chunks)
  })
  chunks.push(encoder.encode(tail))
  return chunks
}
