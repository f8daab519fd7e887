import { nextTag, skipField, varintTag, wireReader } from '../opamp/wire-reader.ts'

/**
 * The fields of AgentToServer that are kept beside the uid: description, capabilities, health, status of the remote
 * config, components.
 */
const KEPT_FIELDS = new Set([3, 4, 5, 7, 14])
const UID_FIELD = 1
const EFFECTIVE_CONFIG = 6
const HEALTH = 5
/** A longer field is not kept: the next owner asks the agent for it where it needs it. */
const FIELD_BYTES_MAX = 32_768
const HEALTH_BYTES_MAX = 16_384
const SEQUENCE_NUM = 2
/** What counts of a goodbye: uid, sequence number, status of the remote config, and that it is one. */
const GOODBYE_FIELDS = new Set([UID_FIELD, SEQUENCE_NUM, 7, 9])

/** The fields of one AgentToServer by number, each with its tag; all occurrences of a repeated field together. */
export function splitReport(message: Uint8Array): Map<number, Uint8Array> {
  const reader = wireReader(message)
  const fields = new Map<number, Uint8Array>()
  while (reader.pos < reader.len) {
    const start = reader.pos
    const tag = nextTag(reader)
    skipField(reader, tag)
    const before = fields.get(tag >>> 3)
    const field = message.subarray(start, reader.pos)
    fields.set(tag >>> 3, before === undefined ? field : Buffer.concat([before, field]))
  }
  return fields
}

/**
 * The message without the effective config, at most `bytesMax` long: where it is too long, first the health is left
 * out, then the longest field until it fits.
 */
export function withoutConfig(fields: ReadonlyMap<number, Uint8Array>, bytesMax: number): Uint8Array {
  const kept = new Map(fields)
  kept.delete(EFFECTIVE_CONFIG)
  const lengthOf = () => [...kept.values()].reduce((sum, field) => sum + field.length, 0)
  if (lengthOf() > bytesMax) kept.delete(HEALTH)
  while (kept.size > 0 && lengthOf() > bytesMax) {
    const [longest] = [...kept].reduce((most, one) => (one[1].length > most[1].length ? one : most))
    kept.delete(longest)
  }
  return Buffer.concat([...kept.values()])
}

/** A goodbye without what no longer counts of it, and without a config status that is too long to be kept. */
export const goodbyeOf = (fields: ReadonlyMap<number, Uint8Array>): Uint8Array =>
  Buffer.concat(
    [...fields].flatMap(([number, field]) =>
      GOODBYE_FIELDS.has(number) && field.length <= FIELD_BYTES_MAX ? [field] : [],
    ),
  )

/** The latest value of each kept field of an agent, to report all of it to an owner. */
export class KeptReport {
  readonly #fields = new Map<number, Uint8Array>()

  /** Take the fields that a message carries. */
  take(fields: ReadonlyMap<number, Uint8Array>): void {
    for (const [number, field] of fields) {
      const isKept = number === UID_FIELD || KEPT_FIELDS.has(number)
      if (!isKept || field.length > (number === HEALTH ? HEALTH_BYTES_MAX : FIELD_BYTES_MAX)) continue
      // A copy, because the field is a view on a message that is many times as long.
      if (!isSame(this.#fields.get(number), field)) this.#fields.set(number, Uint8Array.from(field))
    }
  }

  /** Bytes that are held. */
  get bytes(): number {
    let bytes = 0
    for (const field of this.#fields.values()) bytes += field.length
    return bytes
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

function writeVarint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest > 0x7f) {
    bytes.push((rest % 128) | 0x80)
    rest = Math.floor(rest / 128)
  }
  return Uint8Array.from([...bytes, rest])
}
