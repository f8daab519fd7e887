import { isMap, isScalar, isSeq, type ParsedNode, type Scalar } from 'yaml'
import { readFirstDocument, type YamlDocument } from '../yaml/document.ts'
import { holdsPlaceholder } from './placeholders.ts'

/** A scalar that holds placeholders. */
export interface Hole {
  node: Scalar.Parsed
  /** The keys that it stands below. */
  keys: readonly string[]
  /** It is a key itself. */
  isKey: boolean
}

/** A version's text as nodes, and the holes in it in their order; none where the text is not YAML. */
export interface Template {
  document: YamlDocument
  holes: readonly Hole[]
}

/** Reads a version's text: `readTemplate`, or a reader that `rememberTexts` makes of it. */
export type ReadTemplate = (text: string) => Template

/** Read a version's text. */
export function readTemplate(text: string): Template {
  const document = readFirstDocument(text)
  const holes: Hole[] = []
  if (document.ok)
    visit(document.contents, [], (hole) => {
      if (holdsPlaceholder(String(hole.node.value ?? ''))) holes.push(hole)
    })
  return { document, holes }
}

/** Show `see` every scalar once, where it is written. The reader of the text has bounded how deep it nests. */
function visit(node: ParsedNode | null, keys: readonly string[], see: (scalar: Hole) => void): void {
  if (isScalar(node)) see({ node: node as Scalar.Parsed, keys, isKey: false })
  else if (isSeq(node)) for (const item of node.items) visit(item as ParsedNode | null, keys, see)
  else if (isMap(node)) {
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value ?? '') : ''
      if (isScalar(key)) see({ node: key as Scalar.Parsed, keys, isKey: true })
      else visit(key as ParsedNode | null, keys, see)
      visit(value as ParsedNode | null, [...keys, name], see)
    }
  }
}
