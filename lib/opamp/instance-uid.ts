import { toHex } from '../ids.ts'

/** Crockford's base 32, as ULIDs are written (upper case). */
const ULID_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ULID_TEXT = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/
const UUID_TEXT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * The key of an instance_uid: the lower-case hex of its 16 bytes. Old clients send text, a ULID of 26 or a
 * UUID of 36 characters, which stand for 16 bytes too. Null for every other length or content.
 */
export function instanceUidKey(onWire: Uint8Array): string | null {
  if (onWire.length === 16) return toHex(onWire)
  if (onWire.length === 26) return ulidHex(asciiOf(onWire).toUpperCase())
  if (onWire.length === 36) {
    const text = asciiOf(onWire).toLowerCase()
    return UUID_TEXT.test(text) ? text.replaceAll('-', '') : null
  }
  return null
}

/**
 * 16 bytes in the form in which an agent writes its own uid: raw, or as text for the old clients that break on
 * anything but text.
 */
export function instanceUidLike(uid: Uint8Array, onWire: Uint8Array): Uint8Array {
  const hex = toHex(uid)
  if (onWire.length === 26) return Buffer.from(ulidText(hex))
  if (onWire.length !== 36) return uid
  return Buffer.from(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'))
}

function ulidText(hex: string): string {
  let value = BigInt(`0x${hex}`)
  let text = ''
  for (let index = 0; index < 26; index++) {
    text = ULID_ALPHABET[Number(value & 31n)]! + text
    value >>= 5n
  }
  return text
}

const asciiOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

function ulidHex(text: string): string | null {
  if (!ULID_TEXT.test(text)) return null
  let value = 0n
  for (const character of text) value = (value << 5n) | BigInt(ULID_ALPHABET.indexOf(character))
  return value.toString(16).padStart(32, '0')
}
