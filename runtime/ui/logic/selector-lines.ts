import type { Selector, SelectorExpression } from '../../../lib/wire/selectors.ts'

/** The part of a selector that is written as lines: conditions on labels. */
export type LabelConditions = Pick<Selector, 'match_labels' | 'match_expressions'>

const LIST = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/

function readExpression(line: string): SelectorExpression | null {
  const list = LIST.exec(line)
  if (list !== null) {
    const values = list[3]!
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== '')
    const operator = list[2] === 'in' ? 'In' : 'NotIn'
    return values.length === 0 ? null : { key: list[1]!, operator, values }
  }
  const alone = /^(!?)\s*([^\s=!()]+)$/.exec(line)
  return alone === null ? null : { key: alone[2]!, operator: alone[1] === '!' ? 'DoesNotExist' : 'Exists' }
}

/**
 * Read conditions as Kubernetes writes them, one a line: `key=value`, `key in (a, b)`, `key notin (a, b)`, `key`,
 * `!key`. `line` is the first one of another form.
 */
export function readSelectorLines(
  text: string,
): { ok: true; conditions: LabelConditions } | { ok: false; line: string } {
  const match_labels: Record<string, string> = {}
  const match_expressions: SelectorExpression[] = []
  for (const raw of text.split('\n')) {
    const line = raw.trim()
    if (line === '') continue
    const pair = /^([^=\s!()]+)\s*=\s*(\S.*)$/.exec(line)
    const expression = pair === null ? readExpression(line) : null
    if (pair !== null && !Object.hasOwn(match_labels, pair[1]!)) match_labels[pair[1]!] = pair[2]!
    else if (expression !== null) match_expressions.push(expression)
    else return { ok: false, line }
  }
  return { ok: true, conditions: { match_labels, match_expressions } }
}

function writeExpression({ key, operator, values = [] }: SelectorExpression): string {
  if (operator === 'Exists') return key
  if (operator === 'DoesNotExist') return `!${key}`
  return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(', ')})`
}

/** The conditions of a selector on labels, each as a line. */
export const selectorLines = ({ match_labels = {}, match_expressions = [] }: LabelConditions): string[] => [
  ...Object.entries(match_labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`),
  ...match_expressions.map(writeExpression),
]
