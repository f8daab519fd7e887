import type { RevisionRecord } from '../wire/revisions.ts'
import type { ReadOnlyReason, WorkloadRecord } from '../wire/workloads.ts'
import { clusterOf as clusterAmong, environmentOf as environmentAmong, trustedAmong } from './labels.ts'
import { placeOf as placeAmong } from './places.ts'
import { type Presence, presenceOf as presenceAmong } from './presence.ts'
import { isAllUnhealthy } from './troubles.ts'

/** Whether a push is under way, or waits: nothing has ended it yet. */
export const isOpen = ({ status, phase }: Pick<RevisionRecord, 'status' | 'phase'>): boolean =>
  status === 'pending' && phase !== 'superseded' && phase !== 'aborted'

/** A workload's environment, from its trusted or its reported labels; empty when unknown. */
export const environmentOf = ({ labels = {} }: Pick<WorkloadRecord, 'labels'>): string =>
  environmentAmong(trustedAmong(labels), labels)

/** The cluster, from labels or from the workload's identity; empty when unknown. */
export const clusterOf = ({
  labels = {},
  fingerprint_keys: keys,
}: Pick<WorkloadRecord, 'labels' | 'fingerprint_keys'>): string =>
  clusterAmong(trustedAmong(labels), labels) || keys?.['cluster'] || ''

/** What tells workloads of one name apart: namespace or host. */
export const placeOf = ({ fingerprint_keys: keys }: Pick<WorkloadRecord, 'fingerprint_keys'>): string =>
  placeAmong(keys ?? {})

/** The versions that a workload's instances have, the lowest first; of very many only some. */
export const versionsOf = ({ version, version_mix: mix }: WorkloadRecord): readonly string[] =>
  mix ? mix.lowest.map((one) => one.version) : [version ?? '']

/** Why nothing can be pushed; null when something can. */
export function readOnlyReason(
  workload: Pick<WorkloadRecord, 'type' | 'accepts_remote_config'>,
): ReadOnlyReason | null {
  if (workload.type !== 'collector') return 'not_a_collector'
  return workload.accepts_remote_config ? null : 'no_remote_config'
}

/** How a workload counts, archived or not. */
export const presenceOf = ({ status, connected_instance_count: count }: WorkloadRecord): Presence =>
  presenceAmong(status, count)

/** The status to show. */
export const statusOf = (workload: WorkloadRecord): Presence | 'archived' =>
  workload.archived_at ? 'archived' : presenceOf(workload)

/** How a row shows a workload: one whose instances are all unhealthy is worse than one of which some are. */
export const shownStatusOf = (workload: WorkloadRecord): ReturnType<typeof statusOf> | 'all_unhealthy' => {
  const status = statusOf(workload)
  return status === 'degraded' && isAllUnhealthy(workload) ? 'all_unhealthy' : status
}

/**
 * The config that failed with nothing to go back to, where nothing else is active: it is what nobody is to run, whether it
 * went out in stages or at once. Null where there is none.
 */
export function deadEndOf({
  current_config_push: push,
  active_config_hash: active,
}: {
  current_config_push?: Partial<Pick<RevisionRecord, 'aftermath' | 'config_hash'>> | undefined
  active_config_hash?: string | undefined
}): string | null {
  if (push?.aftermath?.kind !== 'nowhere_to_go' || push.config_hash === undefined) return null
  return active === undefined || active === push.config_hash ? push.config_hash : null
}

/** What a rollout that was aborted left of a workload: some instances keep its config, the others what they had. */
export interface Split {
  rolloutId: string
  hash: string
  /** The live instances that run it. */
  count: number
  /** All live instances. */
  total: number
}

/** How an aborted rollout left a workload; null where none did, or where nobody runs what it brought any more. */
export function splitOf({
  current_config_push: push,
  running_configs: running,
  connected_instance_count: total,
}: Pick<
  WorkloadRecord,
  'current_config_push' | 'running_configs' | 'connected_instance_count'
>): Split | null {
  if (push?.rollout_status !== 'aborted' || push.rollout_id === undefined) return null
  const hash = push.config_hash
  const count = running?.others.find((other) => other.config_hash === hash)?.instance_count ?? 0
  return count === 0 ? null : { rolloutId: push.rollout_id, hash, count, total }
}

/** How far a push in stages has come with a workload. */
export type Staging = Omit<Split, 'rolloutId'>

/**
 * How far the stages of a push have come; null where none are under way, one is halted, or some instance runs what is
 * neither the former nor the new config.
 */
export function stagingOf({
  current_config_push: push,
  running_configs: running,
}: Pick<WorkloadRecord, 'current_config_push' | 'running_configs'>): Staging | null {
  if (push?.rollout_status !== 'running') return null
  const [other, ...more] = running?.others ?? []
  if (running?.unknown_count !== 0 || more.length > 0 || other?.config_hash !== push.config_hash) return null
  return { hash: push.config_hash, count: other.instance_count, total: running.instance_count }
}

/** The state of a workload's config in one word. */
export type ConfigState =
  | 'not_managed'
  | 'none'
  | 'failed'
  | 'halted'
  | 'split'
  | 'applying'
  | 'drifted'
  | 'altered'
  | 'in_sync'
  | 'unknown'

/** What the config column says. */
export function configStateOf(workload: WorkloadRecord): ConfigState {
  if (readOnlyReason(workload) !== null) return 'not_managed'
  if (deadEndOf(workload) !== null) return 'failed'
  const push = workload.current_config_push
  if (push?.status === 'failed' && push.config_hash === workload.active_config_hash) return 'failed'
  if (push !== undefined && isOpen(push)) {
    if (push.rollout_status === 'halted') return 'halted'
    if (push.target_count > 0) return 'applying'
  }
  if (splitOf(workload) !== null) return 'split'
  if (!workload.active_config_hash)
    return workload.remote_config_status?.status === 'failed' ? 'failed' : 'none'
  if (workload.applying_instance_count > 0) return 'applying'
  if (workload.drifted_instance_count > 0) return 'drifted'
  if ((workload.altered_instance_count ?? 0) > 0) return 'altered'
  return workload.status === 'disconnected' ? 'unknown' : 'in_sync'
}
