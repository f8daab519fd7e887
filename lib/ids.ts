import { randomFillSync } from 'node:crypto'

/** A source of random bytes, passed so that a simulation can repeat itself. */
export interface Random {
  bytes(count: number): Uint8Array
}

/** The operating system's random source. */
export const systemRandom: Random = { bytes: (count) => randomFillSync(new Uint8Array(count)) }

/** A UUIDv7 (RFC 9562) as its 16 bytes, ordered by `now`. */
export function uuidv7Bytes(now: Date, random: Random): Uint8Array {
  const bytes = random.bytes(16)
  let ms = now.getTime()
  for (let i = 5; i >= 0; i--) {
    bytes[i] = ms % 256
    ms = Math.floor(ms / 256)
  }
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes
}

/** A UUIDv7 in canonical lower-case text. */
export function uuidv7(now: Date, random: Random): string {
  const hex = toHex(uuidv7Bytes(now, random))
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** When a UUIDv7 was made. */
export const timeOfUuidv7 = (id: string): Date =>
  new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))

/** Lower-case hex of some bytes. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

/** Whether a text is the lower-case hex of some bytes, without making that. */
export function isHexOf(text: string, bytes: Uint8Array): boolean {
  if (text.length !== bytes.length * 2) return false
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]!
    if (text.charCodeAt(2 * index) !== HEX_DIGITS[byte >> 4]) return false
    if (text.charCodeAt(2 * index + 1) !== HEX_DIGITS[byte & 15]) return false
  }
  return true
}
const HEX_DIGITS = Buffer.from('0123456789abcdef')

/** `count` random bytes in lower-case hex. */
export function randomHex(count: number, random: Random): string {
  return toHex(random.bytes(count))
}

/** How ids of users, tokens, sessions, pushes and the like are written: a UUID in small letters. */
export const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/
