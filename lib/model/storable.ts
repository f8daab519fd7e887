const UNSTORABLE = /\0|\p{Surrogate}/u

/** Whether PostgreSQL can hold a text: it takes no U+0000 and no half of a surrogate pair, in `text` or in `jsonb`. */
export const isStorable = (text: string): boolean => !UNSTORABLE.test(text)

/** Whether a text can be stored and shown on one line: besides, it has no control characters. */
export const isStorableLine = (text: string): boolean => isStorable(text) && !/[\0-\u001f\u007f]/.test(text)

/** Whether every text in what a request sent as JSON can be stored, the keys of its objects among them. */
export function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isStorableJson)
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorableJson(inner))
}
