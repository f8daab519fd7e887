import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { type AuditHead, readAuditHead } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import { listNames } from '../store/users.ts'
import type { ReportFormat } from '../wire/reports.ts'
import type { WorkerPool } from '../workers/pool.ts'
import { type EncodedSection, encodePack } from './canonical.ts'
import { type GatheredMaterial, gatherMaterial } from './gather.ts'
import type { FramedPack, ReportJob, ReportJobResult } from './jobs.ts'
import type { PackTarget, SignedAudit } from './pack.ts'
import type { NormalRequest } from './request.ts'
import type { CanRun } from './rollback-rows.ts'
import { resolveReportScope } from './scope.ts'
import type { ReportSigner } from './signer.ts'
import type { ReportTurns } from './turns.ts'

/** What an edition brings to reports. */
export interface ReportParts {
  signer: ReportSigner
  /** Asks the edition's verifier what it found in the audit chain; null where the edition has none. */
  verifySignedAudit: (() => Promise<SignedAudit>) | null
}

/** The threads that make and render packs. */
export type ReportWorkers = WorkerPool<ReportJob, ReportJobResult>

/** What making a report needs. */
export interface ReportDeps {
  db: Database
  clock: Clock
  log: Log
  workers: ReportWorkers
  turns: ReportTurns
  parts: ReportParts
  /** The recommended version (`RecommendedVersion`), which versions are compared with; empty when there is none. */
  minAgentVersion: string
  canRun: CanRun
  /** Whether whoever asks may have this workload in a report. */
  mayCover(workloadId: string): boolean
}

/** Whoever signed in last is named; with so many a document finds everybody whom it could name. */
const NAMED_MAX = 20_000

/** A finished pack: its frame with the signatures, its sections as canonical bytes. */
export interface FinishedPack {
  frame: FramedPack
  sections: EncodedSection[]
}

/** Why a report was not made. */
export type ReportFault =
  | 'out-of-scope'
  | 'workload-not-found'
  | 'report-scope-empty'
  | 'report-build-failed'
  | 'report-signing-unavailable'
  | 'pdf-unavailable'
  | 'server-busy'

/** Resolve a request's scope, read its material, and make the pack for one format; nothing is rendered yet. */
export async function producePack(
  deps: ReportDeps,
  request: NormalRequest,
  target: PackTarget,
): Promise<{ ok: true; pack: FinishedPack } | { ok: false; code: ReportFault }> {
  if (!deps.turns.take()) return { ok: false, code: 'server-busy' }
  const gathered = await gather(deps, request).finally(() => deps.turns.give())
  if (!gathered.ok) return gathered
  const generatedAt = deps.clock.now().toISOString()
  const signedAudit = (await deps.parts.verifySignedAudit?.()) ?? null
  const job: ReportJob = {
    kind: 'assemble',
    frame: { request, target, generatedAt, signedAudit, auditHead: gathered.auditHead },
    ...gathered.material,
  }
  const outcome = await deps.workers.run(
    job,
    job.pages.map(({ bytes }) => bytes.buffer),
  )
  if (!outcome.ok || outcome.value.kind === 'rendered') {
    deps.log.error({ cause: outcome.ok ? 'wrong answer' : outcome.cause }, 'evidence pack was not built')
    return { ok: false, code: 'report-build-failed' }
  }
  if (outcome.value.kind === 'pdf-unavailable') {
    deps.log.error({ cause: outcome.value.cause }, 'PDF renderer unavailable')
    return { ok: false, code: 'pdf-unavailable' }
  }
  const { frame, sections } = outcome.value
  const signed = await deps.parts.signer.sign(frame.report_hash, deps.clock.now().toISOString())
  if (!signed.ok) return signed
  return { ok: true, pack: { frame: { ...frame, signatures: [signed.signature] }, sections } }
}

/** Read everything in one snapshot, so that all sections show the same moment. */
function gather(
  deps: ReportDeps,
  request: NormalRequest,
): Promise<
  | { ok: true; material: GatheredMaterial; auditHead: AuditHead | null }
  | { ok: false; code: 'workload-not-found' | 'report-scope-empty' | 'out-of-scope' }
> {
  return deps.db.snapshot('report', async (tx) => {
    const scope = await resolveReportScope(tx, request.scope)
    if (!scope.ok) return scope
    // A report that silently left workloads out would be taken for one of all of them.
    if (!scope.workloadIds.every((id) => deps.mayCover(id))) return { ok: false, code: 'out-of-scope' }
    const material = await gatherMaterial(tx, scope.workloadIds, request, deps)
    const head = await readAuditHead(tx)
    return { ok: true, material, auditHead: head.seq === 0 ? null : head }
  })
}

/** The canonical JSON of a pack, ended by a newline, in chunks. */
export function* packJson(pack: FinishedPack): Generator<Uint8Array<ArrayBuffer>> {
  yield* encodePack(pack.frame, pack.sections)
  yield new TextEncoder().encode('\n')
}

/** Render a pack as a document, where that is asked for with the names of people. Its bytes are transferred to the thread: the pack cannot be used afterwards. */
export async function renderProduced(
  deps: Pick<ReportDeps, 'db' | 'workers' | 'log'>,
  pack: FinishedPack,
  format: ReportFormat,
  { withNames }: { withNames: boolean },
): Promise<
  | { ok: true; chunks: Uint8Array<ArrayBuffer>[] }
  | { ok: false; code: 'report-build-failed' | 'pdf-unavailable' }
> {
  const chunks = encodePack(pack.frame, pack.sections)
  const people = withNames ? await listNames(deps.db, NAMED_MAX) : new Map<string, string>()
  const outcome = await deps.workers.run(
    { kind: 'render', format, chunks, people },
    chunks.map(({ buffer }) => buffer),
  )
  if (outcome.ok && outcome.value.kind === 'rendered') return { ok: true, chunks: outcome.value.chunks }
  deps.log.error({ cause: outcome.ok ? 'wrong answer' : outcome.cause, format }, 'report was not rendered')
  return { ok: false, code: format === 'pdf' ? 'pdf-unavailable' : 'report-build-failed' }
}
