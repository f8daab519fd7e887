import { recordAlongside } from '../../../lib/audit/alongside.ts'
import { clearPin, markKnownGood } from '../../../lib/changes/known-good.ts'
import { labelRevision } from '../../../lib/changes/label-revision.ts'
import { type Alert, resolveByOperator } from '../../../lib/store/alerts.ts'
import type { SimService } from '../service/sim-service.ts'
import { AUTHOR, ask, type OperatorWorld } from './operator-world.ts'

/** Archives, deletes, names and pins, through what the handlers of `functions/` call, and as they do. */
export class InventoryOperator {
  readonly #world: OperatorWorld
  /** Everything that was ever asked to be deleted. */
  readonly deleted = new Set<string>()

  constructor(world: OperatorWorld) {
    this.#world = world
  }

  async archive(id: string): Promise<void> {
    await ask(this.#world, `archive ${id.slice(0, 4)}`, async ({ fleet, parts }) => {
      return recordAlongside(parts.audit, (record) =>
        fleet.archive(id, (tx) =>
          record(tx, { action: 'workload.archive', actor: AUTHOR, resource: 'workload', resourceId: id }),
        ),
      )
    })
  }

  async remove(id: string): Promise<void> {
    this.deleted.add(id)
    await ask(this.#world, `delete ${id.slice(0, 4)}`, async ({ fleet, parts }) => {
      return recordAlongside(parts.audit, (record) =>
        fleet.remove(id, (tx) =>
          record(tx, { action: 'workload.delete', actor: AUTHOR, resource: 'workload', resourceId: id }),
        ),
      )
    })
  }

  async setLabels(id: string): Promise<void> {
    const labels = { team: this.#world.dice.pick(['red', 'blue', 'green']) }
    await ask(this.#world, `label ${id.slice(0, 4)} ${labels.team}`, ({ fleet, parts }) =>
      recordAlongside(parts.audit, (record) =>
        fleet.setTrustedLabels(id, labels, (tx) =>
          record(tx, {
            action: 'workload.trusted_labels',
            actor: AUTHOR,
            resource: 'workload',
            resourceId: id,
          }),
        ),
      ),
    )
  }

  async nameRevision(workloadId: string, hash: string): Promise<void> {
    const label = this.#world.dice.pick(['', 'v1', 'v2'])
    await ask(this.#world, `name ${hash.slice(0, 6)} "${label}"`, ({ parts }) =>
      recordAlongside(parts.audit, (record) =>
        labelRevision(parts, { workloadId, hash, label, actor: AUTHOR }, record),
      ),
    )
  }

  async pin(workloadId: string, hash: string): Promise<void> {
    await ask(this.#world, `pin ${hash.slice(0, 6)}`, ({ parts }) =>
      markKnownGood(parts, {
        ...{ workloadId, hash, actor: AUTHOR, replaceReason: '', ifCurrent: null, isForced: true },
      }),
    )
  }

  async unpin(workloadId: string): Promise<void> {
    await ask(this.#world, `unpin ${workloadId.slice(0, 4)}`, ({ parts }) =>
      clearPin(parts, { workloadId, actor: AUTHOR }),
    )
  }

  async resolveAlert(alertId: string): Promise<void> {
    await ask(this.#world, `resolve ${alertId.slice(0, 4)}`, (service) => resolveAlert(service, alertId))
  }
}

async function resolveAlert({ parts, alerts }: SimService, alertId: string) {
  let resolved: Alert | null = null
  const outcome = await parts.audit.change(async (tx, record) => {
    resolved = await resolveByOperator(tx, alertId, parts.clock.now())
    if (resolved === null) return
    await record({ action: 'alert.resolve', actor: AUTHOR, resource: 'alert', resourceId: alertId })
  })
  if (outcome.ok && resolved !== null) alerts.notices.resolved(resolved)
  return outcome
}
