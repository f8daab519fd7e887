import { isAlias, isMap, isSeq, type ParsedNode, visit, type YAMLMap, type YAMLSeq } from 'yaml'
import { columnOf, readFirstDocument } from '../yaml/document.ts'
import { isSameValue } from '../yaml/equal.ts'
import { readValues } from '../yaml/parse.ts'
import { readPlainConfig } from '../yaml/plain.ts'
import { type ConfigObject, type ConfigValue, isObject } from '../yaml/value.ts'
import { writeBlock, writeFlow, writeInline, writeItem, writeKey, writePair } from '../yaml/write-value.ts'
import { findChangedStretches, indentationOf } from './changed-stretches.ts'
import { CannotEdit, type Entry, endOf, entriesOf, type Item, isFlow, itemsOf, type Place } from './places.ts'

/** One stretch of a text and what comes in its place. */
interface Splice {
  start: number
  end: number
  text: string
}

/** Most single changes that one edit makes: far more than a patch needs. */
const STEPS_MAX = 2_000

/**
 * The text, changed no more than it takes to read as `target`: comments, order and layout of everything else stay. What
 * an alias or a merge key brings is written out where `target` differs from it. Null where the text is written in a way
 * that cannot be edited, or where it takes more than `stepsMax` single changes. Nothing here proves the result: the caller must read it again and compare it with `target`.
 */
export function editText(text: string, target: ConfigObject, stepsMax = STEPS_MAX): string | null {
  const steps = { left: stepsMax }
  return editStretches(text, target, steps) ?? editWhole(text, target, steps)
}

/**
 * The same of a text that is written plainly, where it is enough to edit a few stretches of it: to read these with all
 * their tokens takes a small part of the time. Null where they cannot be edited, or where the text is not such a one.
 */
function editStretches(text: string, target: ConfigObject, steps: { left: number }): string | null {
  const value = readPlainConfig(text)
  const stretches = value === null ? null : findChangedStretches(text, value, target)
  if (value === null || stretches === null) return null
  const indentation = indentationOf(text, value)
  let edited = text
  for (const { start, end, target: wanted } of stretches.reverse()) {
    const written = editWhole(text.slice(start, end), wanted, steps, indentation)
    if (written === null) return null
    edited = edited.slice(0, start) + written + edited.slice(end)
  }
  return edited
}

/** `indentation`: by how much the text indents, of which this is a stretch. */
function editWhole(
  text: string,
  target: ConfigObject,
  steps: { left: number },
  indentation: number | null = null,
): string | null {
  let current = text
  for (; steps.left > 0; steps.left--) {
    const read = readFirstDocument(current, { keepTokens: true })
    if (!read.ok || read.contents === null) return null
    if (read.source !== current) {
      current = read.source
      continue
    }
    const found = readValues(read.contents)
    if (!found.ok) return null
    try {
      const splices = new Editor(current, read.contents, found.value, indentation).next(found.value, target)
      if (splices === null) return current
      current = apply(current, splices)
      // Most edits are one change: that it was is seen by a quick reading, and not by one that keeps all tokens.
      const plain = readPlainConfig(current)
      if (plain !== null && isSameValue(plain, target)) return current
    } catch (stop) {
      if (stop instanceof CannotEdit) return null
      throw stop
    }
  }
  return null
}

/** The text with the key at `path` renamed; null where a merge key or an alias brings that key, or it is not there. */
export function renameKey(text: string, path: readonly string[], to: string): string | null {
  const read = readFirstDocument(text, { keepTokens: true })
  if (!read.ok || read.source !== text) return null
  let node: ParsedNode | null = read.contents
  try {
    for (const [index, name] of path.entries()) {
      if (!isMap(node)) return null
      const entry = entriesOf(text, node as YAMLMap.Parsed).find(
        ({ key, isMerge }) => key === name && !isMerge,
      )
      if (entry === undefined) return null
      if (index < path.length - 1) {
        node = entry.place.node
        continue
      }
      const [start, end] = entry.pair.key.range
      return text.slice(0, start) + writeKey(to, entry.place.isInFlow) + text.slice(end)
    }
  } catch (stop) {
    if (!(stop instanceof CannotEdit)) throw stop
  }
  return null
}

function apply(text: string, splices: readonly Splice[]): string {
  let edited = text
  for (const { start, end, text: written } of [...splices].sort((a, b) => b.start - a.start))
    edited = edited.slice(0, start) + written + edited.slice(end)
  return edited
}

/** Finds the next single change of one text. */
class Editor {
  readonly #text: string
  readonly #root: ParsedNode
  readonly #rootValue: ConfigValue
  readonly #step: number

  constructor(text: string, root: ParsedNode, rootValue: ConfigValue, indentation: number | null) {
    this.#text = text
    this.#root = root
    this.#rootValue = rootValue
    this.#step = indentation ?? stepOf(text, root)
  }

