import { defineSchedule } from '../../runtime/define.ts'

/** Carry started campaigns on. While all are done or there are none, the database is asked now and then only. */
export default defineSchedule({
  intervalMs: () => 200,
  jitterMs: 0,
  async run(ctx, signal) {
    await ctx.campaigns.work(signal)
  },
})
