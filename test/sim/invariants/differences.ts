/** List where two plain values differ: for each difference its path and both values. */
export function differences(mine: unknown, theirs: unknown, path = ''): string[] {
  const [left, right] = [toPlain(mine), toPlain(theirs)]
  if (!isTree(left) || !isTree(right)) {
    const [a, b] = [JSON.stringify(left), JSON.stringify(right)]
    return a === b ? [] : [`${path} ${a} instead of ${b}`]
  }
  const keys = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...keys].flatMap((key) => differences(left[key], right[key], path === '' ? key : `${path}.${key}`))
}

const toPlain = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value)

const isTree = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
