import { defineSchedule } from '../../runtime/define.ts'

/** Forget sessions whose tokens have expired; nobody can use them, they only take room. */
export default defineSchedule({
  intervalMs: () => 3_600_000,
  jitterMs: 60_000,
  async run(ctx) {
    const count = await ctx.identity.trimSessions()
    if (count > 0) ctx.log.info({ count }, 'expired sessions removed')
  },
})
