import { defineSchedule } from '../../runtime/define.ts'

/** Carry approved campaigns on. Where there is none, this asks for some every few seconds only. */
export default defineSchedule({
  intervalMs: () => 200,
  jitterMs: 0,
  async run(ctx, signal) {
    await ctx.campaigns.work(signal)
  },
})
