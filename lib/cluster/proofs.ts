import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { MemberRow } from '../store/members.ts'

/** How far the time in a caller's proof may be from this clock. */
const CALLER_MS = 60_000

/** The keys that all processes with one JWT_SECRET share, one for each thing that is proved with them. */
export interface FleetKeys {
  /** Proves what a row of `members` says. */
  row: Uint8Array
  /** Proves to an owner that a member asks it to prove itself. */
  challenge: Uint8Array
  /** Proves to that member that it is that owner. */
  owner: Uint8Array
  /** Proves to an owner that a member asks it. */
  caller: Uint8Array
  /** Proves to a member that another one asks it which owner it knows, and the answer. */
  known: Uint8Array
}

/** What a member says of itself to another one. */
export interface KnownOwner {
  id: string
  /** The epoch of the owner that it has a link to; 0 for none. */
  linkedEpoch: number
}

/** The owner of an epoch, as each proof between processes names it. */
export interface OwnerName {
  id: string
  /** The one in its row. */
  address: string
  epoch: number
}

/** What one who has connected to an owner asks it to prove. */
export interface Challenge {
  /** Chosen for this connection alone. */
  nonce: string
  /** The address from which it has connected, as far as both ends see the same one; '' where they may not. */
  from: string
}

/** The keys of the fleet with this secret. The secret cannot be computed from them. */
export function deriveFleetKeys(jwtSecret: string): FleetKeys {
  const derive = (purpose: string) => new Uint8Array(hkdfSync('sha256', jwtSecret, '', purpose, 32))
  return {
    row: derive('muster: a member proves its row'),
    challenge: derive('muster: a member asks an owner to prove itself'),
    owner: derive('muster: an owner proves itself'),
    caller: derive('muster: a member proves itself to an owner'),
    known: derive('muster: a member says which owner it knows'),
  }
}

/**
 * The proof of all that a row says today. When it was renewed is the database's to say. Builds that follow each other read
 * each other's rows, and to each of them a row with another proof is nobody's: its owner would be none, and agents would
 * stay with processes that have no link. So this proof covers these columns for good. A column that is added gets a proof
 * in a column of its own beside it, which builds that do not know it pass over.
 */
export function proveRow({ row: key }: FleetKeys, row: Omit<MemberRow, 'proof'>): string {
  return sign(key, [
    row.id,
    row.address,
    row.host,
    row.pid,
    row.version,
    row.linkVersion,
    // A row that somebody has edited may hold what is no date.
    Number(row.startedAt),
    row.ownedEpoch,
    row.ownedSince === null ? null : Number(row.ownedSince),
    row.linkedEpoch,
    row.newestMigration,
    row.newestBreaking,
  ])
}

/** Whether a process with this key has written the row as it stands. */
export const isProvenRow = (keys: FleetKeys, row: MemberRow): boolean =>
  row.proof !== null && isSame(row.proof, proveRow(keys, row))

/** A proof that a member asks that owner to answer this challenge; it asks for nothing else. */
export const proveChallenge = ({ challenge: key }: FleetKeys, owner: OwnerName, nonce: string): string =>
  sign(key, [owner.id, owner.address, owner.epoch, nonce])

export const isMembersChallenge = (
  keys: FleetKeys,
  owner: OwnerName,
  nonce: string,
  proof: string,
): boolean => isSame(proof, proveChallenge(keys, owner, nonce))

/** The owner's answer to a challenge. Nobody else who hears it can use it: it is for this challenge alone. */
export const proveOwner = ({ owner: key }: FleetKeys, owner: OwnerName, challenge: Challenge): string =>
  sign(key, [owner.id, owner.address, owner.epoch, challenge.nonce, challenge.from])

/** Whether this is the answer of that owner. */
export const isOwnersAnswer = (
  keys: FleetKeys,
  owner: OwnerName,
  challenge: Challenge,
  answer: string,
): boolean => isSame(answer, proveOwner(keys, owner, challenge))

/** A proof that a member asks another one which owner it knows. */
export const proveQuestion = ({ known: key }: FleetKeys, nonce: string): string => sign(key, ['asked', nonce])

export const isMembersQuestion = (keys: FleetKeys, nonce: string, proof: string): boolean =>
  isSame(proof, proveQuestion(keys, nonce))

/** The answer to a question with this nonce, with its proof. */
export const proveKnown = (keys: FleetKeys, said: KnownOwner, nonce: string): string =>
  `${said.id}.${said.linkedEpoch}.${signKnown(keys, said, nonce)}`

/** What an answer says; null where no member has given it to this question. */
export function readKnown(keys: FleetKeys, answer: string, nonce: string): KnownOwner | null {
  const [, id = '', epoch = '', signature = ''] =
    /^([\w-]{1,64})\.(\d{1,15})\.([0-9a-f]{64})$/.exec(answer) ?? []
  const said = { id, linkedEpoch: Number(epoch) }
  return isSame(signature, signKnown(keys, said, nonce)) ? said : null
}

const signKnown = ({ known: key }: FleetKeys, { id, linkedEpoch }: KnownOwner, nonce: string) =>
  sign(key, ['answered', id, linkedEpoch, nonce])

/** A proof that this member asks that owner, for a minute. To any other process it proves nothing. */
export function proveCaller(keys: FleetKeys, memberId: string, owner: OwnerName, now: Date): string {
  const atMs = now.getTime()
  return `${memberId}.${atMs}.${signCaller(keys, memberId, owner, atMs)}`
}

/** The id of the member that asks this owner; null where the proof is invalid, too old, or meant for another process. */
export function checkCaller(keys: FleetKeys, proof: string, owner: OwnerName, now: Date): string | null {
  const [, memberId = '', at = '', signature = ''] =
    /^([\w-]{1,64})\.(\d{1,15})\.([0-9a-f]{64})$/.exec(proof) ?? []
  const atMs = Number(at)
  if (!isSame(signature, signCaller(keys, memberId, owner, atMs))) return null
  return Math.abs(now.getTime() - atMs) <= CALLER_MS ? memberId : null
}

const signCaller = ({ caller: key }: FleetKeys, memberId: string, owner: OwnerName, atMs: number) =>
  sign(key, [memberId, atMs, owner.id, owner.address, owner.epoch])

const sign = (key: Uint8Array, said: readonly (string | number | null)[]) =>
  createHmac('sha256', key).update(JSON.stringify(said)).digest('hex')

function isSame(given: string, expected: string): boolean {
  const [bytes, wanted] = [Buffer.from(given), Buffer.from(expected)]
  return bytes.length === wanted.length && timingSafeEqual(bytes, wanted)
}
