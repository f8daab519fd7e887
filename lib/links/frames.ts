import { boolean, enums, literal, nullable, number, object, optional, string } from 'superstruct'
import type { EffectiveForm } from '../fleet/intake/effective-configs.ts'
import type { ServerMessage } from '../opamp/report.ts'

/** The number of the part of the fleet that a message is about. There is one owner for all of it, so always 0. */
export const CELL = 0
/** The most bytes of one message on a link. */
export const LINK_MESSAGE_BYTES_MAX = 16 * 1_048_576
/** Unsent bytes past which either side cuts a link; on the next link all agents are told of anew. */
export const LINK_BEHIND_BYTES_MAX = 64 * 1_048_576
/** The most bytes of one report on a link. */
export const REPORT_BYTES_MAX = 524_288

/**
 * What a front tells the owner. `conn` is the front's own number of a connection, `n` numbers what the owner answers.
 * - report: a message of an agent without its effective config; `isCaughtUp` says that no message before it is missing
 * - replay: the same of all that an agent has said so far, of which the last was said so many milliseconds ago (since
 *   version 6)
 * - poll: the message of an agent that polls, with the address that it came from and a digest of its body
 * - form: the effective config of an agent, which the front has read and stores soon; for an agent that polls `conn` is 0
 * - closed: a connection without agents ended
 * - ended: this connection ended, and with it these agents have left, uids separated by commas. It is said on each link
 *   until it is stored
 * - goodbye: a goodbye that was said so many milliseconds ago as the report or the poll that it was: the message with the
 *   config status that the owner may not have heard. It is said on each link until it is stored; for an agent that polls
 *   `conn` is 0
 * - last-word: the config status of an agent that has left, or that polls, so many milliseconds ago, which the owner may not
 *   have heard. It is said on each link until it is stored (since version 8); for an agent that polls `conn` is 0
 * - sent: the offer with this number of its `tell` left for its agent (since version 5)
 * - not-sent: the offer with this number of its `tell` or `answer` did not reach its agent; for an agent that polls
 *   `conn` is 0
 * - seen: how many agents the front has, the XOR of their uids, and the uids of those whose beats the front answered,
 *   without separators
 * - bound: all agents of the front, as `conn:uid` separated by commas
 * - counts: what the page of the processes shows of a front: agents that wait to be reported or for an answer, and what
 *   the front has counted since it started
 */
export type FrontEntry =
  | ['report', n: number, conn: number, isCaughtUp: boolean, message: string, form: EffectiveForm | null]
  | [
      'replay',
      n: number,
      conn: number,
      isCaughtUp: boolean,
      message: string,
      form: EffectiveForm | null,
      agoMs: number,
    ]
  | ['poll', n: number, source: string, digest: string, message: string]
  | ['form', conn: number, uid: string, form: EffectiveForm]
  | ['closed', conn: number]
  | ['ended', n: number, conn: number, uids: string]
  | ['goodbye', n: number, conn: number, agoMs: number, message: string]
  | ['last-word', n: number, conn: number, agoMs: number, message: string]
  | ['sent', conn: number, uid: string, n: number]
  | ['not-sent', conn: number, uid: string, hash: string, n: number]
  | ['seen', count: number, xor: string, beats: string]
  | ['bound', agents: string]
  | ['counts', waiting: number, absorbed: number, forwarded: number, replayed: number]

/**
 * What the owner tells a front.
 * - answer: the answer to what has this number; null where there is nothing to tell the agent
 * - stored: what came of the goodbye, the last word or the end with this number is stored, so that the next owner knows it
 *   (since version 8; before it is answered instead)
 * - tell: a message to an agent that did not ask; `n` numbers those of this link
 * - drop: cut a connection
 * - grant: from now on the front may answer the bare beats of this agent itself
 * - withdraw: the agent speaks on another connection by now: forget it here until it speaks here again
 * - list: send a `bound` entry, and report every agent again
 * - forget: the texts of effective configs with these hashes, separated by commas, are not stored any more: read and store
 *   them again when they are reported (since version 7)
 */
