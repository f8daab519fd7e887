import { toPushSinceGit } from '../desired/overruled.ts'
import { isCapable } from '../fleet/decide/abilities.ts'
import { isHeldToConfig } from '../fleet/decide/drift.ts'
import { hashOfAny } from '../fleet/decide/running-hash.ts'
import type { FollowedPush, Instance, Workload } from '../fleet/state/model.ts'
import { assignmentOf } from '../fleet/state/state.ts'
import { isInstanceDrifted } from '../fleet/views/drifted.ts'
import type { TextAccess } from '../fleet/views/errors.ts'
import { causeOfHalt } from '../fleet/views/halt-cause.ts'
import { whyDrifted } from '../fleet/views/instance-why.ts'
import { whyWith } from '../fleet/views/why.ts'
import type { RevisionRecord } from '../wire/revisions.ts'
import type { DriftCollector } from './drift-overview.ts'

/** The fields of a revision that everybody may see in the overview. */
const SHOWN = [
  'workload_id',
  'config_id',
  'config_hash',
  'push_id',
  'seq',
  'status',
  'phase',
  'applied_at',
  'submitted_at',
  'sent_at',
  'updated_at',
  'timed_out_waiting_for_opamp_status',
  'target_count',
  'applied_count',
  'failed_count',
  'pending_count',
  'timed_out_count',
  'no_status_count',
  'aftermath',
] as const satisfies readonly (keyof RevisionRecord)[]

function toShown(revision: RevisionRecord): Partial<RevisionRecord> {
  return Object.fromEntries(SHOWN.flatMap((key) => (key in revision ? [[key, revision[key]]] : [])))
}

/** The rollout that a part of a workload is assigned; null where there is none. */
function toStages({ rollout, live }: Workload): DriftCollector['rollout'] {
  if (rollout === null) return null
  const { id, status } = rollout.stored
  const hash = rollout.followed.push.hash
  const isStill = status === 'halted' || status === 'aborted'
  return { id, hash, status: isStill ? status : 'under_way', runningCount: live.runningCount(hash) }
}

/**
 * Why the first instance that drifted has not applied its config; where none has, why the rollout that makes them differ
 * stands still. Null where nobody knows.
 */
function faultOf(
  workload: Workload,
  first: Instance | null,
  { texts, now }: Reader,
): DriftCollector['fault'] {
  const halted = workload.rollout?.stored.status === 'halted' ? workload.rollout.followed.push : null
  const ofHalt = halted === null ? {} : whyWith(causeOfHalt(workload, halted), texts)
  const why = first === null ? ofHalt : whyDrifted(first, texts, now)
  return Object.keys(why).length === 0 ? null : why
}

/** Who is told, and when. */
interface Reader {
  texts: TextAccess
  now: Date
}

/** A collector of the fleet as the drift overview looks at it; `revision` is that of its newest push. */
export function toDriftCollector(
  workload: Workload,
  revision: RevisionRecord | undefined,
  isCompatible: (instance: Instance, assigned: FollowedPush) => boolean,
  reader: Reader,
  others: Pick<
    DriftCollector,
    'alteredCount' | 'alteredSince' | 'hasDriftAlert' | 'hasVersionAlert' | 'isVersionOutdated' | 'wish'
  >,
): DriftCollector {
  const push = workload.newestPush
  // A rollout takes as long as its stages; while it runs the push is not pending too long.
  const isOpen = push?.status === 'pending' && push.phase !== 'superseded' && push.phase !== 'aborted'
  const capable = [...workload.live.instances()].filter(isCapable)
  const instances = capable.map((instance) => ({
    hash: hashOfAny(instance),
    isHeld: isHeldToConfig(instance, assignmentOf(instance), isCompatible),
    isDrifted: isInstanceDrifted(instance, isCompatible),
  }))
  const firstDrifted = instances.findIndex(({ isDrifted }) => isDrifted)
  return {
    id: workload.id,
    displayName: workload.displayName,
    fingerprintKeys: workload.fingerprintKeys,
    version: workload.version,
    labels: workload.labels,
    trustedLabels: workload.trustedLabels,
    acceptsRemoteConfig: workload.acceptsRemoteConfig,
    activeHash: workload.activeHash,
    rollout: toStages(workload),
    newestPush:
      push === null
        ? null
        : {
            ...toPushSinceGit(push),
            isPending: isOpen && workload.rollout === null,
            sentAt: push.sentAt,
            record: revision === undefined ? {} : toShown(revision),
          },
    instances,
    fault: faultOf(workload, capable[firstDrifted] ?? null, reader),
    reportedHash: workload.remoteConfigStatus?.configHash ?? '',
    availableComponents: workload.availableComponents?.components ?? null,
    ...others,
  }
}
