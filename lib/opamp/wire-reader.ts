import { isAscii, isUtf8 } from 'node:buffer'
import protobuf from 'protobufjs/minimal.js'

/**
 * The most fields that are read or passed over in one message. An agent with all that is kept of it (`INTAKE_LIMITS`)
 * has less than half of these, for a field that is passed over counts as one, with all that is in it. Seven million
 * fit in the bytes of a message.
 */
export const FIELDS_MAX = 65_536

/**
 * How much text of one message is decoded, in bytes; what comes after counts as empty. An agent with all that is kept of
 * it has less; sixteen megabytes of it, in fields that are given again and again, held the loop for long.
 */
export const TEXT_BYTES_MAX = 2 * 1_048_576

/** A message of more fields than `FIELDS_MAX`. */
export class TooManyFields extends Error {
  override readonly name = 'TooManyFields'
}

/**
 * Reading protobuf field by field, on protobufjs' reader. Generated decoders build an object for every
 * entry of a hostile message before anything can be capped; reading in place skips what is not kept.
 */
export class WireReader extends protobuf.Reader {
  fieldsLeft: number = FIELDS_MAX
  textBytesLeft: number = TEXT_BYTES_MAX
}

/** A length-prefixed field (wire type 2) with this number, as the tag that introduces it. */
export const lengthTag = (field: number): number => (field << 3) | 2
/** A varint field (wire type 0) with this number. */
export const varintTag = (field: number): number => field << 3
/** A 64-bit fixed field (wire type 1) with this number. */
export const fixed64Tag = (field: number): number => (field << 3) | 1

/** A reader over the whole of `bytes`. Its methods throw on malformed input. */
export function wireReader(bytes: Uint8Array): WireReader {
  return new WireReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}

/**
 * The next field's tag. Throws `TooManyFields`, and for field number 0, which is how text and foreign bytes usually
 * show.
 */
export function nextTag(reader: WireReader): number {
  if (--reader.fieldsLeft < 0) throw new TooManyFields()
  const tag = reader.tag()
  if (tag >>> 3 === 0) throw new RangeError('field number 0')
  return tag
}

const START_GROUP = 3
const END_GROUP = 4
/** Deeper groups are refused: the protocol has none. */
const GROUP_DEPTH_MAX = 100

/** Pass over the field whose tag was just read. The fields of a group, which has no length, count each. */
export function skipField(reader: WireReader, tag: number): void {
  if ((tag & 7) === START_GROUP) skipGroup(reader, tag >>> 3, 1)
  else reader.skipType(tag & 7, 0, tag >>> 3)
}

function skipGroup(reader: WireReader, field: number, depth: number): void {
  if (depth > GROUP_DEPTH_MAX) throw new RangeError('groups nested too deeply')
  for (let tag = nextTag(reader); ; tag = nextTag(reader)) {
    if ((tag & 7) === END_GROUP) {
      if (tag >>> 3 !== field) throw new RangeError('a group ends as another')
      return
    }
    if ((tag & 7) === START_GROUP) skipGroup(reader, tag >>> 3, depth + 1)
    else reader.skipType(tag & 7, 0, tag >>> 3)
  }
}

/** Narrow the reader to the nested message that starts here; give the result to `closeMessage`. */
export function openMessage(reader: WireReader): number {
  const length = reader.size()
  const end = reader.pos + length
  if (end > reader.len) throw new RangeError('nested message ends after its parent')
  const outer = reader.len
  reader.len = end
  return outer
}

/** Widen the reader again after the nested message was read to its end. */
export function closeMessage(reader: WireReader, outer: number): void {
  if (reader.pos !== reader.len) throw new RangeError('nested message ends inside a field')
  reader.len = outer
}

/** A varint as a number; exact up to 2^53. */
export function readUint64(reader: WireReader): number {
  let value = 0
  let factor = 1
  for (let index = 0; index < 10; index++) {
    if (reader.pos >= reader.len) throw new RangeError('varint ends after its message')
    const byte = reader.buf[reader.pos++]!
    value += (byte & 0x7f) * factor
    if (byte < 0x80) return value
    factor *= 128
  }
  throw new RangeError('varint longer than ten bytes')
}

