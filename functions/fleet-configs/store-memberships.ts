import { defineSchedule } from '../../runtime/define.ts'

/** Store which workload is under which fleet config, so that a later tie leaves each workload where it is. */
export default defineSchedule({
  intervalMs: () => 15_000,
  jitterMs: 1_000,
  async run(ctx) {
    // Read first: a change whose commit got no answer may be stored, and nobody has loaded it.
    await ctx.fleetConfigs.load()
    await ctx.fleetConfigs.storeMemberships()
  },
})
