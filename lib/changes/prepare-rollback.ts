import { type ComponentRef, componentAvailability } from '../configs/check/components.ts'
import type { ConfigTarget } from '../configs/check/target.ts'
import type { Workload } from '../fleet/state/model.ts'
import { toWorstHealth } from '../fleet/views/revision.ts'
import { toWorkloadConfigStatus } from '../fleet/views/workload.ts'
import { configHash } from '../model/config-hash.ts'
import { findContent } from '../store/config-contents.ts'
import type { Db } from '../store/db.ts'
import { findKnownGood } from '../store/known-good.ts'
import {
  findNewestPushOfHash,
  findSickestPushOfHash,
  type Push,
  wasEverApplied,
  wasEverApproved,
} from '../store/pushes.ts'
import type { RollbackConfig, RollbackPrepare } from '../wire/rollback.ts'
import type { ValidationResult } from '../wire/validation.ts'
import type { ApprovalActor, ApprovalParts } from './approval-parts.ts'
import { mayBringBack } from './approved-as-now.ts'
import { refuseWorkload } from './rollback-target.ts'

const DIFF_MAX = 262_144
const LABELLED_KNOWN_GOOD = /^known[-_ ]good$/i
/** After this time without a result the status of a rollback is `unknown`. */
export const ROLLBACK_TIMEOUT_SECONDS = 30

/** What is shown before a rollback, without the address and the label of the button that starts it. */
export type PreparedRollback = Omit<RollbackPrepare, 'action'> & {
  action: Pick<RollbackPrepare['action'], 'can_submit' | 'blocking_reasons' | 'warnings'>
}

/** A prepared rollback, or why it cannot be shown. */
export type PrepareOutcome =
  | { ok: true; prepared: PreparedRollback }
  | {
      ok: false
      code:
        | 'workload-not-found'
        | 'workload-archived'
        | 'known-good-not-found'
        | 'target-not-approved'
        | 'target-not-found'
        | 'server-busy'
    }
  | { ok: false; code: 'target-not-applied'; targetStatus: string }

/**
 * Put together what is shown before a rollback: both configs with their YAML, the difference, and the checks. `hash`
 * null stands for the pinned known-good config. `actor` is who would do it.
 */
export async function prepareRollback(
  parts: ApprovalParts,
  request: { workloadId: string; hash: string | null; actor: ApprovalActor },
): Promise<PrepareOutcome> {
  const target = await parts.configTargets.find(request.workloadId)
  const workload = parts.fleet.workload(request.workloadId)
  if (target === null || workload === null) return { ok: false, code: 'workload-not-found' }
  if (workload.archivedAt !== null) return { ok: false, code: 'workload-archived' }
  const pin = await findKnownGood(parts.db, workload.id)
  if (request.hash === null && pin === null) return { ok: false, code: 'known-good-not-found' }
  const hash = request.hash ?? pin!.hash
  const db = await parts.db.upToDate()
  const newest = await findNewestPushOfHash(db, workload.id, hash)
  if (newest === null) return { ok: false, code: 'target-not-found' }
  if (!(await wasEverApplied(db, workload.id, hash)))
    return { ok: false, code: 'target-not-applied', targetStatus: newest.status }
  if (!(await wasEverApproved(db, workload.id, hash))) return { ok: false, code: 'target-not-approved' }
  const pinnedHash = pin?.hash ?? null
  const wanted = await describeConfig(parts, workload, newest, hash, pinnedHash, 'history')
  const current = await describeCurrent(parts, workload, pinnedHash)
  const diff = await describeDiff(parts, current, wanted)
  if (diff === null) return { ok: false, code: 'server-busy' }
  const found = await parts.configs.validate(wanted.content ?? '', {
    target,
    requestedVersion: '',
    validatedAt: parts.clock.now(),
    minimumVersion: parts.config.runtimeValidation.minVersion,
  })
  if (!found.ok) return found
  const { labels, bySelector } = { labels: parts.counters, bySelector: request.hash === null }
  const label = labels.label(workload.id, hash)
  const source =
    pinnedHash === hash ? 'first_class_marker' : LABELLED_KNOWN_GOOD.test(label) ? 'label_convention' : 'none'
  const refused = await findRefusal(parts, db, target, { hash, actor: request.actor })
  const validation = describeValidation(parts, target, { hash, wanted, refused }, found)
  return {
    ok: true,
    prepared: {
      schema_version: 'guided-rollback-prepare.v1',
      workload: describeWorkload(workload),
      target_ref: {
        selector: bySelector ? 'known_good' : 'hash',
        source: bySelector ? 'latest_known_good' : 'push_history_row',
        workload_id: workload.id,
        target_hash: hash,
        known_good: pinnedHash === hash,
        known_good_source: source,
      },
      current_config: current,
      target_config: wanted,
      diff,
      validation,
      action: describeAction(validation),
      status_context: {
        initial_remote_config_status: toWorkloadConfigStatus(workload, { withTexts: true }),
        timeout_seconds: ROLLBACK_TIMEOUT_SECONDS,
      },
    },
  }
}

