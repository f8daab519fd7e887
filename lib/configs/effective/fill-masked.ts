import { isMap, isScalar, isSeq } from 'yaml'
import { readFirstDocument } from '../yaml/document.ts'
import { isMasked } from './match.ts'

/** What a text has somewhere that shows a mask (`isMasked`), however it is written: most have none, and are not read. */
const MAY_BE_MASKED = /redacted|\*{3}|x{5}|•|\\/i

/** A part of a text, and what is put in its place. */
interface Filling {
  from: number
  to: number
  text: string
}

/**
 * The config that a collector reports, with the draft's own value wherever it shows a mask instead of a secret: nobody
 * can tell whether the draft changes such a value, so a diff must not show a change there. A mask stays where the draft
 * has no value, or one of several lines.
 */
export function fillMasked(reported: string, draft: string): string {
  if (!MAY_BE_MASKED.test(reported)) return reported
  const [one, other] = [readFirstDocument(reported), readFirstDocument(draft)]
  if (!one.ok || !other.ok || one.source !== reported) return reported
  const fillings: Filling[] = []
  collect(one.contents, other.contents, other.source, fillings)
  let filled = reported
  for (const { from, to, text } of fillings.reverse())
    filled = `${filled.slice(0, from)}${text}${filled.slice(to)}`
  return filled
}

/** Walk both texts together, as deep as the reader of both allows; the fillings come in the order of the text. */
function collect(reported: unknown, draft: unknown, source: string, into: Filling[]): void {
  if (isMap(reported) && isMap(draft)) {
    const values = new Map(draft.items.map(({ key, value }) => [isScalar(key) ? key.value : key, value]))
    for (const { key, value } of reported.items)
      if (isScalar(key)) collect(value, values.get(key.value), source, into)
    return
  }
  if (isSeq(reported) && isSeq(draft)) {
    for (const [at, item] of reported.items.entries()) collect(item, draft.items[at], source, into)
    return
  }
  if (!isScalar(reported) || !isScalar(draft) || !isMasked(reported.value)) return
  if (!reported.range || !draft.range) return
  const text = source.slice(draft.range[0], draft.range[1])
  // A block of several lines would need the indentation of its new place.
  if (text !== '' && !text.includes('\n')) into.push({ from: reported.range[0], to: reported.range[1], text })
}
