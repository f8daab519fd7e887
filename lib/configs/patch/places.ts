import {
  type CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type ParsedNode,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { columnOf } from '../yaml/document.ts'

/** Where a value of a text stands, and what stands around it. Offsets are in UTF-16 units, columns from 0. */
export interface Place {
  node: ParsedNode | null
  /** The offset behind the `:` or `-` that introduces the value. */
  after: number
  /** What stands between that and the value: blanks, comments, anchors, tags. */
  before: readonly CST.SourceToken[]
  /** The column of its key, or of its dash. */
  column: number
  parent: 'mapping' | 'list'
  isInFlow: boolean
}

/** One entry of a mapping that is written in a text. */
export interface Entry {
  pair: Pair<ParsedNode, ParsedNode | null>
  /** Its key as a text. */
  key: string
  isMerge: boolean
  start: number
  place: Place
}

/** One entry of a list that is written in a text. */
export interface Item {
  start: number
  place: Place
}

/** Thrown for a form of YAML that can be read but not edited; `edit-text.ts` catches it. */
export class CannotEdit extends Error {}

/** Whether a mapping or a list is written in brackets. */
export const isFlow = (node: YAMLMap | YAMLSeq): boolean => node.flow === true

/** The entries of a mapping in their order. Throws `CannotEdit`. */
export function entriesOf(text: string, map: YAMLMap.Parsed): Entry[] {
  return map.items.map((pair) => {
    const token = pair.srcToken
    const key = pair.key as ParsedNode | null
    if (token === undefined || !isScalar(key)) throw new CannotEdit('a key is not a plain one')
    if (token.start.some(({ type }) => type === 'explicit-key-ind'))
      throw new CannotEdit('a key is not a plain one')
    const sep = token.sep ?? []
    const colon = sep.findIndex(({ type }) => type === 'map-value-ind')
    const start = propsStart(token.start) ?? key.range[0]
    const after = colon === -1 ? key.range[1] : sep[colon]!.offset + 1
    const isMerge = key.value === '<<' && (key.type === 'PLAIN' || key.tag !== undefined)
    const place: Place = {
      node: (pair.value as ParsedNode | null) ?? null,
      after,
      before: sep.slice(colon + 1),
      column: columnOf(text, start),
      parent: 'mapping',
      isInFlow: isFlow(map),
    }
    return { pair: pair as Entry['pair'], key: String(key.value ?? ''), isMerge, start, place }
  })
}

/** The entries of a list in their order. Throws `CannotEdit`. */
export function itemsOf(text: string, list: YAMLSeq.Parsed): Item[] {
  const token = list.srcToken as CST.BlockSequence | CST.FlowCollection | undefined
  const written =
    token?.items.filter(({ value, key, start, sep }) => value || key || sep || isDash(start)) ?? []
  if (written.length !== list.items.length) throw new CannotEdit('a list is written in an unusual way')
  return list.items.map((item, index) => {
    const node = item as ParsedNode | null
    const { start } = written[index]!
    if (isFlow(list)) {
      if (!(isScalar(node) || isAlias(node) || isMap(node) || isSeq(node)) || written[index]!.key)
        throw new CannotEdit('a list is written in an unusual way')
      const from = propsStart(start) ?? node.range![0]
      return {
        start: from,
        place: { node, after: from, before: [], column: 0, parent: 'list', isInFlow: true },
      }
    }
    const dash = start.findIndex(({ type }) => type === 'seq-item-ind')
    if (dash === -1) throw new CannotEdit('a list is written in an unusual way')
    const { offset } = start[dash]!
    return {
      start: offset,
      place: {
        node,
        after: offset + 1,
        before: start.slice(dash + 1),
        column: columnOf(text, offset),
        parent: 'list',
        isInFlow: false,
      },
    }
  })
}

const isDash = (tokens: readonly CST.SourceToken[]) => tokens.some(({ type }) => type === 'seq-item-ind')

const propsStart = (tokens: readonly CST.SourceToken[]): number | null =>
  tokens.find(({ type }) => type === 'anchor' || type === 'tag')?.offset ?? null

/** Where a value ends, its anchor and tag included. */
export function endOf({ node, after, before }: Place): number {
  const props = before.filter(({ type }) => type === 'anchor' || type === 'tag')
  const propsEnd = props.reduce((end, { offset, source }) => Math.max(end, offset + source.length), after)
  return Math.max(propsEnd, endOfNode(node))
}

function endOfNode(node: ParsedNode | null): number {
  if (node === null) return 0
  if ((isMap(node) || isSeq(node)) && !isFlow(node)) {
    const last = node.items.at(-1)
    if (last === undefined) return node.range[0]
    if (isSeq(node)) {
      const own = endOfNode(last as ParsedNode | null)
      const token = (node.srcToken as CST.BlockSequence | undefined)?.items
        .filter(({ start }) => isDash(start))
        .at(-1)
      return Math.max(own, tokensEnd(token?.start))
    }
    const { key, value, srcToken } = last as Pair<ParsedNode, ParsedNode | null>
    return Math.max(endOfNode(key), endOfNode(value), tokensEnd(srcToken?.sep))
  }
  // The range of an absent value may lie anywhere behind its key, so that it says nothing.
  if (isScalar(node) && node.type === 'PLAIN' && node.source === '') return 0
  return node.range[1]
}

/** Where the last token ends that is no blank, comment or line end; 0 without one. */
function tokensEnd(tokens: readonly CST.SourceToken[] | undefined): number {
  const kept = (tokens ?? []).filter(({ type }) => !['space', 'comment', 'newline'].includes(type))
  return kept.reduce((end, { offset, source }) => Math.max(end, offset + source.length), 0)
}
