import { sweep } from '../../lib/fleet/janitor.ts'
import type { Alert } from '../../lib/store/alerts.ts'
import { defineSchedule } from '../../runtime/define.ts'

/** Archive what has been disconnected for too long, trim old events, forget what nothing refers to. */
export default defineSchedule({
  intervalMs: (ctx) => ctx.config.janitorIntervalMs,
  jitterMs: 0,
  async run(ctx, signal) {
    const { db, clock, log, fleet, config } = ctx
    const { retentionDays, eventRetentionDays } = config
    const alertResolved = (alert: Alert) => ctx.alerts.notices.resolved(alert)
    await sweep({ db, clock, log, fleet, retentionDays, eventRetentionDays, alertResolved }, signal)
  },
})
