import type { EvidencePack, ReportFormat } from '../wire/reports.ts'
import { renderCsv } from './csv.ts'
import { renderMarkdown } from './markdown.ts'
import { renderPdf } from './pdf.ts'
import type { People } from './people.ts'

const CHUNK_CHARACTERS = 262_144

/**
 * A pack in a format, in chunks of bytes; the same pack, and the same names, give the same bytes. CSV is for programs, and has
 * ids as the pack.
 */
export function renderPack(
  pack: EvidencePack,
  format: ReportFormat,
  people: People = new Map(),
): Uint8Array<ArrayBuffer>[] {
  if (format === 'pdf') return [renderPdf(pack, people)]
  const chunks: Uint8Array<ArrayBuffer>[] = []
  const encoder = new TextEncoder()
  let pending: string[] = []
  let length = 0
  for (const text of format === 'csv' ? renderCsv(pack) : renderMarkdown(pack, people)) {
    pending.push(text)
    length += text.length
    if (length < CHUNK_CHARACTERS) continue
    chunks.push(encoder.encode(pending.join('')))
    pending = []
    length = 0
  }
  if (pending.length > 0) chunks.push(encoder.encode(pending.join('')))
  return chunks
}
