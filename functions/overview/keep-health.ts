import { COUNT_EVERY_MS, keepHealth } from '../../lib/overview/fleet-health.ts'
import { defineSchedule } from '../../runtime/define.ts'

/** Count how the fleet is, for the overview: the worst of each five minutes is kept. */
export default defineSchedule({
  intervalMs: () => COUNT_EVERY_MS,
  jitterMs: 0,
  async run({ db, clock, fleet, views }) {
    const { workloads } = fleet.state
    await keepHealth(db, clock, { workloads, count: async () => (await views.tally()).counts })
  },
})
