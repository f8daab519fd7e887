import type { Workload } from '../fleet/state/model.ts'
import { placeFieldOf } from '../model/places.ts'
import type { StoredFleetConfig, StoredVersion, StoredVersionSummary } from '../store/fleet-configs.ts'
import type { StoredHold } from '../store/holds.ts'
import type { ManagedFleetConfig } from '../store/managed-fleet-configs.ts'
import type {
  FleetConfigRecord,
  FleetConfigVersion,
  FleetConfigVersionSummary,
  FleetConfigWorkload,
  HoldRecord,
} from '../wire/fleet-configs.ts'
import { type ConfigCounts, NO_COUNTS } from './counts.ts'
import type { FleetConfigs } from './fleet-configs.ts'

/** A fleet config as the wire shows it; `ranCommits`, where they were asked for, as `listRanCommits` has them. */
export function toFleetConfigRecord(
  configs: FleetConfigs,
  config: StoredFleetConfig,
  all: ReadonlyMap<string, ConfigCounts>,
  ranCommits: ReadonlyMap<string, string> = new Map(),
): FleetConfigRecord {
  const counts = all.get(config.id) ?? NO_COUNTS
  const keepers = [...counts.keptBy].flatMap(([id, { all, inGit }]) => {
    const keeper = configs.config(id)
    return keeper === null
      ? []
      : [{ id, name: keeper.name, priority: keeper.priority, workload_count: all, in_git_count: inGit }]
  })
  return {
    ...toDescription(config, configs.managedOf(config.id), ranCommits.get(config.id)),
    workload_count: counts.under,
    conflict_count: counts.conflicts,
    held_count: counts.held,
    ...(keepers.length === 0 ? {} : { kept_by: keepers }),
  }
}

type Counted = 'workload_count' | 'conflict_count' | 'held_count' | 'kept_by'

/** What of a fleet config the fleet has no part in. */
const toDescription = (
  config: StoredFleetConfig,
  managed: ManagedFleetConfig | null,
  ranCommit: string | undefined,
): Omit<FleetConfigRecord, Counted> => ({
  id: config.id,
  name: config.name,
  ...(config.description === '' ? {} : { description: config.description }),
  selector: config.selector,
  priority: config.priority,
  newest_version: config.newestVersion,
  ...(managed === null
    ? {}
    : {
        managed: {
          ...toInGit(managed),
          ...(ranCommit === undefined ? {} : { ran_commit_sha: ranCommit }),
        },
      }),
  created_by: config.createdBy,
  created_at: config.createdAt.toISOString(),
  updated_at: config.updatedAt.toISOString(),
})

/** Who keeps a fleet config in Git, and what is asked for there. */
export const toInGit = ({ owner, version, commitSha, commitAuthor }: ManagedFleetConfig) => ({
  owner,
  version,
  ...(commitSha === '' ? {} : { commit_sha: commitSha }),
  ...(commitAuthor === '' ? {} : { commit_author: commitAuthor }),
})

/** A version as lists show it. */
export const toVersionSummary = (
  version: StoredVersionSummary,
  takenBack: ReadonlyMap<number, string>,
): FleetConfigVersionSummary => ({
  number: version.number,
  hash: version.hash,
  comment: version.comment,
  author: version.author,
  created_at: version.createdAt.toISOString(),
  rolled_back: takenBack.has(version.number),
  ...(takenBack.has(version.number) ? { rolled_back_by: takenBack.get(version.number)! } : {}),
})

/** A version as the wire shows it, with its text and values. */
export const toVersionRecord = (
  version: StoredVersion,
  takenBack: ReadonlyMap<number, string>,
): FleetConfigVersion => ({
  ...toVersionSummary(version, takenBack),
  content: version.body,
  variables: version.variables.map(({ name, type, isRequired, pattern, fallback, description, label }) => ({
    name,
    type,
    required: isRequired,
    ...(pattern === null ? {} : { pattern }),
    ...(fallback === null ? {} : { default: fallback }),
    ...(description === '' ? {} : { description }),
    ...(label === null ? {} : { label }),
  })),
  ...(version.valueTable === null
    ? {}
    : {
        table: {
          label: version.valueTable.label,
          rows: Object.fromEntries(
            Object.entries(version.valueTable.rows).map(([key, row]) => [key, { ...row }]),
          ),
        },
      }),
})

/** A hold as the wire shows it. */
export const toHoldRecord = (hold: StoredHold, now: Date): HoldRecord => ({
  workload_id: hold.workloadId,
  reason: hold.reason,
  held_by: hold.heldBy,
  held_at: hold.heldAt.toISOString(),
  until: hold.dueAt.toISOString(),
  overdue: hold.dueAt <= now,
})

/** A workload under a fleet config, as the wire shows it. */
export function toConfigWorkload(
  configs: FleetConfigs,
  workload: Workload,
  version: number | undefined,
  now: Date,
): FleetConfigWorkload {
  const hold = configs.holdOf(workload.id)
  const hash = workload.activeHash
  return {
    workload_id: workload.id,
    display_name: workload.displayName,
    ...placeFieldOf(workload.fingerprintKeys),
    status: workload.status,
    ...(hash === null ? {} : { active_config_hash: hash }),
    ...(version === undefined ? {} : { version }),
    rivals: configs.membershipOf(workload).rivals.map((id) => configs.config(id)?.name ?? id),
    ...(hold === null ? {} : { hold: toHoldRecord(hold, now) }),
  }
}