  /** The first change that the root needs; null when there is none. */
  next(value: ConfigValue, target: ConfigValue): Splice[] | null {
    if (isSameValue(value, target)) return null
    const change = this.#collection(this.#root, value, target, null)
    if (change === null) throw new CannotEdit('nothing to change')
    return change
  }

  #change(place: Place, value: ConfigValue, target: ConfigValue): Splice[] | null {
    if (isSameValue(value, target)) return null
    return this.#collection(place.node, value, target, place) ?? this.#replace(place, target)
  }

  /** A change inside a list or a mapping; null where it can only be replaced as a whole. */
  #collection(
    node: ParsedNode | null,
    value: ConfigValue,
    target: ConfigValue,
    place: Place | null,
  ): Splice[] | null {
    if (isMap(node) && isObject(value) && isObject(target)) {
      const isEmptied = place !== null && (Object.keys(target).length === 0 || node.items.length === 0)
      return isEmptied ? null : this.#mapping(node as YAMLMap.Parsed, value, target)
    }
    if (isSeq(node) && Array.isArray(value) && Array.isArray(target))
      return target.length === 0 || value.length === 0
        ? null
        : this.#list(node as YAMLSeq.Parsed, value, target)
    return null
  }

  #mapping(map: YAMLMap.Parsed, value: ConfigObject, target: ConfigObject): Splice[] | null {
    const entries = entriesOf(this.#text, map)
    const merge = entries.find(({ isMerge }) => isMerge)
    const own = new Map(entries.filter(({ isMerge }) => !isMerge).map((entry) => [entry.key, entry]))
    const isMerged = (key: string) => !own.has(key)
    if (
      merge !== undefined &&
      Object.keys(value).some((key) => isMerged(key) && !isSameValue(value[key], ownValue(target, key)))
    )
      return this.#writeOut(map, merge, entries, pick(target, value, isMerged))
    for (const [key, entry] of own) {
      const change = Object.hasOwn(target, key) ? this.#change(entry.place, value[key]!, target[key]!) : null
      if (change !== null) return change
    }
    // Keys are removed last: a mapping that lost its only key before another is added would no longer be a mapping.
    const added = Object.keys(target).find((key) => !Object.hasOwn(value, key))
    if (added !== undefined) return this.#addEntry(map, entries, added, target[added]!)
    const removed = [...own.values()].find(({ key }) => !Object.hasOwn(target, key))
    return removed === undefined ? null : this.#removeEntry(map, removed, entries)
  }

  /** The keys that a merge key brings, written in its place. */
  #writeOut(map: YAMLMap.Parsed, merge: Entry, entries: readonly Entry[], keys: ConfigObject): Splice[] {
    if (Object.keys(keys).length === 0) return this.#removeEntry(map, merge, entries)
    const end = endOf(merge.place)
    const text = isFlow(map)
      ? writeFlow(keys).slice(1, -1)
      : indent(writeBlock(keys, this.#step), merge.place.column)
    return this.#keepingAliases(merge.start, end) ?? [{ start: merge.start, end, text }]
  }

  #list(
    list: YAMLSeq.Parsed,
    value: readonly ConfigValue[],
    target: readonly ConfigValue[],
  ): Splice[] | null {
    const items = itemsOf(this.#text, list)
    if (value.length === target.length) {
      for (const [index, item] of items.entries()) {
        const change = this.#change(item.place, value[index]!, target[index]!)
        if (change !== null) return change
      }
      return null
    }
    let same = 0
    while (same < Math.min(value.length, target.length) && isSameValue(value[same], target[same])) same++
    return value.length > target.length
      ? this.#removeItem(list, items, surplusOf(value, target, same))
      : this.#addItem(list, items, same, target[same]!)
  }

  #replace(place: Place, target: ConfigValue): Splice[] {
    const end = endOf(place)
    const kept = this.#keepingAliases(place.after, end)
    if (kept !== null) return kept
    // Comments behind an absent value stay where they are.
    const comments = place.before
      .filter(({ type, offset }) => type === 'comment' && offset < end)
      .map(({ source }) => source)
    if (place.isInFlow) {
      if (comments.length > 0) throw new CannotEdit('a comment between brackets')
      const lead = place.parent === 'mapping' ? ' ' : ''
      return [{ start: place.after, end, text: lead + writeFlow(target) }]
    }
    const lineEnd = end > place.after && this.#text[end - 1] === '\n' ? '\n' : ''
    const inner = place.column + this.#step
    const inline = writeInline(target)
    const said = comments.map((comment) => ` ${comment}`).join(`\n${' '.repeat(inner)}`)
    if (inline !== null) return [{ start: place.after, end, text: ` ${inline}${said}${lineEnd}` }]
    const lines = writeBlock(target, this.#step)
    const isCompact = place.parent === 'list' && comments.length === 0 && !this.#hasCommentBehind(end)
    const column = place.parent === 'list' ? place.column + 2 : inner
    if (end === place.after && !isCompact) return [this.#lineBehind(end, lines, column)]
    const text = isCompact
      ? ` ${indent(lines, column)}`
      : `${said}\n${' '.repeat(column)}${indent(lines, column)}`
    return [{ start: place.after, end, text: text + lineEnd }]
  }

  #addEntry(map: YAMLMap.Parsed, entries: readonly Entry[], key: string, value: ConfigValue): Splice[] {
    const last = entries.at(-1)
    if (isFlow(map)) {
      const text = `${writeKey(key, true)}: ${writeFlow(value)}`
      if (last === undefined) return [{ start: map.range[0] + 1, end: map.range[0] + 1, text }]
      const end = Math.max(endOf(last.place), last.pair.key.range[1])
      return [{ start: end, end, text: `, ${text}` }]
    }
    if (last === undefined) throw new CannotEdit('an empty mapping')
    return [this.#lineBehind(endOf(last.place), writePair(key, value, this.#step), last.place.column)]
  }

  #addItem(list: YAMLSeq.Parsed, items: readonly Item[], index: number, value: ConfigValue): Splice[] {
    const before = items[index - 1]
    if (isFlow(list)) {
      if (before !== undefined) {
        const end = endOf(before.place)
        return [{ start: end, end, text: `, ${writeFlow(value)}` }]
      }
      const { start } = items[0]!
      return [{ start, end: start, text: `${writeFlow(value)}, ` }]
    }
    const lines = writeItem(value, this.#step)
    const { column } = items[0]!.place
    if (before !== undefined) return [this.#lineBehind(endOf(before.place), lines, column)]
    const { start } = items[0]!
    return [{ start, end: start, text: `${indent(lines, column)}\n${' '.repeat(column)}` }]
  }

  #removeEntry(map: YAMLMap.Parsed, entry: Entry, entries: readonly Entry[]): Splice[] {
    const end = Math.max(endOf(entry.place), entry.pair.key.range[1])
    const kept = this.#keepingAliases(entry.start, end)
    if (kept !== null) return kept
    if (entries.length === 1 && !isFlow(map)) throw new CannotEdit('the last key of a mapping')
    const next = entries[entries.indexOf(entry) + 1]
    return this.#removeStretch(isFlow(map), entry.start, end, next?.start ?? null, entries.length === 1)
  }

  #removeItem(list: YAMLSeq.Parsed, items: readonly Item[], index: number): Splice[] {
    const item = items[index]!
    const end = endOf(item.place)
    const kept = this.#keepingAliases(item.start, end)
    return (
      kept ??
      this.#removeStretch(isFlow(list), item.start, end, items[index + 1]?.start ?? null, items.length === 1)
    )
  }

  /** Take out an entry of a mapping or a list; `next` is where the entry behind it begins, null behind the last. */
  #removeStretch(
    isInFlow: boolean,
    start: number,
    end: number,
    next: number | null,
    isOnly: boolean,
  ): Splice[] {
    if (isInFlow) {
      if (isOnly) return [{ start, end, text: '' }]
      const comma = next === null ? this.#commaBefore(start) : this.#commaBehind(end)
      const blanks = /[ \t]*/y
      blanks.lastIndex = comma + 1
      const after = next === null ? comma + 1 : comma + 1 + blanks.exec(this.#text)![0].length
      return [
        { start, end, text: '' },
        { start: comma, end: after, text: '' },
      ]
    }
    const lineStart = this.#text.lastIndexOf('\n', start - 1) + 1
    if (this.#text.slice(lineStart, start).trim() !== '') {
      // The first key of a list's entry stands behind its dash.
      if (next === null) throw new CannotEdit('the only key behind a dash')
      return [{ start, end: next, text: '' }]
    }
    return [{ start: lineStart, end: this.#lineEnd(end), text: '' }]
  }

  #commaBehind(from: number): number {
    const found = /(?:\s|#[^\n]*\n)*,/y
    found.lastIndex = from
    if (!found.test(this.#text)) throw new CannotEdit('brackets are written in an unusual way')
    return found.lastIndex - 1
  }

  #commaBefore(from: number): number {
    for (
      let at = this.#text.lastIndexOf(',', from - 1);
      at !== -1;
      at = this.#text.lastIndexOf(',', at - 1)
    ) {
      // A comma in a comment separates nothing.
      const line = this.#text.slice(this.#text.lastIndexOf('\n', at) + 1, at)
      if (!/(?:^|\s)#/.test(line)) return at
      if (at === 0) break
    }
    throw new CannotEdit('brackets are written in an unusual way')
  }

  /** New lines behind the line on which a value ends. */
  #lineBehind(end: number, lines: readonly string[], column: number): Splice {
    const at = this.#lineEnd(end)
    const isOnNewLine = at === 0 || this.#text[at - 1] === '\n'
    const text = `${' '.repeat(column)}${indent(lines, column)}`
    return { start: at, end: at, text: isOnNewLine ? `${text}\n` : `\n${text}` }
  }

  /** Where the line ends in which a value ends, line end included: a comment behind the value belongs to it. */
  #lineEnd(end: number): number {
    if (end > 0 && this.#text[end - 1] === '\n') return end
    const found = this.#text.indexOf('\n', end)
    return found === -1 ? this.#text.length : found + 1
  }

  /** Whether a comment ends the line on which a value ends. */
  #hasCommentBehind(end: number): boolean {
    const blanks = /[ \t]+#/y
    blanks.lastIndex = end
    return blanks.test(this.#text)
  }

  /** Writes out one alias, elsewhere, of an anchor in a stretch of text that is to go; null when there is none left. */
  #keepingAliases(start: number, end: number): Splice[] | null {
    const names = new Set<string>()
    const isWithin = (node: ParsedNode) => node.range![0] >= start && node.range![0] <= end
    visit(this.#root, {
      Node: (_, node) => {
        if (!isAlias(node) && 'anchor' in node && node.anchor && isWithin(node as ParsedNode))
          names.add(node.anchor)
      },
    })
    return names.size === 0 ? null : this.#writeOutAlias(this.#root, this.#rootValue, names, isWithin)
  }

  #writeOutAlias(
    node: ParsedNode | null,
    value: ConfigValue,
    names: ReadonlySet<string>,
    isLeftOut: (node: ParsedNode) => boolean,
  ): Splice[] | null {
    if (isMap(node) && isObject(value)) {
      const entries = entriesOf(this.#text, node as YAMLMap.Parsed)
      const own = new Set(entries.filter(({ isMerge }) => !isMerge).map(({ key }) => key))
      for (const entry of entries) {
        if (entry.isMerge && holdsAlias(entry.place.node, names, isLeftOut))
          return this.#writeOut(
            node as YAMLMap.Parsed,
            entry,
            entries,
            pick(value, value, (key) => !own.has(key)),
          )
        if (entry.isMerge) continue
        const found = this.#writeOutPlace(entry.place, value[entry.key]!, names, isLeftOut)
        if (found !== null) return found
      }
    }
    if (isSeq(node) && Array.isArray(value)) {
      for (const [index, { place }] of itemsOf(this.#text, node as YAMLSeq.Parsed).entries()) {
        const found = this.#writeOutPlace(place, value[index]!, names, isLeftOut)
        if (found !== null) return found
      }
    }
    return null
  }

  #writeOutPlace(
    place: Place,
    value: ConfigValue,
    names: ReadonlySet<string>,
    isLeftOut: (node: ParsedNode) => boolean,
  ): Splice[] | null {
    const { node } = place
    if (isAlias(node)) return names.has(node.source) && !isLeftOut(node) ? this.#replace(place, value) : null
    return this.#writeOutAlias(node, value, names, isLeftOut)
  }
}

