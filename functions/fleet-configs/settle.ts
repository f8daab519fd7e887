import { defineSchedule } from '../../runtime/define.ts'

/** Write down who is under which fleet config, so that a later tie leaves everybody where he is. */
export default defineSchedule({
  intervalMs: () => 15_000,
  jitterMs: 1_000,
  async run(ctx) {
    // Also what a commit of which nobody heard has left behind.
    await ctx.fleetConfigs.load()
    await ctx.fleetConfigs.settle()
  },
})
