import type { ActTransaction, AuditedDatabase } from '../audit/database.ts'
import type { AuditActor, AuditEvent } from '../audit/event.ts'
import type { Clock } from '../clock.ts'
import type { ComponentRef } from '../configs/check/components.ts'
import type { ConfigTarget, ConfigTargets } from '../configs/check/target.ts'
import type { ConfigEngine } from '../configs/engine.ts'
import type { ServerPolicy } from '../configs/policy/policy.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { FleetCounters } from '../fleet/state/counters.ts'
import type { FleetConfigs } from '../fleet-configs/fleet-configs.ts'
import type { Hub } from '../hub/hub.ts'
import type { Random } from '../ids.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { isStorable } from '../model/storable.ts'
import type { Approval } from '../store/approvals.ts'
import type { ValidationErrorWire } from '../wire/errors.ts'
import type { ChangeNews } from './news.ts'

/** What approvals work with. */
export interface ApprovalParts {
  db: AuditedDatabase
  clock: Clock
  random: Random
  fleet: Fleet
  counters: FleetCounters
  hub: Hub
  news: ChangeNews
  configs: ConfigEngine
  configTargets: ConfigTargets
  fleetConfigs: Pick<FleetConfigs, 'membershipOf' | 'noteHold'>
  config: { policy: ServerPolicy; runtimeValidation: { minVersion: string } }
}

/** Whoever acts on a request or a campaign, as the audit trail names them. */
export type ApprovalActor = AuditActor

type StepOf = Pick<Approval, 'id' | 'workloadId' | 'draftHash'>

/** A step of a request as the audit trail has it: with its workload, the hash of its draft, and its id. */
export const toStepEvent = (
  action: string,
  { id, workloadId, draftHash }: StepOf,
): Omit<AuditEvent, 'actor'> => ({
  action,
  resource: 'workload',
  resourceId: workloadId,
  configHash: draftHash,
  detail: id,
})

/** Record a step of a request in the audit trail. */
export const recordStep = (tx: ActTransaction, action: string, approval: StepOf): Promise<void> =>
  tx.record(toStepEvent(action, approval))

/** A text that came with a request and cannot be taken. */
export type TextRefusal = Refusal<'comment-required' | 'text-not-storable' | 'text-too-long'>

/** A draft that is not valid, or that could not be checked now. */
export type DraftRefusal =
  | { ok: false; code: 'configuration-invalid'; validationErrors: ValidationErrorWire[] }
  | { ok: false; code: 'server-busy' }

/**
 * Longest comment, in UTF-16 units: it stays for ever, in every later evidence pack. Longer ones belong into a
 * document that the comment links to.
 */
const COMMENT_LENGTH_MAX = 4_000
/** Longest name of a group or an environment. */
const NAME_LENGTH_MAX = 256

/**
 * Refuse texts, given by the names of their fields, that cannot be stored or are too long; null when all can be kept.
 */
export function refuseTexts(texts: Readonly<Record<string, string>>): TextRefusal | null {
  for (const [name, text] of Object.entries(texts)) {
    if (!isStorable(text)) return refuse('text-not-storable', { field: name })
    const most = LENGTHS[name]
    if (most !== undefined && text.length > most)
      return refuse('text-too-long', { field: name, max: most, found: text.length })
  }
  return null
}

const LENGTHS: Readonly<Record<string, number>> = {
  comment: COMMENT_LENGTH_MAX,
  break_glass_reason: COMMENT_LENGTH_MAX,
  target_group: NAME_LENGTH_MAX,
  target_env: NAME_LENGTH_MAX,
}

/** A comment without the blanks around it, where it may be stored. */
export function readComment(
  given: string,
  { isRequired }: { isRequired: boolean },
): { ok: true; text: string } | TextRefusal {
  const text = given.trim()
  if (isRequired && text === '') return refuse('comment-required')
  return refuseTexts({ comment: text }) ?? { ok: true, text }
}

/** Run all checks on a draft for a workload as it stands now. */
export async function checkDraft(
  parts: ApprovalParts,
  draftYaml: string,
  target: ConfigTarget,
): Promise<{ ok: true; required: ComponentRef[] } | DraftRefusal> {
  const found = await parts.configs.validate(draftYaml, {
    target,
    requestedVersion: '',
    minimumVersion: parts.config.runtimeValidation.minVersion,
    validatedAt: parts.clock.now(),
  })
  if (!found.ok) return found
  if (found.result.valid) return { ok: true, required: found.required }
  return { ok: false, code: 'configuration-invalid', validationErrors: found.result.errors }
}
