import { findRan } from '../../lib/desired/apply.ts'
import type { ManagedConfig } from '../../lib/store/managed-configs.ts'
import type { ManagedConfigRecord } from '../../lib/wire/desired.ts'

/** A workload that is kept in Git, as the wire shows it. */
export function toManagedRecord(managed: ManagedConfig, activeHash: string | null): ManagedConfigRecord {
  const { ranCommitSha: ranCommit } = findRan(managed, activeHash)
  const { workloadId, owner, isAccepted, configHash, commitSha, commitAuthor, appliedAt, appliedBy } = managed
  return {
    workload_id: workloadId,
    owner,
    accepted: isAccepted,
    config_hash: configHash,
    ...(commitSha === '' ? {} : { commit_sha: commitSha }),
    ...(commitAuthor === '' ? {} : { commit_author: commitAuthor }),
    ...(ranCommit === '' ? {} : { ran_commit_sha: ranCommit }),
    applied_at: appliedAt.toISOString(),
    applied_by: appliedBy,
  }
}
