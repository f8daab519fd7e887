import { isDeepStrictEqual } from 'node:util'
import type { EvidencePack } from '../wire/reports.ts'
import { REPORT_INCLUDES } from '../wire/values.ts'
import { CANONICAL_SHAPES, canonicalText, encodeSection, hashInputs, hashReport } from './canonical.ts'
import type { NormalRequest } from './request.ts'
import { SECTIONS } from './sections.ts'
import { checkEd25519, type PackSignature } from './signer.ts'

/** One check of a pack; `unknown`: it could not be made. */
export interface PackCheck {
  name: string
  result: 'passed' | 'failed' | 'unknown'
  detail: string
}

/** What the checks of a pack found. */
export interface PackVerdict {
  /** No check failed; where a key was given, there is also a valid signature of it. */
  isIntact: boolean
  /** There is a valid signature of the given key. */
  isSigned: boolean
  checks: PackCheck[]
}

const failed = (name: string, detail: string): PackVerdict => ({
  isIntact: false,
  isSigned: false,
  checks: [{ name, result: 'failed', detail }],
})

/** Check the text of a JSON evidence pack, without the service. `publicKeyPem` is a trusted Ed25519 key. */
export function verifyPack(text: string, publicKeyPem: string | null): PackVerdict {
  let pack: EvidencePack
  try {
    pack = JSON.parse(text) as EvidencePack
  } catch {
    return failed('form', 'not JSON')
  }
  if (pack?.schema_version !== 'evidence_pack.v1' || !Array.isArray(pack.sections))
    return failed('form', 'not an evidence pack of version evidence_pack.v1')
  try {
    const canonical = canonicalText(pack, CANONICAL_SHAPES.pack)
    if (!isDeepStrictEqual(JSON.parse(canonical), pack))
      return failed('form', 'holds fields or values that a pack does not have, which no hash covers')
    if (plainForm(text) !== plainForm(canonical))
      return failed(
        'form',
        'is not written as a pack is: a field twice or out of its place, or a number in another form',
      )
    return checkParts(pack, publicKeyPem)
  } catch (error) {
    return failed('form', error instanceof Error ? error.message : String(error))
  }
}

/**
 * A JSON text without white space and with one spelling of each string. Parsed values are not enough to compare two
 * texts: a parser drops all but the last of equal keys, and a person who reads the text may see the first.
 */
function plainForm(json: string): string {
  return json.replace(/"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|\s+/g, (part) =>
    part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : '',
  )
}

function checkParts(pack: EvidencePack, publicKeyPem: string | null): PackVerdict {
  const checks: PackCheck[] = [{ name: 'form', result: 'passed', detail: 'evidence_pack.v1' }]
  const sections = pack.sections.map(encodeSection)
  const { sections: _, inputs_hash: inputsHash, ...rest } = pack
  const reportHash = hashReport(rest, inputsHash, sections)
  checks.push(compare('report_hash', reportHash, pack.report_hash))
  const requests = possibleRequests(pack)
  const inputsHashes = requests.map((request) => hashInputs(request, sections, pack.scope.workload_ids ?? []))
  checks.push(
    compare('inputs_hash', inputsHashes.find((hash) => hash === inputsHash) ?? inputsHashes[0]!, inputsHash),
  )
  const signatures = (pack.signatures ?? []).flatMap((signature) =>
    checkSignature(signature, reportHash, publicKeyPem),
  )
  checks.push(...signatures)
  const isSigned = signatures.some(({ result }) => result === 'passed')
  if (publicKeyPem !== null && !isSigned)
    checks.push({ name: 'signature', result: 'failed', detail: 'no signature of the given key' })
  return { isIntact: checks.every(({ result }) => result !== 'failed'), isSigned, checks }
}

function compare(name: string, computed: string, stated: string): PackCheck {
  return computed === stated
    ? { name, result: 'passed', detail: computed }
    : { name, result: 'failed', detail: `computed ${computed}, the pack states ${stated}` }
}

/**
 * The requests that a pack can have been made for: its scope is in the pack and its sections say what was included, but
 * not `signed_audit_metadata`, which makes no section.
 */
function possibleRequests(pack: EvidencePack): NormalRequest[] {
  const present = new Set(pack.sections.map(({ id }) => id))
  const flags = REPORT_INCLUDES.map((name) => [
    name,
    SECTIONS.some(({ include, id }) => include === name && present.has(id)),
  ])
  return [false, true].map((signed_audit_metadata) => ({
    schema_version: 'report_export_request.v1',
    report_type: 'evidence_pack',
    scope: pack.scope.requested_scope,
    include: { ...Object.fromEntries(flags), signed_audit_metadata },
    redaction: 'strict',
  }))
}

function checkSignature(
  signature: PackSignature,
  reportHash: string,
  publicKeyPem: string | null,
): PackCheck[] {
  const name = `signature ${signature.scheme}`
  if (signature.payload_hash !== reportHash)
    return [{ name, result: 'failed', detail: 'is of another report_hash' }]
  if (signature.scheme === 'none')
    return [{ name, result: 'unknown', detail: 'the pack is not signed; its hashes show accidents only' }]
  if (signature.scheme !== 'ed25519') return [{ name, result: 'unknown', detail: 'scheme not known here' }]
  if (publicKeyPem === null)
    return [
      { name, result: 'unknown', detail: `by key "${signature.key_id ?? ''}"; give --key FILE to check it` },
    ]
  const found = checkEd25519(signature, publicKeyPem)
  if (found === null) return [{ name, result: 'failed', detail: 'is not of the given key' }]
  const detail = `key "${signature.key_id ?? ''}", ${signature.signed_at}`
  const passed: PackCheck = { name, result: 'passed', detail }
  if (found.coversVerifier) return [passed]
  const { verifier = '' } = signature
  const open = `${JSON.stringify(verifier)} is not signed: the pack is of a version that signed all but this`
  return [passed, { name: 'verifier', result: 'unknown', detail: open }]
}
