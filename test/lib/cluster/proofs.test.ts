import { describe, expect, it } from 'vitest'
import {
  checkCaller,
  deriveFleetKeys,
  isMembersQuestion,
  isOwnersAnswer,
  isProvenRow,
  proveCaller,
  proveKnown,
  proveOwner,
  proveQuestion,
  proveRow,
  readKnown,
} from '../../../lib/cluster/proofs.ts'
import type { MemberRow } from '../../../lib/store/members.ts'

const NOW = new Date('2026-07-01T08:00:00.000Z')
const later = (ms: number) => new Date(NOW.getTime() + ms)
const keys = deriveFleetKeys('a secret that is long enough for tests')
const others = deriveFleetKeys('another secret that is long enough too')
const OWNER = { id: 'm-1', address: '10.0.0.1:9000', epoch: 7 }

describe('the proof of a caller', () => {
  it('names the member, for a minute', () => {
    const proof = proveCaller(keys, 'm-2', OWNER, NOW)
    expect(checkCaller(keys, proof, OWNER, NOW)).toBe('m-2')
    expect(checkCaller(keys, proof, OWNER, later(60_000))).toBe('m-2')
    expect(checkCaller(keys, proof, OWNER, later(60_001))).toBeNull()
    expect(checkCaller(keys, proof, OWNER, later(-60_001))).toBeNull()
  })

  it('is worth nothing under another secret, for another member, at another time, or cut', () => {
    const proof = proveCaller(keys, 'm-2', OWNER, NOW)
    const forged = [
      proveCaller(others, 'm-2', OWNER, NOW),
      proof.replace('m-2', 'm-3'),
      proof.replace(String(NOW.getTime()), String(NOW.getTime() + 1)),
      proof.slice(0, -1),
      `${proof}0`,
      '',
      'm-2',
    ]
    for (const other of forged) expect(checkCaller(keys, other, OWNER, NOW)).toBeNull()
  })

  it('is worth nothing to another owner, at another address, or of another epoch', () => {
    const proof = proveCaller(keys, 'm-2', OWNER, NOW)
    for (const other of [{ id: 'm-9' }, { address: '10.0.0.9:9000' }, { epoch: 8 }])
      expect(checkCaller(keys, proof, { ...OWNER, ...other }, NOW)).toBeNull()
  })
})

describe('the answer of an owner', () => {
  const challenge = { nonce: 'a'.repeat(64), from: '127.0.0.1' }

  it('is for one challenge to one owner, under one secret', () => {
    const answer = proveOwner(keys, OWNER, challenge)
    expect(isOwnersAnswer(keys, OWNER, challenge, answer)).toBe(true)
    for (const other of [{ nonce: 'b'.repeat(64) }, { from: '127.0.0.2' }])
      expect(isOwnersAnswer(keys, OWNER, { ...challenge, ...other }, answer)).toBe(false)
    for (const other of [{ id: 'm-9' }, { address: '10.0.0.9:9000' }, { epoch: 8 }])
      expect(isOwnersAnswer(keys, { ...OWNER, ...other }, challenge, answer)).toBe(false)
    for (const other of [
      proveOwner(others, OWNER, challenge),
      '',
      answer.slice(1),
      `${answer}0`,
      'é'.repeat(32),
    ])
      expect(isOwnersAnswer(keys, OWNER, challenge, other)).toBe(false)
  })
})

describe('the proof of a row', () => {
  const said: Omit<MemberRow, 'proof'> = {
    id: 'm-1',
    address: '10.0.0.1:9000',
    host: 'box',
    pid: 7,
    version: '1.2.3',
    linkVersion: 4,
    startedAt: NOW,
    ownedEpoch: 7,
    ownedSince: NOW,
    linkedEpoch: 6,
    newestMigration: 59,
    newestBreaking: 12,
  }
  const row: MemberRow = { ...said, proof: proveRow(keys, said) }

  it('is for all that the row says, as it says it', () => {
    expect(isProvenRow(keys, row)).toBe(true)
    const edits: Partial<Record<keyof MemberRow, unknown>> = {
      id: 'm-2',
      address: '10.0.0.9:9000',
      host: 'other',
      pid: 8,
      version: '1.2.4',
      linkVersion: 5,
      startedAt: later(1),
      ownedEpoch: 8,
      ownedSince: later(1),
      linkedEpoch: null,
      newestMigration: 58,
      newestBreaking: 0,
    }
    expect(Object.keys(edits).toSorted()).toEqual(Object.keys(said).toSorted())
    for (const [name, value] of Object.entries(edits))
      expect([name, isProvenRow(keys, { ...row, [name]: value } as MemberRow)]).toEqual([name, false])
    // As the database gives a time without end.
    expect(isProvenRow(keys, { ...row, startedAt: Number.POSITIVE_INFINITY as never })).toBe(false)
  })

  it("is the one that the builds before and after this one compute: to them a row with another one is nobody's", () => {
    expect(proveRow(keys, said)).toBe('0ce9f3278a68be420cb5006d6dba2e3b49f882b616c6fd901707ce668e5b803d')
  })

  it('is none that another secret, or nobody, has made, and no other proof', () => {
    for (const proof of [
      null,
      '',
      '0'.repeat(64),
      proveRow(others, said),
      proveOwner(keys, OWNER, { nonce: '', from: '' }),
    ])
      expect(isProvenRow(keys, { ...row, proof })).toBe(false)
  })
})

it('an answer to the question which owner a member knows is for that question and that fleet alone', () => {
  const said = { id: 'ab12', linkedEpoch: 7 }
  const answer = proveKnown(keys, said, 'nonce')
  expect(readKnown(keys, answer, 'nonce')).toEqual(said)
  expect(readKnown(keys, answer, 'another')).toBeNull()
  expect(readKnown(keys, answer.replace('.7.', '.8.'), 'nonce')).toBeNull()
  expect(readKnown(others, answer, 'nonce')).toBeNull()
  expect(isMembersQuestion(keys, 'nonce', proveQuestion(keys, 'nonce'))).toBe(true)
  expect(isMembersQuestion(keys, 'another', proveQuestion(keys, 'nonce'))).toBe(false)
})
