import { packJson, producePack } from '../../lib/reports/produce.ts'
import { EvidencePack } from '../../lib/wire/reports.ts'
import { defineHttp, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { bytes } from '../../runtime/reply.ts'
import {
  auditProblem,
  keeperOf,
  REPORT_ERRORS,
  readRequest,
  reportBody,
  reportDeps,
  reportProblem,
} from './_report-request.ts'

/** Make an evidence pack and answer it as JSON, the form that hashes and signatures are checked against. */
export default defineHttp({
  route: 'POST /api/reports/evidence-pack',
  summary: 'Make an evidence pack and answer it as JSON.',
  access: signedIn('reports:export', 'handler'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: reportBody,
  replies: [{ status: 200, description: 'The evidence pack.', json: EvidencePack }],
  errors: REPORT_ERRORS,
  async handle({ body, actor }, ctx) {
    const read = readRequest(body)
    if (!read.ok) return read.reply
    const produced = await producePack(await reportDeps(ctx, actor), read.request, 'json')
    if (!produced.ok) return reportProblem(produced.code)
    const { frame } = produced.pack
    const recorded = await ctx.db.observe({
      action: 'report.preview',
      actor,
      resource: 'report',
      resourceId: frame.inputs_hash,
      detail: `report_type=${read.request.report_type} workloads=${frame.scope.workload_count ?? 0}`,
    })
    if (!recorded.ok) return auditProblem(recorded)
    ctx.keptReports.keep(keeperOf(actor), produced.pack)
    return bytes(streamOf(packJson(produced.pack)), 'application/json')
  },
})

async function* streamOf(chunks: Iterable<Uint8Array>): AsyncIterable<Uint8Array> {
  yield* chunks
}
