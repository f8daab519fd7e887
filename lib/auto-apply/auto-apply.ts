import { readApprovalHelp } from '../changes/approval-help.ts'
import { tallyOf } from '../changes/judge-approvals.ts'
import { findLastEnded, listOpenAutoApplies, type StoredAutoApply } from '../store/auto-apply.ts'
import { countAutoApplyTargets } from '../store/auto-apply-targets.ts'
import type { AutoApplyRecord, AutoApplyState } from '../wire/auto-apply.ts'
import { listValueAuthorsOfRequest, readAutoApplyRule, readAutoApplyStanding } from './approval.ts'
import { AutoApplyEngine } from './engine.ts'
import { type ComingGroups, gatherGroups } from './groups.ts'
import type { AutoApplyParts } from './parts.ts'
import { toAutoApplyRecord } from './record.ts'
import type { LeftOut } from './run.ts'

/** Who is shown a version that applies by itself. */
export interface AutoApplyReader {
  userId: string
  /** Which workloads are shown; null for whoever may not request configs, and is not told who could approve. */
  sees: ((workloadId: string) => boolean) | null
}

/** Versions that apply by themselves: what carries them out, and what is shown of them. */
export class AutoApply {
  readonly parts: AutoApplyParts
  readonly #engine: AutoApplyEngine
  /** The groups that are being worked out, one after the other: many at one time would take turns from agents together. */
  #groups: Promise<unknown> = Promise.resolve()

  constructor(parts: AutoApplyParts) {
    this.parts = parts
    this.#engine = new AutoApplyEngine(parts, (autoApply) => void this.#tell(autoApply.fleetConfigId))
  }

  /** Do what is due now. */
  work(signal: AbortSignal): Promise<void> {
    return this.#engine.work(signal)
  }

  /** Commits whose answers were lost have ended: read what they stored at the next call of `work`. */
  doubtsEnded(): void {
    this.#engine.doubtsEnded()
  }

  /** Call this after an operator decided something: browsers are told, and the engine looks at it at once. */
  decided({ fleetConfigId }: Pick<StoredAutoApply, 'fleetConfigId'>): void {
    this.#engine.wake()
    void this.#tell(fleetConfigId)
  }

  /**
   * What is in force for a fleet config, what is requested, and how many workloads are left out and why, as this user
   * is shown it.
   */
  async state(fleetConfigId: string, reader: AutoApplyReader): Promise<AutoApplyState> {
    const { inForce, request, run } = await this.#read(fleetConfigId)
    const last = inForce === undefined ? await findLastEnded(this.parts.db, fleetConfigId) : null
    return {
      ...(inForce === undefined ? {} : { in_force: await this.record(inForce, reader) }),
      ...(request === undefined ? {} : { request: await this.record(request, reader) }),
      ...(last?.endCause === 'not_continued' ? { ended: await this.record(last, reader) } : {}),
      ...(run?.lookedAt ? { looked_at: run.lookedAt.toISOString() } : {}),
      left_out: countReasons(run?.leftOut ?? new Map()),
    }
  }

  /** What is in force for a fleet config, with how it goes, and what is requested. */
  async #read(fleetConfigId: string) {
    const open = await listOpenAutoApplies(this.parts.db, fleetConfigId)
    const inForce = open.find(({ status }) => status !== 'requested')
    const request = open.find(({ status }) => status === 'requested')
    return { inForce, request, run: inForce === undefined ? null : this.#engine.run(inForce.id) }
  }

  /** The groups of all workloads that a request reaches, of those that the reader sees; see `gatherGroups`. */
  groups(asked: StoredAutoApply, sees: (workloadId: string) => boolean): Promise<ComingGroups | null> {
    const gathered = this.#groups.then(() => gatherGroups(this.parts, asked, sees))
    this.#groups = gathered.catch(() => {})
    return gathered
  }

  /** Why workloads are left out of what is in force for a fleet config, by workload. */
  async leftOut(fleetConfigId: string): Promise<ReadonlyMap<string, LeftOut>> {
    return (await this.#read(fleetConfigId)).run?.leftOut ?? new Map()
  }

  /** What was asked for or is in force, as this user is shown it. */
  async record(autoApply: StoredAutoApply, reader: AutoApplyReader): Promise<AutoApplyRecord> {
    const isAsked = autoApply.status === 'requested'
    const approval = isAsked
      ? await this.#approval(autoApply, reader)
      : { tally: null, help: null, rule: null }
    const counts = await countAutoApplyTargets(this.parts.db, autoApply.id)
    return toAutoApplyRecord(autoApply, counts, { ...approval, withComments: reader.sees !== null })
  }

  /** How far a request is approved, who could, and by which rule. */
  async #approval(request: StoredAutoApply, { userId, sees }: AutoApplyReader) {
    const { db, clock } = this.parts
    const valueAuthors = await listValueAuthorsOfRequest(this.parts, db, request)
    const about = { valueAuthors, alsoAsking: [userId], now: clock.now() }
    const standing = await readAutoApplyStanding(db, request, about)
    const help = sees === null ? null : await readApprovalHelp(db, standing, { userId, sees })
    const rule = sees === null ? null : await readAutoApplyRule(db, request.plan, standing)
    return { tally: tallyOf(standing, userId), help, rule }
  }

  async #tell(fleetConfigId: string): Promise<void> {
    try {
      // Only what holds for everybody: how far a request is approved is worked out for each reader, from all workloads.
      const { inForce, request, run } = await this.#read(fleetConfigId)
      const own = inForce === undefined ? null : await this.record(inForce, { userId: '', sees: null })
      this.parts.hub.broadcast({
        type: 'auto_apply_update',
        auto_apply: {
          fleet_config_id: fleetConfigId,
          ...(own === null ? {} : { status: own.status, number: own.number, counts: own.counts }),
          is_requested: request !== undefined,
          left_out: countReasons(run?.leftOut ?? new Map()),
        },
      })
    } catch (error) {
      const about = { err: error, fleet_config_id: fleetConfigId }
      this.parts.log.warn(about, 'browsers were not told of a version that applies by itself')
    }
  }
}

function countReasons(leftOut: ReadonlyMap<string, LeftOut>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { reason } of leftOut.values()) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}
