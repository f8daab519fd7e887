import type { AuditFailure } from '../../lib/audit/delivery.ts'
import { scopesOf } from '../../lib/model/scopes.ts'
import type { ReportDeps, ReportFault } from '../../lib/reports/produce.ts'
import { parseReportRequest, type RequestOutcome } from '../../lib/reports/request.ts'
import { ReportExportRequest } from '../../lib/wire/reports.ts'
import type { Context } from '../../runtime/context.ts'
import { type Actor, textBody } from '../../runtime/define.ts'
import type { ProblemCode } from '../../runtime/problems.ts'
import { holdsOn } from '../../runtime/reach.ts'
import { problem, type Reply } from '../../runtime/reply.ts'

/**
 * The body of both report endpoints. Read as text, because the format is checked before the body, and every refusal has
 * a code of its own.
 */
export const reportBody = textBody({
  bytesMax: 1_048_576,
  json: ReportExportRequest,
  problems: { tooLarge: 'request-body-too-large', invalid: 'invalid-json-body' },
})

/** What both report endpoints can answer. */
export const REPORT_ERRORS: readonly ProblemCode[] = [
  'invalid-json-body',
  'invalid-scope',
  'invalid-time-range',
  'report-audit-unavailable',
  'report-build-failed',
  'report-scope-empty',
  'report-signing-unavailable',
  'request-body-too-large',
  'server-busy',
  'unsupported-redaction-mode',
  'unsupported-report-type',
  'unsupported-schema-version',
  'workload-not-found',
]

/** The checked request, or the reply that refuses it. */
export function readRequest(body: string): (RequestOutcome & { ok: true }) | { ok: false; reply: Reply } {
  const outcome = parseReportRequest(body)
  return outcome.ok ? outcome : { ok: false, reply: problem(outcome.code, { detail: outcome.detail }) }
}

/** What reports are made with. What agents have reported so far is written first, for reports read the database. */
export async function reportDeps(ctx: Context, actor: Actor): Promise<ReportDeps> {
  return {
    db: await ctx.db.upToDate(),
    clock: ctx.clock,
    log: ctx.log,
    workers: ctx.reportWorkers,
    turns: ctx.reportTurns,
    parts: ctx.edition.reports,
    minAgentVersion: ctx.recommendedVersion.version,
    mayCover: (workloadId) => holdsOn(actor, 'reports:export', ctx, workloadId),
    canRun: (workloadId, used) => ctx.fleet.canRun(workloadId, used),
  }
}

/** The reply to a report that could not be made. */
export function reportProblem(code: ReportFault): Reply {
  if (code === 'pdf-unavailable') return problem(code, { fallback_format: 'markdown' })
  return problem(code)
}

/** The 503 reply to a report whose audit record could not be written: nothing of the report is handed out. */
export const auditProblem = (failure: AuditFailure): Reply =>
  problem('report-audit-unavailable', { side_effect_status: failure.sideEffect })

/** For whom a previewed pack is kept: somebody whose rights have become others since has to make it anew. */
export const keeperOf = ({ userId, grants }: Actor): string =>
  JSON.stringify([userId, scopesOf(grants, 'reports:export')])
