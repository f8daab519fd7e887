import { defineSchedule } from '../../runtime/define.ts'

/** Apply approved versions to newcomers. Where there is none, this asks for some every few seconds only. */
export default defineSchedule({
  intervalMs: () => 500,
  jitterMs: 0,
  async run(ctx, signal) {
    await ctx.autoApply.work(signal)
  },
})
