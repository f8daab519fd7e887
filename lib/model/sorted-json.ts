/**
 * The JSON of a value with the keys of all its maps sorted: equal values have equal texts, and a new field makes another
 * one. Fields that are undefined are left out, as in JSON.
 */
export const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_key, found: unknown) =>
    typeof found === 'object' && found !== null && !Array.isArray(found)
      ? Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)))
      : found,
  )
