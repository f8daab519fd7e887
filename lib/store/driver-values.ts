import pg from 'pg'

const INT8 = 20
const INT8_ARRAY = 1016
const DATE = 1082

/** int8 as a number (no count or sequence here comes near 2^53) and dates as text; the rest as pg has it. */
export function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (format !== 'binary') {
    if (oid === INT8) return Number
    if (oid === DATE) return String
    if (oid === INT8_ARRAY) return parseInt8Array
  }
  return pg.types.getTypeParser(oid, format as 'text')
}

function parseInt8Array(text: string): (number | null)[] {
  if (text === '{}') return []
  return text
    .slice(1, -1)
    .split(',')
    .map((item) => (item === 'NULL' ? null : Number(item)))
}