/** The low 16 bits of a varint. All capability bits of the protocol are among them. */
export function readLow16(reader: WireReader): number {
  const start = reader.pos
  readUint64(reader)
  let value = 0
  for (let index = 0; index < 3 && start + index < reader.pos; index++) {
    value |= (reader.buf[start + index]! & 0x7f) << (7 * index)
  }
  return value & 0xffff
}

/** A fixed64 of Unix nanoseconds as milliseconds; null for 0, which means "none". */
export function readUnixNanosAsMs(reader: WireReader): number | null {
  const low = reader.fixed32()
  const high = reader.fixed32()
  if (low === 0 && high === 0) return null
  return Math.floor((high * 4_294_967_296 + low) / 1_000_000)
}

/**
 * A string of at most `lengthMax` UTF-16 units: U+0000, which PostgreSQL cannot store, becomes U+FFFD, and a longer
 * text is cut without splitting a surrogate pair. Throws on invalid UTF-8, as proto3 wants, so that there are no lone
 * surrogates. Empty once as much text of the message was read as is looked at.
 */
export function readText(reader: WireReader, lengthMax: number): string {
  const start = reader.pos
  const length = reader.size()
  const from = reader.pos
  const end = from + length
  if (end > reader.len) throw new RangeError('text ends after its message')
  // A unit of UTF-16 comes of three bytes at most.
  const decoded = Math.min(length, 3 * lengthMax + 3)
  if (decoded > reader.textBytesLeft) {
    reader.pos = end
    return ''
  }
  reader.textBytesLeft -= decoded
  const bytes = reader.buf as Buffer
  if (length > SHORT_MAX && isPlain(bytes, from, end)) {
    reader.pos = end
    // One flat string: the reader of protobufjs would leave a rope of pieces, which takes more memory for as long as
    // the text is kept.
    return bytes.toString('latin1', from, length > lengthMax ? from + lengthMax : end)
  }
  if (length > SHORT_MAX) {
    if (!isUtf8(bytes.subarray(from, end))) throw new RangeError('text is no UTF-8')
    reader.pos = end
    // No more is decoded than can be kept.
    return cutText(withoutZeros(bytes.toString('utf8', from, from + decoded)), lengthMax)
  }
  reader.pos = start
  return cutText(withoutZeros(reader.stringVerify()), lengthMax)
}

const withoutZeros = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text)

/** Up to this length the engine builds flat strings anyway, and the reader of protobufjs is faster. */
const SHORT_MAX = 12

/** From this length on it is quicker to ask the library, which looks at many bytes at once. */
const LONG_MIN = 2_048

/** Nothing but ASCII, and no U+0000. */
function isPlain(bytes: Uint8Array, from: number, end: number): boolean {
  if (end - from >= LONG_MIN) {
    const long = bytes.subarray(from, end)
    return isAscii(long) && !long.includes(0)
  }
  for (let at = from; at < end; at++) {
    const byte = bytes[at]!
    if (byte === 0 || byte > 0x7f) return false
  }
  return true
}

/** The same text, as one string shared by all agents where it is one that nearly every agent sends. */
export const shareText = (text: string): string => SHARED_TEXTS.get(text) ?? text

/** Texts that nearly every agent sends, kept once and not once for each agent. */
const SHARED_TEXTS: ReadonlyMap<string, string> = new Map(
  [
    ...[
      'service.name',
      'service.namespace',
      'service.version',
      'service.instance.id',
      'deployment.environment',
    ],
    ...[
      'host.name',
      'host.arch',
      'host.id',
      'os.type',
      'os.description',
      'amd64',
      'arm64',
      'linux',
      'windows',
    ],
    ...['k8s.cluster.name', 'k8s.namespace.name', 'k8s.pod.name', 'k8s.pod.uid', 'k8s.node.name'],
    ...[
      'k8s.deployment.name',
      'k8s.daemonset.name',
      'k8s.statefulset.name',
      'k8s.cronjob.name',
      'k8s.job.name',
    ],
    ...['telemetry.sdk.language', 'telemetry.distro.name', 'otelcol', 'otelcol-contrib'],
    ...['StatusOK', 'StatusStarting', 'StatusStopping', 'StatusStopped', 'StatusRecoverableError'],
  ].map((text) => [text, text]),
)

/** At most `lengthMax` UTF-16 units of `text`, never half a surrogate pair. */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  const last = text.charCodeAt(lengthMax - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? lengthMax - 1 : lengthMax)
}
