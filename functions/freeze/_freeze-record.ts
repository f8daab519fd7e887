import { countInTurns } from '../../lib/turns.ts'
import type { FreezeRecord } from '../../lib/wire/fleet-configs.ts'
import type { Context } from '../../runtime/context.ts'

const CHUNK = 500

/** The freeze as the wire shows it, with how many workloads it is about. */
export async function toFreezeRecord({ fleet, fleetConfigs }: Context): Promise<FreezeRecord> {
  const { freeze } = fleetConfigs
  if (freeze === null) return { freeze: null }
  const count = await countInTurns(
    fleet.state.workloads.values(),
    CHUNK,
    (workload) => workload.archivedAt === null && fleetConfigs.freezeOf(workload) !== null,
  )
  return {
    freeze: {
      ...(freeze.selector === null ? {} : { selector: freeze.selector }),
      reason: freeze.reason,
      until: freeze.until.toISOString(),
      set_by: freeze.setBy,
      set_at: freeze.setAt.toISOString(),
      workload_count: count,
    },
  }
}
