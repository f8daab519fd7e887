import type { ManagedConfig } from '../../lib/store/managed-configs.ts'
import type { ManagedConfigRecord } from '../../lib/wire/desired.ts'

/** A workload that is kept in Git, as the wire shows it. */
export function toManagedRecord(managed: ManagedConfig): ManagedConfigRecord {
  const { workloadId, owner, configHash, commitSha, commitAuthor, appliedAt, appliedBy } = managed
  return {
    workload_id: workloadId,
    owner,
    config_hash: configHash,
    ...(commitSha === '' ? {} : { commit_sha: commitSha }),
    ...(commitAuthor === '' ? {} : { commit_author: commitAuthor }),
    applied_at: appliedAt.toISOString(),
    applied_by: appliedBy,
  }
}