function describeWorkload(workload: Workload): Record<string, unknown> {
  return {
    id: workload.id,
    display_name: workload.displayName,
    type: workload.type,
    status: workload.status,
    accepts_remote_config: workload.acceptsRemoteConfig,
    active_config_id: workload.activeHash,
    active_config_hash: workload.activeHash,
    remote_config_status: toWorkloadConfigStatus(workload, { withTexts: true }),
    available_components: workload.availableComponents,
  }
}

async function describeConfig(
  parts: ApprovalParts,
  workload: Workload,
  push: Push | null,
  hash: string,
  pinnedHash: string | null,
  source: RollbackConfig['source'],
): Promise<RollbackConfig> {
  const content = await findContent(parts.db, hash)
  const label = parts.counters.label(workload.id, hash)
  return {
    hash,
    content_available: content !== null,
    ...(content === null ? {} : { content: content.body, content_sha256: configHash(content.body) }),
    source,
    metadata: {
      known_good: pinnedHash === hash,
      ...(label === '' ? {} : { label }),
      ...(push === null
        ? {}
        : {
            applied_at: push.submittedAt.toISOString(),
            pushed_by: push.pushedBy,
            previous_status: push.status,
            ...(push.error === null ? {} : { error_message: push.error.title }),
          }),
      ...toWorstHealth(await findSickestPushOfHash(await parts.db.upToDate(), workload.id, hash)),
    },
  }
}

async function describeCurrent(
  parts: ApprovalParts,
  workload: Workload,
  pinnedHash: string | null,
): Promise<RollbackConfig> {
  const hash = workload.activeHash
  if (hash === null)
    return { hash: '', content_available: false, source: 'active_config', metadata: { known_good: false } }
  return describeConfig(parts, workload, workload.active?.push ?? null, hash, pinnedHash, 'active_config')
}

/** The difference of both configs; null while the config workers are busy. */
async function describeDiff(
  { configs }: Pick<ApprovalParts, 'configs'>,
  current: RollbackConfig,
  wanted: RollbackConfig,
): Promise<RollbackPrepare['diff'] | null> {
  const base = {
    direction: 'current_to_target' as const,
    target_hash: wanted.hash,
    ...(current.hash === '' ? {} : { base_hash: current.hash }),
  }
  if (current.content === undefined || wanted.content === undefined)
    return {
      ...base,
      status: 'unavailable',
      computation: 'frontend_raw_inputs_only',
      inputs: {
        current_content_available: current.content !== undefined,
        target_content_available: wanted.content !== undefined,
      },
      message: 'There is no current config to compare with.',
    }
  const labels = {
    before: `Current ${current.hash.slice(0, 8)}`,
    after: `Rollback target ${wanted.hash.slice(0, 8)}`,
  }
  const asked = { before: current.content, after: wanted.content, labels, charactersMax: DIFF_MAX }
  const found = await configs.lines(asked)
  if (!found.ok || found.diff === null) return null
  const { text, truncated } = found.diff
  return {
    ...base,
    status: text === '' ? 'empty' : 'available',
    computation: 'backend_raw',
    raw_diff: {
      format: 'unified',
      language: 'yaml',
      text,
      truncated,
      base_label: labels.before,
      target_label: labels.after,
    },
  }
}

