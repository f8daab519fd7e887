import { isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml'
import { isNestedTooDeeply } from '../yaml/tokens.ts'

/** YAML of a vendor's config with every scalar as the text that was written. */
export type SourceValue = string | SourceValue[] | Map<string, SourceValue>

const DEPTH_MAX = 50

function toValue(node: unknown, depth: number): SourceValue {
  if (depth > DEPTH_MAX) return ''
  if (isMap(node)) {
    return new Map(
      node.items.flatMap((pair) =>
        isScalar(pair.key) ? [[String(pair.key.value), toValue(pair.value, depth + 1)] as const] : [],
      ),
    )
  }
  if (isSeq(node)) return node.items.map((item) => toValue(item, depth + 1))
  // Aliases are not followed: what they point to is in the text where it was anchored.
  if (!isScalar(node)) return ''
  const text = String(node.value ?? '')
  return node.type === 'PLAIN' && ['~', 'null', 'Null', 'NULL'].includes(text) ? '' : text
}

/** The top-level mapping of a YAML text; null when it is not YAML or not a mapping. */
export function readSourceYaml(source: string): Map<string, SourceValue> | null {
  if (isNestedTooDeeply(source)) return null
  const document = parseDocument<Node>(source, { schema: 'failsafe', logLevel: 'silent', strict: true })
  if (document.errors.length > 0) return null
  const value = toValue(document.contents, 0)
  return value instanceof Map ? value : null
}

/** The text of a scalar, trimmed; empty for anything else and for null. */
export function scalarText(value: SourceValue | undefined): string {
  return typeof value === 'string' ? value.trim() : ''
}

/** Whether a scalar is one of the ways of writing true. */
export function isTrue(value: SourceValue | undefined): boolean {
  return ['true', 'yes', 'on', '1', 't', 'y'].includes(scalarText(value).toLowerCase())
}

/** Every scalar below a value. */
export function scalarsOf(value: SourceValue): string[] {
  if (typeof value === 'string') return [value]
  return [...(Array.isArray(value) ? value : value.values())].flatMap(scalarsOf)
}

/** Every entry of every mapping below a value, with its key; an entry comes before those inside it. */
export function entriesOf(value: SourceValue): { key: string; value: SourceValue }[] {
  if (typeof value === 'string') return []
  if (Array.isArray(value)) return value.flatMap(entriesOf)
  return [...value].flatMap(([key, child]) => [{ key, value: child }, ...entriesOf(child)])
}
