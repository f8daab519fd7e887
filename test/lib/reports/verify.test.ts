import { generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { encodePack } from '../../../lib/reports/canonical.ts'
import { assemblePack } from '../../../lib/reports/pack.ts'
import { communitySigner, createEd25519Signer, type ReportSigner } from '../../../lib/reports/signer.ts'
import { verifyPack } from '../../../lib/reports/verify.ts'
import type { EvidencePack } from '../../../lib/wire/reports.ts'
import { reportFrame, reportMaterial, reportRequest } from '../../support/report-material.ts'

type Signature = NonNullable<EvidencePack['signatures']>[number]

const newKeys = () =>
  generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
const keys = newKeys()
const signer = createEd25519Signer({ keyId: 'key-1', privateKeyPem: keys.privateKey, verifier: 'edition' })

async function makeText(by: ReportSigner, include: object = {}): Promise<string> {
  const request = reportRequest({ scope: { group_id: 'checkout', since: '2026-07-01T00:00:00Z' }, include })
  const { frame, sections } = assemblePack(
    reportFrame({ request }),
    reportMaterial({ workloads: 3, pushes: 3, events: 2 }),
  )
  const signed = await by.sign(frame.report_hash, '2026-07-02T12:00:01.000Z')
  if (!signed.ok) throw new Error(signed.code)
  return Buffer.concat(encodePack({ ...frame, signatures: [signed.signature] }, sections)).toString('utf8')
}

function tamper(text: string, change: (pack: EvidencePack) => void): string {
  const pack = JSON.parse(text) as EvidencePack
  change(pack)
  return JSON.stringify(pack)
}

describe('a pack that is checked offline', () => {
  it('is intact and signed when key and content fit, however its JSON is written', async () => {
    const text = await makeText(signer)
    expect(verifyPack(text, keys.publicKey)).toMatchObject({ isIntact: true, isSigned: true })
    expect(verifyPack(JSON.stringify(JSON.parse(text), null, 2), keys.publicKey).isIntact).toBe(true)
  })

  // Of two equal keys a person may read the first, but a parser takes the last, which the hashes cover.
  it.each([
    ['other sections before the true ones', /^\{/, '{"sections":[],'],
    ['another scope', '"scope":{', '"scope":{"workload_count":9,'],
    ['another fact', '"facts":{', '"facts":{"status":"disconnected",'],
    ['another id of an item', /"items":\[\{/, '"items":[{"id":"forged",'],
    ['the same key in another spelling', /^\{/, '{"\\u0073ections":[],'],
    ['a signature before the true one', /^\{/, '{"signatures":[],'],
    ['the same hash twice', /"report_hash":"[0-9a-f]{64}",/, '$&$&'],
  ])('is refused when its text says something twice: %s', async (_, place, forged) => {
    const text = await makeText(signer)
    const twice = text.replace(place, forged)
    expect(twice).not.toBe(text)
    expect(JSON.parse(twice)).toEqual(JSON.parse(text))
    expect(verifyPack(twice, keys.publicKey)).toMatchObject({ isIntact: false, isSigned: false })
  })

  it('is refused when its fields stand in another order, or a number is written in another way', async () => {
    const text = await makeText(signer)
    const { sections, ...rest } = JSON.parse(text) as EvidencePack
    expect(verifyPack(JSON.stringify({ sections, ...rest }), keys.publicKey).isIntact).toBe(false)
    expect(verifyPack(text.replace('"order":10', '"order":10.0'), keys.publicKey).isIntact).toBe(false)
  })

  it.each([
    {},
    { alerts: true },
    { signed_audit_metadata: true },
    { alerts: true, signed_audit_metadata: true },
  ])('has its inputs_hash found again with the sections %j', async (include) => {
    expect(verifyPack(await makeText(communitySigner, include), null)).toMatchObject({
      isIntact: true,
      isSigned: false,
    })
  })

  it('is not signed by scheme none, which fails where a key is given', async () => {
    const text = await makeText(communitySigner)
    expect(verifyPack(text, null)).toMatchObject({ isIntact: true, isSigned: false })
    expect(verifyPack(text, keys.publicKey)).toMatchObject({ isIntact: false, isSigned: false })
  })

  it('of a version that did not sign who verified is signed still, and says that this is not', async () => {
    const sign = (changed: object) => (pack: EvidencePack) => {
      const [signature] = pack.signatures!
      const { payload_hash: hash, key_id: keyId, signed_at: signedAt } = signature!
      const bytes = Buffer.from(`evidence_pack.v1\n${hash}\n${keyId}\n${signedAt}\n`)
      const signature_b64 = signBytes(null, bytes, keys.privateKey).toString('base64')
      Object.assign(signature!, { signature_b64, ...changed })
    }
    const text = await makeText(signer)
    const verdict = verifyPack(tamper(text, sign({})), keys.publicKey)
    expect(verdict).toMatchObject({ isIntact: true, isSigned: true })
    expect(verdict.checks.at(-1)).toEqual({
      name: 'verifier',
      result: 'unknown',
      detail: '"edition" is not signed: the pack is of a version that signed all but this',
    })
    for (const changed of [{ key_id: 'key-2' }, { signed_at: '2026-07-03T12:00:01.000Z' }])
      expect(verifyPack(tamper(text, sign(changed)), keys.publicKey).isSigned).toBe(false)
    expect(verifyPack(tamper(text, sign({})), newKeys().publicKey).isSigned).toBe(false)
    // Who signs it now signs that as well.
    expect(verifyPack(text, keys.publicKey).checks.map(({ name }) => name)).not.toContain('verifier')
  })

  // The lines that are signed now, with the last one taken for a part of the field before it.
  it.each([
    [
      'when',
      ({ signed_at, verifier }: Signature) => ({ signed_at: `${signed_at}\n${JSON.stringify(verifier)}` }),
    ],
    [
      'with which key',
      ({ key_id, signed_at, verifier }: Signature) => ({
        key_id: `${key_id}\n${signed_at}`,
        signed_at: JSON.stringify(verifier),
      }),
    ],
    ['who', ({ signed_at }: Signature) => ({ signed_at: `${signed_at}\n` })],
  ])('does not pass as one of that version with another verifier: %s', async (_, forge) => {
    const text = tamper(await makeText(signer), ({ signatures }) =>
      Object.assign(signatures![0]!, forge(signatures![0]!), { verifier: 'an auditor' }),
    )
    expect(verifyPack(text, keys.publicKey)).toMatchObject({ isIntact: false, isSigned: false })
  })

  it('is not of another key', async () => {
    expect(verifyPack(await makeText(signer), newKeys().publicKey)).toMatchObject({
      isIntact: false,
      isSigned: false,
    })
  })

  const changes: [string, (pack: EvidencePack) => void][] = [
    ['a fact', (pack) => Object.assign(pack.sections[0]!.items[0]!.facts, { status: 'disconnected' })],
    ['a missing item', (pack) => pack.sections[1]!.items.pop()],
    ['the order of sections', (pack) => pack.sections.reverse()],
    ['who verified', (pack) => Object.assign(pack.signatures![0]!, { verifier: 'an auditor' })],
    ['the time', (pack) => Object.assign(pack, { generated_at: '2026-07-03T12:00:00.000Z' })],
    ['the scope', (pack) => Object.assign(pack.scope, { workload_count: 2 })],
    ['a field that no hash covers', (pack) => Object.assign(pack, { verified: true })],
    [
      'a field of an item that no hash covers',
      (pack) => Object.assign(pack.sections[0]!.items[0]!, { note: 'x' }),
    ],
    ['the key id', (pack) => Object.assign(pack.signatures![0]!, { key_id: 'key-2' })],
    [
      'the time of the signature',
      (pack) => Object.assign(pack.signatures![0]!, { signed_at: '2026-07-03T12:00:01.000Z' }),
    ],
    ['the signed hash', (pack) => Object.assign(pack.signatures![0]!, { payload_hash: '0'.repeat(64) })],
    ['no signature', (pack) => Reflect.deleteProperty(pack, 'signatures')],
    ['an inputs_hash', (pack) => Object.assign(pack, { inputs_hash: '0'.repeat(64) })],
  ]
  it.each(changes)('is not intact with %s changed', async (_, change) => {
    expect(verifyPack(tamper(await makeText(signer), change), keys.publicKey).isIntact).toBe(false)
  })

  it.each(['', '[]', 'null', '{}', '{"schema_version":"evidence_pack.v1","sections":[1.5]}'])(
    'is no pack when it is %j',
    (text) => {
      expect(verifyPack(text, null).isIntact).toBe(false)
    },
  )
})

it('a signer refuses another kind of key', () => {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  expect(() => createEd25519Signer({ keyId: 'k', privateKeyPem: privateKey, verifier: 'v' })).toThrow(
    'expected "ed25519"',
  )
})

it('a signer refuses a key id that takes more than one line', () => {
  expect(() =>
    createEd25519Signer({ keyId: 'key\n1', privateKeyPem: keys.privateKey, verifier: 'v' }),
  ).toThrow('key id')
})
