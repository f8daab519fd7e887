import { defineSchedule } from '../../runtime/define.ts'

/** Look at the whole fleet twice a minute: fire, resolve, and let quiet rules speak again. */
export default defineSchedule({
  intervalMs: () => 30_000,
  jitterMs: 0,
  async run(ctx, signal) {
    const { fired, resolved } = await ctx.alerts.run(signal)
    if (fired > 0 || resolved > 0) ctx.log.info({ fired, resolved }, 'alerts')
  },
})
