import { clearPin, markKnownGood } from '../../../lib/changes/known-good.ts'
import { labelRevision } from '../../../lib/changes/label-revision.ts'
import { resolveByOperator } from '../../../lib/store/alerts.ts'
import type { SimService } from '../service/sim-service.ts'
import { AUTHOR, ask, type OperatorWorld } from './operator-world.ts'

/**
 * An operator who archives, deletes and labels workloads and names and pins revisions, by the same calls of `lib` as
 * the handlers in `functions/`.
 */
export class InventoryOperator {
  readonly #world: OperatorWorld
  /** Ids of all workloads whose deletion was ever asked for. */
  readonly deleted = new Set<string>()

  constructor(world: OperatorWorld) {
    this.#world = world
  }

  async archive(id: string): Promise<void> {
    await ask(this.#world, `archive ${id.slice(0, 4)}`, ({ fleet }) =>
      fleet.archive(id, AUTHOR, (tx) =>
        tx.record({ action: 'workload.archive', resource: 'workload', resourceId: id }),
      ),
    )
  }

  async remove(id: string): Promise<void> {
    this.deleted.add(id)
    await ask(this.#world, `delete ${id.slice(0, 4)}`, ({ fleet }) =>
      fleet.remove(id, AUTHOR, (tx) =>
        tx.record({ action: 'workload.delete', resource: 'workload', resourceId: id }),
      ),
    )
  }

  async setLabels(id: string): Promise<void> {
    const labels = { team: this.#world.dice.pick(['red', 'blue', 'green']) }
    await ask(this.#world, `label ${id.slice(0, 4)} ${labels.team}`, ({ fleet }) =>
      fleet.setTrustedLabels(id, labels, AUTHOR, (tx) =>
        tx.record({ action: 'workload.trusted_labels', resource: 'workload', resourceId: id }),
      ),
    )
  }

  async nameRevision(workloadId: string, hash: string): Promise<void> {
    const label = this.#world.dice.pick(['', 'v1', 'v2'])
    await ask(this.#world, `name ${hash.slice(0, 6)} "${label}"`, ({ ctx }) =>
      labelRevision(ctx, { workloadId, hash, label, actor: AUTHOR }),
    )
  }

  async pin(workloadId: string, hash: string): Promise<void> {
    await ask(this.#world, `pin ${hash.slice(0, 6)}`, ({ ctx }) =>
      markKnownGood(ctx, {
        workloadId,
        hash,
        actor: AUTHOR,
        replaceReason: '',
        ifCurrent: null,
        isForced: true,
        stillMay: async () => true,
      }),
    )
  }

  async unpin(workloadId: string): Promise<void> {
    await ask(this.#world, `unpin ${workloadId.slice(0, 4)}`, ({ ctx }) =>
      clearPin(ctx, { workloadId, actor: AUTHOR, stillMay: async () => true }),
    )
  }

  async resolveAlert(alertId: string): Promise<void> {
    await ask(this.#world, `resolve ${alertId.slice(0, 4)}`, (service) => resolveAlert(service, alertId))
  }
}

function resolveAlert({ ctx }: SimService, alertId: string) {
  return ctx.db.change('alert.resolve', AUTHOR, async (tx) => {
    const resolved = await resolveByOperator(tx, alertId, ctx.clock.now())
    if (resolved === null) return { ok: true }
    await tx.record({ action: 'alert.resolve', resource: 'alert', resourceId: alertId })
    tx.afterCommit(() => ctx.alerts.notices.resolved(resolved))
    return { ok: true }
  })
}
