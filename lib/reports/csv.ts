import type { EvidenceItem, EvidencePack } from '../wire/reports.ts'
import { sortedFacts } from './text-values.ts'

/** The columns of version 1, in order. */
export const CSV_COLUMNS = [
  'section_id',
  'item_id',
  'resource',
  'resource_id',
  'observed_at',
  'severity',
  'summary',
  'key',
  'value',
  'content_hash',
  'redacted',
] as const

/**
 * Where a spreadsheet that opens the file could see a formula begin: at the start of a cell, or behind what some
 * spreadsheets take for the end of a cell or line inside quotes, also with spaces before it. Includes the full-width
 * forms of `=`, `+`, `-` and `@`.
 */
const FORMULA_START =
  /(?<![\s\u0000-\u001f\u00a0\u200b\u2060\ufeff])[\s\u0000-\u001f\u00a0\u200b\u2060\ufeff]*(?=[=+\-@|%\uff1d\uff0b\uff0d\uff20])/g
const CONTROL_START = /^[\t\r\n]/

/** A cell after RFC 4180, with an apostrophe where it could be read as a formula. */
export function csvCell(text: string): string {
  const guarded = text.replace(FORMULA_START, (blank, offset: number) =>
    offset === 0 || text[offset - 1] === ';' || /[\t\r\n]/.test(blank) ? `${blank}'` : blank,
  )
  // Spreadsheets drop leading spaces and controls, so the apostrophe must be the very first character as well.
  const isShifted = /^[\s\u0000-\u001f\u00a0\u200b\u2060\ufeff]/.test(guarded) && guarded !== text
  const safe = isShifted || CONTROL_START.test(guarded) ? `'${guarded}` : guarded
  return /[",;\r\n\t]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const line = (cells: readonly string[]) => `${cells.map(csvCell).join(',')}\n`

function itemLines(sectionId: string, item: EvidenceItem): string {
  const head = [
    sectionId,
    item.id,
    item.resource,
    item.resource_id,
    item.observed_at ?? '',
    item.severity ?? '',
    item.summary,
  ]
  const tail = [item.content_hash ?? '', String(item.redacted)]
  const facts = sortedFacts(item.facts)
  if (facts.length === 0) return line([...head, '', '', ...tail])
  const left = head.map(csvCell).join(',')
  const right = tail.map(csvCell).join(',')
  return facts.map(([key, value]) => `${left},${csvCell(key)},${csvCell(value)},${right}\n`).join('')
}

/** The pack as one table, a line ended by LF for each fact of each item; an item without facts has one with neither. */
export function* renderCsv(pack: EvidencePack): Generator<string> {
  yield line(CSV_COLUMNS)
  for (const section of pack.sections) {
    for (const item of section.items) yield itemLines(section.id, item)
  }
}
