import { lengthTag, nextTag, skipField, varintTag, wireReader } from '../opamp/wire-reader.ts'
import { cutConfigStatus, cutHealth, FIELD_BYTES_MAX } from './cut-fields.ts'
import { writeVarint } from './write-varint.ts'

/**
 * The fields of AgentToServer that are kept beside the uid: description, capabilities, health, status of the remote
 * config, components.
 */
const KEPT_FIELDS = new Set([3, 4, 5, 7, 14])
const UID_FIELD = 1
const DESCRIPTION = 3
const EFFECTIVE_CONFIG = 6
const HEALTH = 5
const CONFIG_STATUS = 7
const SEQUENCE_NUM = 2
/** AgentToServer has no field with a higher number; what a later version may add stays below as well. */
const FIELD_NUMBER_MAX = 63
/** What counts of a goodbye: uid, sequence number, status of the remote config, and that it is one. */
const GOODBYE_FIELDS = new Set([UID_FIELD, SEQUENCE_NUM, CONFIG_STATUS, 9])

/**
 * The fields of one AgentToServer by number, each with its tag; all occurrences of a repeated field together. Whatever
 * the message, it is copied once at most.
 */
export function splitReport(message: Uint8Array): Map<number, Uint8Array> {
  const reader = wireReader(message)
  const pieces = new Map<number, Uint8Array[]>()
  while (reader.pos < reader.len) {
    const start = reader.pos
    const tag = nextTag(reader)
    skipField(reader, tag)
    const number = tag >>> 3
    if (number > FIELD_NUMBER_MAX) continue
    const piece = message.subarray(start, reader.pos)
    const before = pieces.get(number)
    if (before === undefined) pieces.set(number, [piece])
    else before.push(piece)
  }
  return new Map(
    [...pieces].map(([number, all]) => [number, all.length === 1 ? all[0]! : Buffer.concat(all)] as const),
  )
}

/** Health and config status in the length in which they are kept. */
function cut(fields: ReadonlyMap<number, Uint8Array>): Map<number, Uint8Array> {
  const short = new Map(fields)
  const health = fields.get(HEALTH)
  const status = fields.get(CONFIG_STATUS)
  if (health !== undefined) short.set(HEALTH, cutHealth(health))
  if (status !== undefined) short.set(CONFIG_STATUS, cutConfigStatus(status))
  return short
}

/** An effective config without any file: what it says is that there was one. */
const NO_CONFIG = Uint8Array.of(lengthTag(EFFECTIVE_CONFIG), 0)

/**
 * The message without what is in its effective config, of which it says that there was one; at most `bytesMax` long: where it is too long, first health and config
 * status are cut, then the longest field is left out until it fits.
 */
export function withoutConfig(fields: ReadonlyMap<number, Uint8Array>, bytesMax: number): Uint8Array {
  let kept = new Map(fields)
  if (kept.has(EFFECTIVE_CONFIG)) kept.set(EFFECTIVE_CONFIG, NO_CONFIG)
  const lengthOf = () => [...kept.values()].reduce((sum, field) => sum + field.length, 0)
  if (lengthOf() > bytesMax) kept = cut(kept)
  while (kept.size > 0 && lengthOf() > bytesMax) {
    const [longest] = [...kept].reduce((most, one) => (one[1].length > most[1].length ? one : most))
    kept.delete(longest)
  }
  return Buffer.concat([...kept.values()])
}

/**
 * A goodbye without what no longer counts of it; with the config status that the agent had said before and of which nobody
 * knows whether the owner has heard it, as the field that it is, unless the goodbye says another one.
 */
export function goodbyeOf(
  fields: ReadonlyMap<number, Uint8Array>,
  unheardStatus: Uint8Array | null = null,
): Uint8Array {
  const counting = [...cut(fields)].flatMap(([number, field]) =>
    GOODBYE_FIELDS.has(number) && field.length <= FIELD_BYTES_MAX ? [field] : [],
  )
  const isSaid = fields.has(CONFIG_STATUS)
  return Buffer.concat(unheardStatus === null || isSaid ? counting : [...counting, unheardStatus])
}

