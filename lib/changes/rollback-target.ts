import type { ComponentRef } from '../configs/check/components.ts'
import type { ConfigTarget } from '../configs/check/target.ts'
import { policyForWorkload } from '../configs/policy/policy.ts'
import type { PolicyFinding } from '../wire/policy.ts'
import { type ApprovalParts, checkDraft, type DraftRefusal } from './approval-parts.ts'

/** Why a workload as it stands takes no rollback. */
export type WorkloadRefusal = {
  ok: false
  code:
    | 'workload-archived'
    | 'workload-not-collector'
    | 'remote-config-unsupported'
    | 'workload-not-connected'
}

/** Refuse a rollback that the workload cannot take: as any push, it needs a connected instance that accepts configs. */
export async function refuseWorkload(
  parts: ApprovalParts,
  target: ConfigTarget,
): Promise<WorkloadRefusal | null> {
  const workload = parts.fleet.workload(target.workloadId)
  if (workload === null || workload.archivedAt !== null) return { ok: false, code: 'workload-archived' }
  // An agent that accepts configs has shown that it is no plain SDK.
  if (workload.type !== 'collector' && !workload.acceptsRemoteConfig)
    return { ok: false, code: 'workload-not-collector' }
  if (!workload.acceptsRemoteConfig) return { ok: false, code: 'remote-config-unsupported' }
  return (await parts.fleet.canTakeConfig(workload)) ? null : { ok: false, code: 'workload-not-connected' }
}

/** Run the checks of any push, and evaluate the config policy: its findings are told, but do not block a rollback. */
export async function checkRollback(
  parts: ApprovalParts,
  target: ConfigTarget,
  text: string,
): Promise<{ ok: true; required: ComponentRef[]; findings: PolicyFinding[] } | DraftRefusal> {
  const checked = await checkDraft(parts, text, target)
  if (!checked.ok) return checked
  const current = await parts.configTargets.currentConfig(target.workloadId)
  const scope = { targetEnv: '', targetGroup: '' }
  const found = await parts.configs.policy(
    policyForWorkload(target, { candidate: text, current }, scope, parts.config.policy),
  )
  return found.ok ? { ok: true, required: checked.required, findings: found.evaluation.findings } : found
}
