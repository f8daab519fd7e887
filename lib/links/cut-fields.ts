import { INTAKE_LIMITS } from '../opamp/limits.ts'
import {
  closeMessage,
  fixed64Tag,
  lengthTag,
  nextTag,
  openMessage,
  skipField,
  varintTag,
  type WireReader,
  wireReader,
} from '../opamp/wire-reader.ts'
import { writeVarint } from './write-varint.ts'

/** The most bytes that a front keeps of one field of an agent, and of its health. */
export const FIELD_BYTES_MAX = 32_768
export const HEALTH_BYTES_MAX = 16_384
/** Of the text of a failed config; as many characters are read of it. */
const CONFIG_ERROR_BYTES_MAX = INTAKE_LIMITS.errorTextLength
/** Of the error of the agent as a whole: whether there is one tells a fault from a start. */
const HEALTH_ERROR_BYTES_MAX = 1_024

/** What becomes of one field: other contents, nothing (null), or what it was. */
type Rewriting = (tag: number, reader: WireReader) => Uint8Array | null | typeof AS_IT_IS
const AS_IT_IS = Symbol()

/**
 * The field with the status of the remote config, with its text cut where it is longer than `FIELD_BYTES_MAX`: status
 * and hash are what counts.
 */
export function cutConfigStatus(field: Uint8Array): Uint8Array {
  if (field.length <= FIELD_BYTES_MAX) return field
  return rewriteLast(field, (tag, reader) => {
    if (tag === lengthTag(1)) return reader.bytes().subarray(0, INTAKE_LIMITS.hashBytes)
    if (tag === lengthTag(3)) return cutUtf8(reader.bytes(), CONFIG_ERROR_BYTES_MAX)
    return tag === varintTag(2) ? AS_IT_IS : null
  })
}

/**
 * The field with the health where it is longer than `HEALTH_BYTES_MAX`: without the errors of the components, and where
 * that is too long, too, without the components. What the agent says of itself as a whole stays.
 */
export function cutHealth(field: Uint8Array): Uint8Array {
  if (field.length <= HEALTH_BYTES_MAX) return field
  const nodes = { left: INTAKE_LIMITS.healthNodes }
  const cut = rewriteLast(field, rewriteHealth(nodes, HEALTH_ERROR_BYTES_MAX))
  if (cut.length <= HEALTH_BYTES_MAX) return cut
  return rewriteLast(field, rewriteHealth({ left: 0 }, HEALTH_ERROR_BYTES_MAX))
}

/**
 * Rewrites a ComponentHealth. No more components are looked into than were when the message was read, which refuses
 * what is nested too deeply.
 */
const rewriteHealth =
  (nodes: { left: number }, errorBytesMax: number): Rewriting =>
  (tag, reader) => {
    if (tag === lengthTag(3)) return errorBytesMax === 0 ? null : cutUtf8(reader.bytes(), errorBytesMax)
    if (tag === lengthTag(4)) return cutUtf8(reader.bytes(), 4 * INTAKE_LIMITS.healthStatusLength)
    if (tag === lengthTag(6)) return --nodes.left < 0 ? null : rewrite(reader, rewriteEntry(nodes))
    const isKept = tag === varintTag(1) || tag === fixed64Tag(2) || tag === fixed64Tag(5)
    return isKept ? AS_IT_IS : null
  }

/** Rewrites an entry of the map of components: a name, and a ComponentHealth without its errors. */
const rewriteEntry =
  (nodes: { left: number }): Rewriting =>
  (tag, reader) => {
    if (tag === lengthTag(1)) return cutUtf8(reader.bytes(), 4 * INTAKE_LIMITS.healthNameLength)
    return tag === lengthTag(2) ? rewrite(reader, rewriteHealth(nodes, 0)) : null
  }

/**
 * A field with its tag, of which the last one counts where it is there several times; nothing of one that cannot be
 * read, as of a message that was refused.
 */
function rewriteLast(field: Uint8Array, rewriting: Rewriting): Uint8Array {
  let last: Uint8Array = new Uint8Array(0)
  try {
    const reader = wireReader(field)
    while (reader.pos < reader.len) {
      const tag = nextTag(reader)
      if ((tag & 7) === LENGTH_PREFIXED) last = withTag(tag, rewrite(reader, rewriting))
      else skipField(reader, tag)
    }
    return last
  } catch {
    return new Uint8Array(0)
  }
}

const LENGTH_PREFIXED = 2

/** The contents of the nested message that starts here, rewritten field by field. */
function rewrite(reader: WireReader, rewriting: Rewriting): Uint8Array {
  const pieces: Uint8Array[] = []
  const outer = openMessage(reader)
  while (reader.pos < reader.len) {
    const start = reader.pos
    const tag = nextTag(reader)
    const at = reader.pos
    const contents = rewriting(tag, reader)
    if (contents instanceof Uint8Array) pieces.push(withTag(tag, contents))
    else if (reader.pos === at) {
      skipField(reader, tag)
      if (contents === AS_IT_IS) pieces.push(reader.buf.subarray(start, reader.pos))
    }
  }
  closeMessage(reader, outer)
  return Buffer.concat(pieces)
}

const withTag = (tag: number, contents: Uint8Array): Uint8Array =>
  Buffer.concat([writeVarint(tag), writeVarint(contents.length), contents])

/** At most so many bytes of a text, and no part of a character. */
function cutUtf8(text: Uint8Array, bytesMax: number): Uint8Array {
  if (text.length <= bytesMax) return text
  let end = bytesMax
  while (end > 0 && (text[end]! & 0xc0) === 0x80) end--
  return text.subarray(0, end)
}
