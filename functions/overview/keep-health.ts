import { COUNT_EVERY_MS, keepHealth } from '../../lib/overview/fleet-health.ts'
import { defineSchedule } from '../../runtime/define.ts'

/** Count how the fleet is, for the overview. A minute's rhythm, so that no five minutes are left out. */
export default defineSchedule({
  intervalMs: () => COUNT_EVERY_MS / 5,
  jitterMs: 0,
  async run({ db, clock, fleet, views }) {
    const { workloads } = fleet.state
    await keepHealth(db, clock, { workloads, count: async () => (await views.tally()).counts })
  },
})
