import { optional, string, type } from 'superstruct'
import { producePack, renderProduced } from '../../lib/reports/produce.ts'
import type { ReportFormat } from '../../lib/wire/reports.ts'
import { note } from '../../lib/wire/structs.ts'
import { defineHttp, noParams, signedIn } from '../../runtime/define.ts'
import { bytes, problem } from '../../runtime/reply.ts'
import {
  auditProblem,
  keeperOf,
  REPORT_ERRORS,
  readRequest,
  reportBody,
  reportDeps,
  reportProblem,
} from './_report-request.ts'

interface Output {
  format: ReportFormat
  extension: string
  contentType: string
}

const MARKDOWN: Output = { format: 'markdown', extension: 'md', contentType: 'text/markdown; charset=utf-8' }
const OUTPUTS: Readonly<Record<string, Output>> = {
  '': MARKDOWN,
  markdown: MARKDOWN,
  md: MARKDOWN,
  csv: { format: 'csv', extension: 'csv', contentType: 'text/csv; charset=utf-8' },
  pdf: { format: 'pdf', extension: 'pdf', contentType: 'application/pdf' },
}

const INPUTS_HASH_CHARACTERS = 12

/**
 * Make an evidence pack and answer it as a document to download. With `report_hash`, the one that the caller previewed
 * within the last ten minutes: then the document has the hashes that he has seen.
 */
export default defineHttp({
  route: 'POST /api/reports/evidence-pack/export',
  summary: 'Make an evidence pack and answer it as Markdown, CSV or PDF.',
  access: signedIn('reports:export', 'handler'),
  gate: null,
  params: noParams,
  query: type({
    format: optional(string()),
    report_hash: optional(string()),
    names: note(
      'With `true` Markdown and PDF say what people are called beside their ids: e-mail addresses, which are left out else.',
      optional(string()),
    ),
  }),
  body: reportBody,
  replies: [MARKDOWN, OUTPUTS['csv']!, OUTPUTS['pdf']!].map(({ format, contentType }) => ({
    status: 200,
    description: `The evidence pack as ${format}.`,
    contentType,
  })),
  errors: [...REPORT_ERRORS, 'pdf-unavailable', 'report-not-kept', 'unsupported-export-format'],
  async handle({ query, body, actor }, ctx) {
    const name = (query.format ?? '').trim()
    const output = Object.hasOwn(OUTPUTS, name) ? OUTPUTS[name]! : null
    if (output === null) return problem('unsupported-export-format')
    const read = readRequest(body)
    if (!read.ok) return read.reply
    const deps = await reportDeps(ctx, actor)
    const kept = query.report_hash ? ctx.keptReports.find(keeperOf(actor), query.report_hash) : null
    if (query.report_hash && kept === null) return problem('report-not-kept')
    const produced =
      kept === null ? await producePack(deps, read.request, output.format) : { ok: true as const, pack: kept }
    if (!produced.ok) return reportProblem(produced.code)
    const { frame } = produced.pack
    const withNames = query.names === 'true'
    const recorded = await ctx.db.observe({
      action: 'report.export',
      actor,
      resource: 'report',
      resourceId: frame.inputs_hash,
      detail:
        `format=${output.format} report_type=${read.request.report_type} ` +
        `workloads=${frame.scope.workload_count ?? 0}${withNames ? ' names=true' : ''}`,
    })
    if (!recorded.ok) return auditProblem(recorded)
    const rendered = await renderProduced(deps, produced.pack, output.format, { withNames })
    if (!rendered.ok) return reportProblem(rendered.code)
    const filename = `evidence-pack-${frame.inputs_hash.slice(0, INPUTS_HASH_CHARACTERS)}.${output.extension}`
    return bytes(streamOf(rendered.chunks), output.contentType, {
      'Content-Disposition': `attachment; filename="${filename}"`,
    })
  },
})

async function* streamOf(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* chunks
}
