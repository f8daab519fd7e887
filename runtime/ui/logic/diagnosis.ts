import { isOpen, readOnlyReason, type Split, splitOf } from '../../../lib/model/workload-states.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { RolloutRecord } from '../../../lib/wire/rollouts.ts'
import type { WorkloadTopology } from '../../../lib/wire/topology.ts'
import type { UnderPush, WorkloadRecord, WorkloadTrouble } from '../../../lib/wire/workloads.ts'
import { instanceName, isUnwell, listDiffering } from './instances.ts'
import { isSilent } from './pushes.ts'

/** What is wrong with a workload, most urgent first; the text and the way out follow from it. */
export type Diagnosis =
  | { kind: 'archived'; since: string }
  | { kind: 'disconnected'; since: string }
  | { kind: 'leaving'; since: string }
  | { kind: 'rolled_back'; failed: RevisionRecord | null; trouble: WorkloadTrouble }
  | { kind: 'push_failed'; push: RevisionRecord }
  | { kind: 'some_failed'; push: RevisionRecord }
  | { kind: 'rollout_halted'; rollout: RolloutRecord }
  | { kind: 'rollout'; push: RevisionRecord }
  | { kind: 'unhealthy'; count: number; total: number; first: string; push?: UnderPush }
  | { kind: 'silent'; push: RevisionRecord }
  | { kind: 'applying'; push: RevisionRecord }
  | { kind: 'split'; split: Split }
  | { kind: 'drifted'; count: number; total: number }
  | { kind: 'differs'; count: number; total: number; paths: readonly string[] }
  | { kind: 'degraded' }
  | { kind: 'approval'; count: number }
  | { kind: 'read_only'; reason: 'not_a_collector' | 'no_remote_config' }
  | { kind: 'outdated'; version: string }
  | { kind: 'nothing_assigned' }
  | { kind: 'fine'; total: number }

/** How urgent something is; it decides the colour. */
export type Tone = 'bad' | 'warn' | 'busy' | 'idle' | 'ok'

const TONES: Record<Diagnosis['kind'], Tone> = {
  archived: 'idle',
  disconnected: 'bad',
  leaving: 'warn',
  rolled_back: 'bad',
  push_failed: 'bad',
  some_failed: 'bad',
  rollout_halted: 'bad',
  rollout: 'busy',
  unhealthy: 'bad',
  silent: 'warn',
  applying: 'busy',
  split: 'warn',
  drifted: 'warn',
  differs: 'warn',
  degraded: 'warn',
  approval: 'busy',
  read_only: 'idle',
  outdated: 'warn',
  nothing_assigned: 'idle',
  fine: 'ok',
}

/** How loudly a diagnosis is shown. */
export const toneOf = (diagnosis: Diagnosis): Tone => TONES[diagnosis.kind]

/** Pushes that are under way: unhealthy instances are more urgent. */
const RUNNING: ReadonlySet<Diagnosis['kind']> = new Set(['applying', 'rollout', 'silent'])

function diagnosePush(workload: WorkloadRecord, history: readonly RevisionRecord[]): Diagnosis | null {
  const push = workload.current_config_push ?? history[0]
  if (push === undefined) return null
  const { trouble } = workload
  // What the newest push takes back, and how far it got, is for the service to say.
  if (trouble?.aftermath !== undefined && trouble.push_id !== push.push_id) {
    const failed = history.find((row) => row.push_id === trouble.push_id) ?? null
    return { kind: 'rolled_back', failed, trouble }
  }
  if (push.status === 'failed') return { kind: 'push_failed', push }
  if (push.failed_count > 0) return { kind: 'some_failed', push }
  if (!isOpen(push)) return null
  if (push.rollout_id) return { kind: 'rollout', push }
  if (isSilent(push)) return { kind: 'silent', push }
  if (push.applied_count < push.target_count) return { kind: 'applying', push }
  return null
}

/**
 * How many instances are unhealthy, as the service counts them in the record: one that is only starting is none of them,
 * and what was read of the instances a moment earlier or later says another number.
 */
function diagnoseHealth(workload: WorkloadRecord, topology: WorkloadTopology | null): Diagnosis | null {
  const { trouble } = workload
  if (!trouble) return null
  const { kind, under_push: push } = trouble
  const isOfHealth = kind === 'unhealthy' || kind === 'some_unhealthy'
  const count = (isOfHealth ? trouble.count : trouble.unhealthy_count) ?? 0
  if (count === 0) return null
  const sick = topology?.instances.find(isUnwell)
  return {
    kind: 'unhealthy',
    count,
    total: (isOfHealth ? trouble.total : trouble.instance_count) ?? 0,
    first: sick === undefined ? '' : instanceName(sick, workload),
    ...(push === undefined ? {} : { push }),
  }
}

/** The most urgent thing there is to say about a workload. Pure, so that every sentence can be tested. */
export function diagnose(
  workload: WorkloadRecord,
  topology: WorkloadTopology | null,
  history: readonly RevisionRecord[],
  rollout: RolloutRecord | null = null,
): Diagnosis {
  if (workload.archived_at) return { kind: 'archived', since: workload.archived_at }
  if (workload.status === 'disconnected') return { kind: 'disconnected', since: workload.last_seen_at }
  if (workload.trouble?.kind === 'leaving')
    return { kind: 'leaving', since: workload.trouble.since ?? workload.last_seen_at }
  const reason = readOnlyReason(workload)
  const fromPush = reason === null ? diagnosePush(workload, history) : null
  if (rollout?.status === 'halted' && fromPush?.kind === 'rollout') return { kind: 'rollout_halted', rollout }
  if (fromPush !== null && !RUNNING.has(fromPush.kind)) return fromPush
  const unhealthy = diagnoseHealth(workload, topology)
  if (unhealthy !== null) return unhealthy
  if (fromPush !== null) return fromPush
  const split = reason === null ? splitOf(workload) : null
  if (split !== null) return { kind: 'split', split }
  const total = topology?.summary.connected_count ?? workload.connected_instance_count
  if (workload.drifted_instance_count > 0)
    return { kind: 'drifted', count: workload.drifted_instance_count, total }
  const differing = topology === null ? [] : listDiffering(topology)
  if (differing[0] !== undefined) {
    const paths = differing[0].effective_mismatch_paths ?? []
    return { kind: 'differs', count: differing.length, total, paths }
  }
  if (workload.status === 'degraded') return { kind: 'degraded' }
  if (workload.waiting_approval_count > 0) return { kind: 'approval', count: workload.waiting_approval_count }
  if (workload.version_outdated) return { kind: 'outdated', version: workload.version }
  if (reason !== null) return { kind: 'read_only', reason }
  return workload.active_config_hash ? { kind: 'fine', total } : { kind: 'nothing_assigned' }
}