/** Why the rollback would be refused, beside what the checks of the config say; null where it would not. */
async function findRefusal(
  parts: ApprovalParts,
  db: Db,
  target: ConfigTarget,
  { hash, actor }: { hash: string; actor: ApprovalActor },
): Promise<keyof typeof REFUSALS | null> {
  const refused = await refuseWorkload(parts, target)
  if (refused !== null) return refused.code
  return (await mayBringBack(parts, db, actor, target, hash)) ? null : 'approved-for-less'
}

const REFUSALS = {
  'approved-for-less':
    'It was approved here by less than is asked now, so no token may bring it back: somebody who is signed in may.',
  'workload-archived': 'The workload is archived.',
  'workload-not-collector': 'The workload is not a collector.',
  'remote-config-unsupported': 'The workload does not accept remote config.',
  'workload-not-connected': 'No instance that could take the config is connected.',
} as const

type Validation = RollbackPrepare['validation']

function describeValidation(
  parts: ApprovalParts,
  target: ConfigTarget,
  { hash, wanted, refused }: { hash: string; wanted: RollbackConfig; refused: keyof typeof REFUSALS | null },
  found: { result: ValidationResult; required: readonly ComponentRef[] },
): Validation {
  const { result } = found
  const sourceOf = (checkId?: string) => (checkId === 'component_availability' ? 'capabilities' : 'yaml')
  const findings: Validation['findings'] = [
    ...result.errors.map((error) => ({
      ...error,
      severity: 'error',
      blocking: true,
      source: sourceOf(error.check_id),
    })),
    ...result.warnings.map((warning) => ({
      ...warning,
      blocking: false,
      source: sourceOf(warning.check_id),
    })),
  ]
  if (refused !== null) {
    findings.push({
      code: refused.replaceAll('-', '_'),
      message: REFUSALS[refused],
      severity: 'error',
      blocking: true,
      source: 'remote_config',
    })
  }
  const isValid = findings.every((finding) => !finding.blocking)
  const hasWarnings = findings.length > 0
  return {
    status: isValid ? (hasWarnings ? 'valid_with_warnings' : 'valid') : 'invalid',
    valid: isValid,
    can_confirm: isValid,
    checked_at: result.validated_at,
    validator_version: 'full-validator.v1',
    inputs: {
      workload_id: target.workloadId,
      workload_type: target.type,
      accepts_remote_config: target.acceptsRemoteConfig,
      ...availableComponents(parts.fleet.workload(target.workloadId)),
      target_hash: hash,
      ...(wanted.content_sha256 === undefined ? {} : { target_content_sha256: wanted.content_sha256 }),
    },
    findings,
    unavailable_components: unavailableComponents(found.required, target),
  }
}

function availableComponents(workload: Workload | null): Record<string, unknown> {
  const known = workload?.availableComponents ?? null
  if (known === null) return {}
  return {
    available_components: known,
    ...(known.hash === '' ? {} : { available_components_hash: known.hash }),
  }
}

/** The components that no instance has. */
function unavailableComponents(
  required: readonly ComponentRef[],
  target: ConfigTarget,
): Validation['unavailable_components'] {
  const { missing, availableTypes } = componentAvailability(required, target)
  return missing.map(({ category, id, type, path }) => ({
    category,
    component_id: id,
    component_type: type,
    path,
    available: [...(availableTypes.get(category) ?? [])],
    blocking: true,
  }))
}

function describeAction(validation: Validation): PreparedRollback['action'] {
  const texts = (isBlocking: boolean) =>
    validation.findings.filter((finding) => finding.blocking === isBlocking).map(({ message }) => message)
  return { can_submit: validation.can_confirm, blocking_reasons: texts(true), warnings: texts(false) }
}