export type OwnerEntry =
  | ['answer', n: number, message: LinkMessage | null]
  | ['stored', n: number]
  | ['tell', conn: number, uid: string, message: LinkMessage, n: number]
  | ['drop', conn: number]
  | ['grant', conn: number, uid: string]
  | ['withdraw', conn: number, uid: string]
  | ['list']
  | ['forget', hashes: string]

/** An offer: the hash of the config, and the generation that its workload had when the owner decided it. */
export interface LinkOffer {
  hash: string
  workloadId: string
  generation: number
}

/** A message to an agent, with the config as its hash and bytes as hex. */
export interface LinkMessage extends Omit<ServerMessage, 'remoteConfig' | 'newInstanceUid'> {
  offer?: LinkOffer
  newInstanceUid?: string
}

/** The sending side of a link to the owner; the answers come to `FrontAgents.take`. */
export interface LinkOut {
  /** The version that both ends speak. */
  readonly version: number
  /** The epoch of the owner. */
  readonly epoch: number
  send(entry: FrontEntry): void
}

/** Several entries of one side, with the sender's monotonic time. */
export interface Batch<Entry> {
  cell: number
  epoch: number
  atMs: number
  /** Since version 5: see `LinkDelay.quickestMs` of the sender. */
  quickestMs?: number | null
  entries: Entry[]
}

/** Checks a value with all that is in it. */
interface Whole {
  create(value: unknown): unknown
}
/** How a value on a link is checked: by its type alone, or whole. */
type ShapeOf<Value> = [Value] extends [number]
  ? 'number'
  : [Value] extends [string]
    ? 'string'
    : [Value] extends [boolean]
      ? 'boolean'
      : Whole
/** What each kind of entry holds, in its order. */
type ShapesOf<Entry extends readonly unknown[]> = {
  readonly [Kind in Entry[0] & string]: Extract<Entry, { 0: Kind }> extends [string, ...infer Values]
    ? { readonly [Index in keyof Values]: ShapeOf<Values[Index]> }
    : never
}

const FORM_FIELDS = {
  rawHash: string(),
  hash: string(),
  runsPipelines: boolean(),
  runsProfiles: boolean(),
} satisfies Record<keyof EffectiveForm, unknown>
const Form = object(FORM_FIELDS)
const MESSAGE_FIELDS = {
  errorResponse: optional(
    object({
      type: enums(['bad-request', 'unavailable', 'unknown']),
      message: string(),
      retryAfterMs: optional(number()),
    }),
  ),
  offer: optional(object({ hash: string(), workloadId: string(), generation: number() })),
  newInstanceUid: optional(string()),
  reportFullState: optional(literal(true)),
  reportAvailableComponents: optional(literal(true)),
  capabilities: optional(number()),
  heartbeatIntervalSeconds: optional(number()),
} satisfies Record<keyof LinkMessage, unknown>
const Message = object(MESSAGE_FIELDS)

const FRONT_SHAPES: ShapesOf<FrontEntry> = {
  report: ['number', 'number', 'boolean', 'string', nullable(Form)],
  replay: ['number', 'number', 'boolean', 'string', nullable(Form), 'number'],
  poll: ['number', 'string', 'string', 'string'],
  form: ['number', 'string', Form],
  closed: ['number'],
  ended: ['number', 'number', 'string'],
  goodbye: ['number', 'number', 'number', 'string'],
  'last-word': ['number', 'number', 'number', 'string'],
  sent: ['number', 'string', 'number'],
  'not-sent': ['number', 'string', 'string', 'number'],
  seen: ['number', 'string', 'string'],
  bound: ['string'],
  counts: ['number', 'number', 'number', 'number'],
}
const OWNER_SHAPES: ShapesOf<OwnerEntry> = {
  answer: ['number', nullable(Message)],
  stored: ['number'],
  tell: ['number', 'string', Message, 'number'],
  drop: ['number'],
  grant: ['number', 'string'],
  withdraw: ['number', 'string'],
  list: [],
  forget: ['string'],
}
const BATCH_FIELDS = ['cell', 'epoch', 'atMs', 'quickestMs', 'entries']

/**
 * All that is said on a link of the newest version. Whoever changes it raises `LINK_VERSIONS.newest`: the process at the
 * other end may be of the build before, which ends a link on which something unknown is said.
 */
