import type { ConfigValue } from './value.ts'

const NULLS = new Set(['', '~', 'null', 'Null', 'NULL'])
const TRUES = new Set(['true', 'True', 'TRUE'])
const FALSES = new Set(['false', 'False', 'FALSE'])
const INFINITY = /^[-+]?\.(?:inf|Inf|INF)$/
const NAN = new Set(['.nan', '.NaN', '.NAN'])
const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|(\d+))$/
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/

/**
 * What a plain scalar means to the collector's parser (YAML 1.2 with the octal and underscore numbers of 1.1;
 * `yes` and `on` are texts). Integers beyond 2^53, infinities and NaN stay texts, so that none of them
 * changes silently.
 */
export function resolvePlainScalar(source: string): ConfigValue {
  if (NULLS.has(source)) return null
  if (TRUES.has(source)) return true
  if (FALSES.has(source)) return false
  const first = source.charCodeAt(0)
  const isNumeric = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e
  if (!isNumeric || INFINITY.test(source) || NAN.has(source)) return source
  const digits = source.replaceAll('_', '')
  const integer = INTEGER.exec(digits)
  if (integer) return resolveInteger(integer, source)
  if (!FLOAT.test(digits)) return source
  const number = Number(digits)
  return Number.isFinite(number) ? number : source
}

function resolveInteger(match: RegExpExecArray, source: string): ConfigValue {
  const [, sign, hex, octal, binary, decimal] = match
  const size = hex
    ? Number.parseInt(hex, 16)
    : octal
      ? Number.parseInt(octal, 8)
      : binary
        ? Number.parseInt(binary, 2)
        : Number(decimal)
  if (!Number.isSafeInteger(size)) return source
  return sign === '-' && size !== 0 ? -size : size
}

/** A scalar under an explicit core tag (`!!str 1`); null when the text cannot be read as that tag. */
export function resolveTaggedScalar(tag: string, source: string): { value: ConfigValue } | null {
  const plain = resolvePlainScalar(source)
  switch (tag) {
    case 'tag:yaml.org,2002:int':
      return typeof plain === 'number' && Number.isInteger(plain) ? { value: plain } : null
    case 'tag:yaml.org,2002:float':
      return typeof plain === 'number' ? { value: plain } : null
    case 'tag:yaml.org,2002:bool':
      return typeof plain === 'boolean' ? { value: plain } : null
    case 'tag:yaml.org,2002:null':
      return plain === null ? { value: null } : null
    default:
      return { value: source }
  }
}
