import { resolvePlainScalar } from './scalar.ts'

/** What a plain text must not begin with, or look like, to be read as nothing else. */
const UNSAFE_START = /^(?:[-?:](?![A-Za-z0-9_./$])|[,[\]{}#&*!|>'"%@`=<~]|---|\.\.\.)/
const UNSAFE_WITHIN = /: |:$| #|[^\x20-\x7e\u00a1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\uffef]/

/** Whether a text may stand without quotes as the value of a key or the entry of a list, outside of brackets. */
export function isPlainSafe(text: string): boolean {
  return (
    text !== '' &&
    text.trim() === text &&
    !UNSAFE_START.test(text) &&
    !UNSAFE_WITHIN.test(text) &&
    resolvePlainScalar(text) === text
  )
}

/** Whether a text may stand without quotes between brackets. */
export const isFlowSafe = (text: string): boolean => isPlainSafe(text) && !/[,[\]{}]/.test(text)

/** A text between double quotes, on one line. */
export function quoteDouble(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A text between single quotes; null where it has a character that these cannot hold, such as a line end. */
export const quoteSingle = (text: string): string | null =>
  UNSAFE_IN_SINGLE.test(text) ? null : `'${text.replaceAll("'", "''")}'`

const UNSAFE_IN_SINGLE = /[^\x20-\x7e\u00a1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\uffef]/