function holdsAlias(
  node: ParsedNode | null,
  names: ReadonlySet<string>,
  isLeftOut: (node: ParsedNode) => boolean,
): boolean {
  if (isAlias(node)) return names.has(node.source) && !isLeftOut(node)
  return isSeq(node) && node.items.some((item) => holdsAlias(item as ParsedNode | null, names, isLeftOut))
}

/** The keys of `among` that are wanted, with their values in `values`, where they have one. */
function pick(values: ConfigObject, among: ConfigObject, isWanted: (key: string) => boolean): ConfigObject {
  const keys = Object.keys(among).filter((key) => isWanted(key) && Object.hasOwn(values, key))
  return Object.fromEntries(keys.map((key) => [key, values[key]!]))
}

const ownValue = (object: ConfigObject, key: string): ConfigValue | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** Which entry of a longer list has to go: one that the shorter one lacks, else the first that differs. */
function surplusOf(value: readonly ConfigValue[], target: readonly ConfigValue[], from: number): number {
  const index = value.findIndex(
    (entry, at) => at >= from && !target.some((wanted) => isSameValue(entry, wanted)),
  )
  return index === -1 ? from : index
}

const indent = (lines: readonly string[], column: number): string => lines.join(`\n${' '.repeat(column)}`)

/** By how much the text indents: the column of the first key inside the first key that has lines of its own. */
function stepOf(text: string, root: ParsedNode): number {
  if (!isMap(root)) return 2
  for (const { value } of root.items) {
    if (!isMap(value) || isFlow(value) || value.items.length === 0) continue
    const column = columnOf(text, (value.items[0]!.key as ParsedNode).range![0])
    if (column > 0 && column <= 8) return column
  }
  return 2
}
