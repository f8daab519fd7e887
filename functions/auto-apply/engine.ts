import { defineSchedule } from '../../runtime/define.ts'

/**
 * Apply approved versions to newcomers, and to workloads on older versions. Where none is in force or
 * nothing is to be done, the database is asked now and then only.
 */
export default defineSchedule({
  intervalMs: () => 500,
  jitterMs: 0,
  async run(ctx, signal) {
    await ctx.autoApply.work(signal)
  },
})
