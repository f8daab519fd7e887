import { chooseRollbackTarget } from '../fleet/decide/push.ts'
import type { UsedComponent } from '../model/components.ts'
import { findUsedComponents } from '../store/config-contents.ts'
import type { Db } from '../store/db.ts'
import { listRollbackCandidates } from '../store/report-data.ts'
import type { RollbackRow } from '../store/report-material.ts'

/** Can at least one live instance of a workload run a config of these components? True where nothing lives. */
export type CanRun = (workloadId: string, used: readonly UsedComponent[]) => boolean

/** Where each workload would go back to, by the rule by which a rollback itself chooses. */
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
      // Asked only of those that are looked at: the first one mostly fits.
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
