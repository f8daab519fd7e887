import { chooseRollbackTarget } from '../fleet/decide/push.ts'
import type { UsedComponent } from '../model/components.ts'
import { findUsedComponents } from '../store/config-contents.ts'
import type { Db } from '../store/db.ts'
import { listRollbackCandidates } from '../store/report-data.ts'
import type { RollbackRow } from '../store/report-material.ts'

/**
 * Whether at least one live instance of a workload can run a config with these components; true where no instance is
 * live.
 */
export type CanRun = (workloadId: string, used: readonly UsedComponent[]) => boolean

/** What each workload would go back to, by the rule by which a rollback chooses (`chooseRollbackTarget`). */
export async function listRollbackRows(
  db: Db,
  workloadIds: readonly string[],
  canRun: CanRun,
): Promise<RollbackRow[]> {
  const all = await listRollbackCandidates(db, workloadIds)
  const hashes = all.flatMap(({ pinned, applied }) => [pinned, ...applied].map((one) => one?.hash ?? ''))
  const used = await findUsedComponents(db, [...new Set(hashes)])
  return all.map(({ workloadId, activeHash, pinned, applied, quarantinedHashes }) => {
    const toCandidate = ({ hash }: { hash: string }) => ({
      hash,
      isQuarantined: quarantinedHashes.includes(hash),
      // A getter, because the rule mostly takes the first candidate and never asks for the others.
      get isInvalid() {
        const components = used.get(hash)
        return components === undefined || !canRun(workloadId, components)
      },
    })
    const target = chooseRollbackTarget(
      activeHash ?? '',
      pinned === null ? null : toCandidate(pinned),
      applied.map(toCandidate),
    )
    const isPinned = target?.kind === 'last_known_good'
    const chosen = isPinned ? pinned : applied.find(({ hash }) => hash === target?.hash)
    return {
      workloadId,
      targetKind: target?.kind ?? null,
      targetHash: target?.hash ?? null,
      targetAppliedAt: chosen?.appliedAt ?? null,
      isContentAvailable: target !== null,
      quarantinedHashes,
    }
  })
}