/** What a message says of a config, with whose it is and its number; null where it says nothing of one. */
export function configWordOf(fields: ReadonlyMap<number, Uint8Array>): Uint8Array | null {
  const status = cut(fields).get(CONFIG_STATUS)
  if (status === undefined || status.length > FIELD_BYTES_MAX) return null
  return Buffer.concat(
    [UID_FIELD, SEQUENCE_NUM].map((number) => fields.get(number) ?? NOTHING).concat(status),
  )
}

const NOTHING = new Uint8Array()

/** Whether a message says something of a config. */
export const saysConfig = (message: Uint8Array): boolean => splitReport(message).has(CONFIG_STATUS)

/**
 * The latest value of each kept field of an agent, to report all of it to an owner. What is too long is kept cut, or is
 * not known here any more: no former value stands for it.
 */
export class KeptReport {
  readonly #fields = new Map<number, Uint8Array>()
  #isHealthCut = false
  #hasGap = false

  /** Whether something is missing that the agent has said and that an owner does not ask for by itself. */
  get isLacking(): boolean {
    return this.#isHealthCut || this.#hasGap
  }

  /**
   * Take the fields that a message carries. `isStart`: it is of a new process, of which what the former one said is not
   * true. `isGap`: a message before it is missing, so something may be unknown until the agent says all of it again.
   */
  take(fields: ReadonlyMap<number, Uint8Array>, { isStart = false, isGap = false } = {}): void {
    if (isStart) {
      this.#fields.clear()
      this.#isHealthCut = false
    }
    // A description comes with the full state.
    this.#hasGap = !fields.has(DESCRIPTION) && (isGap || this.#hasGap)
    const health = fields.get(HEALTH)
    for (const [number, field] of cut(fields)) {
      if (number !== UID_FIELD && !KEPT_FIELDS.has(number)) continue
      if (number === HEALTH) this.#isHealthCut = field !== health
      // An owner that does not know it asks the agent for it where it needs it.
      if (field.length === 0 || field.length > FIELD_BYTES_MAX) this.#fields.delete(number)
      // A copy, because the field is a view on a message that is many times as long.
      else if (!isSame(this.#fields.get(number), field)) this.#fields.set(number, Uint8Array.from(field))
    }
  }

  /** Forget all but the uid, until the agent says all of it again. */
  giveUp(): void {
    for (const number of KEPT_FIELDS) this.#fields.delete(number)
    this.#isHealthCut = false
    this.#hasGap = true
  }

  /** Bytes that are held. */
  get bytes(): number {
    let bytes = 0
    for (const field of this.#fields.values()) bytes += field.length
    return bytes
  }

  /** The config status that the agent said last, as the field that it is; null where none is kept. */
  get configStatus(): Uint8Array | null {
    return this.#fields.get(CONFIG_STATUS) ?? null
  }

  /** What is kept of its config alone, like `message`; null where that is nothing. */
  configWord(sequenceNum: number): Uint8Array | null {
    const [uid, status] = [this.#fields.get(UID_FIELD), this.configStatus]
    if (uid === undefined || status === null) return null
    return Buffer.concat([uid, status, writeVarint(varintTag(SEQUENCE_NUM)), writeVarint(sequenceNum)])
  }

  /** One AgentToServer with all kept fields and this sequence number. */
  message(sequenceNum: number): Uint8Array {
    return Buffer.concat([
      ...this.#fields.values(),
      writeVarint(varintTag(SEQUENCE_NUM)),
      writeVarint(sequenceNum),
    ])
  }
}

const isSame = (left: Uint8Array | undefined, right: Uint8Array): boolean =>
  left !== undefined && left.length === right.length && Buffer.compare(left, right) === 0
