import type { EvidencePack, ReportFormat } from '../wire/reports.ts'
import { renderCsv } from './csv.ts'
import { renderMarkdown } from './markdown.ts'
import { renderPdf } from './pdf.ts'

const CHUNK_CHARACTERS = 262_144

/** A pack in a format, in chunks of bytes; the same pack gives the same bytes. */
export function renderPack(pack: EvidencePack, format: ReportFormat): Uint8Array<ArrayBuffer>[] {
  if (format === 'pdf') return [renderPdf(pack)]
  const chunks: Uint8Array<ArrayBuffer>[] = []
  const encoder = new TextEncoder()
  let pending: string[] = []
  let length = 0
  for (const text of format === 'csv' ? renderCsv(pack) : renderMarkdown(pack)) {
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
