import { defineSchedule } from '../../runtime/define.ts'

/** Carry approved campaigns on. Where there is none, this asks nobody anything. */
export default defineSchedule({
  intervalMs: () => 200,
  jitterMs: 0,
  async run(ctx, signal) {
    await ctx.campaigns.work(signal)
  },
})
