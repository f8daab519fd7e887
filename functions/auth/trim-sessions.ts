import { defineSchedule } from '../../runtime/define.ts'

/** Forget sessions whose tokens have expired and failed logins that no longer count; they only take room. */
export default defineSchedule({
  intervalMs: () => 3_600_000,
  jitterMs: 60_000,
  async run(ctx) {
    const count = await ctx.identity.trim()
    if (count > 0) ctx.log.info({ count }, 'expired sessions removed')
  },
})