export const LINK_SHAPES = { batch: BATCH_FIELDS, front: FRONT_SHAPES, owner: OWNER_SHAPES }

/** A batch as text. */
export const writeBatch = <Entry>(batch: Batch<Entry>): string => JSON.stringify(batch)

/** Read a batch from a front. Throws on anything else. */
export const readFrontBatch = (text: string): Batch<FrontEntry> =>
  read(text, FRONT_SHAPES) as Batch<FrontEntry>

/** Read a batch from an owner. Throws on anything else. */
export const readOwnerBatch = (text: string): Batch<OwnerEntry> =>
  read(text, OWNER_SHAPES) as Batch<OwnerEntry>

type Shapes = Readonly<Record<string, readonly ('number' | 'string' | 'boolean' | Whole)[]>>

function read(text: string, shapes: Shapes): Batch<unknown> {
  const batch = JSON.parse(text) as Batch<unknown[]>
  const isBatch =
    batch !== null &&
    typeof batch === 'object' &&
    [batch.cell, batch.epoch, batch.atMs].every((value) => typeof value === 'number') &&
    typeof (batch.quickestMs ?? 0) === 'number' &&
    Array.isArray(batch.entries)
  if (!isBatch) throw new Error('no batch of a link')
  const unknown = Object.keys(batch).find((field) => !BATCH_FIELDS.includes(field))
  if (unknown !== undefined)
    throw new Error(`a batch of a link has an unknown field: ${unknown.slice(0, 40)}`)
  for (const entry of batch.entries) checkEntry(entry, shapes)
  return batch
}

function checkEntry(entry: unknown, shapes: Shapes): void {
  if (!Array.isArray(entry)) throw new Error('an entry of a link is no list')
  const [kind, ...values] = entry as unknown[]
  const shape = typeof kind === 'string' && Object.hasOwn(shapes, kind) ? shapes[kind]! : null
  if (shape === null || shape.length !== values.length)
    throw new Error(`an entry of a link is of an unknown kind: ${String(kind).slice(0, 40)}`)
  for (const [index, expected] of shape.entries()) {
    if (typeof expected !== 'string') expected.create(values[index])
    else if (typeof values[index] !== expected) throw new Error(`an entry ${kind} has a wrong value`)
  }
}

/** A message to an agent in the form for a link; null when it is empty. */
export function toLinkMessage(message: ServerMessage): LinkMessage | null {
  const { remoteConfig, newInstanceUid, ...rest } = message
  const offer = remoteConfig === undefined ? {} : { offer: toLinkOffer(remoteConfig) }
  const said: LinkMessage = { ...rest, ...offer }
  if (newInstanceUid !== undefined) said.newInstanceUid = Buffer.from(newInstanceUid).toString('hex')
  return Object.values(said).some((value) => value !== undefined) ? said : null
}

function toLinkOffer({ hash, assignment }: NonNullable<ServerMessage['remoteConfig']>): LinkOffer {
  if (assignment === undefined) throw new Error('an offer that belongs to no workload')
  return { hash: Buffer.from(hash).toString('hex'), ...assignment }
}

/**
 * A message from a link in the form for the agent; `body` is the text of the config whose hash it has, null for none.
 */
export function fromLinkMessage(message: LinkMessage, body: Uint8Array | null): ServerMessage {
  const { offer, newInstanceUid, ...rest } = message
  const said: ServerMessage = { ...rest }
  if (offer !== undefined && body !== null) said.remoteConfig = { hash: Buffer.from(offer.hash, 'hex'), body }
  if (newInstanceUid !== undefined) said.newInstanceUid = Buffer.from(newInstanceUid, 'hex')
  return said
}

/** The XOR of uids of 32 hex digits, which does not depend on their order. */
export function xorOf(uids: Iterable<string>): string {
  const sum = Buffer.alloc(16)
  for (const uid of uids) {
    const bytes = Buffer.from(uid, 'hex')
    for (let index = 0; index < 16; index++) sum[index]! ^= bytes[index] ?? 0
  }
  return sum.toString('hex')
}
