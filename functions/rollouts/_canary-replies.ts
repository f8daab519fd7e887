import type { CanaryJudgement, CanaryVerdict } from '../../lib/changes/canary.ts'
import type { CanaryValidation } from '../../lib/wire/rollouts.ts'
import { PROBLEMS, type ProblemCode, sentenceOf, wireCodeOf } from '../../runtime/problems.ts'
import { json, problemOf, type Reply } from '../../runtime/reply.ts'

/** Codes that a judged canary can be refused with. */
export const CANARY_ERRORS = [
  'canary-empty',
  'canary-too-broad',
  'collector-degraded',
  'instance-component-missing',
  'instance-remote-config-unsupported',
  'instance-target-cross-workload',
  'instance-target-not-connected',
  'invalid-count',
  'invalid-instance-target',
  'invalid-labels',
  'invalid-percentage',
  'percentage-of-everybody',
  'remote-config-unsupported',
  'unsupported-selection-strategy',
  'validation-failed',
] as const satisfies readonly ProblemCode[]

/** A judgement as the wire shows it. */
export function toCanaryValidation(judgement: CanaryJudgement): CanaryValidation {
  const { targets, shownStages, stopReasons, refusals, findings } = judgement
  const shown = { valid: refusals.length === 0, targets, stages: shownStages }
  if (refusals.length === 0) return shown
  const codes = [...refusals.map(({ code }) => String(wireCodeOf(code))), ...findings.map(({ code }) => code)]
  const sentences = refusals.map(({ code, details = {} }) => sentenceOf(code, details))
  return {
    ...shown,
    ...(stopReasons.length === 0 ? {} : { stop_reasons: [...stopReasons] }),
    error_codes: [...new Set(codes)],
    errors: [...sentences, ...findings.map(({ message }) => message)],
  }
}

/**
 * The refusal of a canary that cannot be started: its first reason, with the whole validation. The code stands behind
 * the validation, where the first version had it.
 */
export function refuseCanary(judgement: CanaryJudgement): Reply {
  const [{ code, details } = { code: 'canary-empty' as const, details: {} }] = judgement.refusals
  const error = sentenceOf(code, details ?? {})
  const body = { error, ...toCanaryValidation(judgement), code: wireCodeOf(code), ...details }
  return json(body, PROBLEMS[code].status)
}

/** The reply where nothing could be judged. */
export const refuseToJudge = (verdict: Exclude<CanaryVerdict, { ok: true }>): Reply => problemOf(verdict)
