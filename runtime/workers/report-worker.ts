import type { ReportJob, ReportJobResult } from '../../lib/reports/jobs.ts'
import { assemblePack, pdfWarnings } from '../../lib/reports/pack.ts'
import { PdfCanvas } from '../../lib/reports/pdf-canvas.ts'
import { renderPack } from '../../lib/reports/render.ts'
import { joinPages } from '../../lib/store/report-material.ts'
import type { EvidencePack } from '../../lib/wire/reports.ts'
import { serveWorker } from '../../lib/workers/serve.ts'

function findPdfFault(): string | null {
  try {
    // Reads the fonts, which is what could be missing or broken.
    new PdfCanvas({ title: '', subject: '', keywords: '', createdAt: new Date(0), fileId: '0'.repeat(32) })
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function work(job: ReportJob): ReportJobResult {
  if (job.kind === 'render') {
    const pack = JSON.parse(Buffer.concat(job.chunks).toString('utf8')) as EvidencePack
    const isOfOtherFormat =
      job.format === 'pdf' && !pack.warnings?.some(({ code }) => code === 'pdf_minimal_renderer')
    // The hashes are those of the pack as it was previewed; what is said of the PDF is no part of them.
    const warnings = isOfOtherFormat ? [...(pack.warnings ?? []), ...pdfWarnings(pack.sections, pack)] : null
    const shown = warnings === null ? pack : { ...pack, warnings }
    return { kind: 'rendered', chunks: renderPack(shown, job.format, job.people) }
  }
  const fault = job.frame.target === 'pdf' ? findPdfFault() : null
  if (fault !== null) return { kind: 'pdf-unavailable', cause: fault }
  const { frame, sections } = assemblePack(job.frame, { ...joinPages(job.pages), ...job.rest })
  return { kind: 'assembled', frame, sections }
}

/** The buffers of a result go back without being copied. */
function listBuffers(result: ReportJobResult): ArrayBuffer[] {
  if (result.kind === 'rendered') return result.chunks.map(({ buffer }) => buffer)
  if (result.kind === 'assembled')
    return result.sections.flatMap(({ chunks }) => chunks.map(({ buffer }) => buffer))
  return []
}

serveWorker<ReportJob, ReportJobResult>(work, listBuffers)
