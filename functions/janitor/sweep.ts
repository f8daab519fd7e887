import { sweep } from '../../lib/fleet/janitor.ts'
import { listUnreadableSettings } from '../../lib/store/settings.ts'
import { defineSchedule } from '../../runtime/define.ts'

/**
 * Say which stored settings cannot be read, archive workloads that have been disconnected for too long, remove what is past its retention, and what nothing
 * refers to.
 */
export default defineSchedule({
  intervalMs: (ctx) => ctx.config.janitorIntervalMs,
  jitterMs: 0,
  async run(ctx, signal) {
    const { db, clock, log, fleet, config } = ctx
    const settings = await listUnreadableSettings(db)
    if (settings.length > 0)
      log.error(
        { settings },
        'stored settings cannot be read; without them their defaults count, a freeze is of the whole fleet, and the approval policy is the strictest',
      )
    const { retentionDays, archiveDays, eventRetentionDays, alertRetentionDays } = config
    const { deleted } = await sweep(
      {
        db,
        clock,
        log,
        fleet,
        retentionDays,
        archiveDays,
        eventRetentionDays,
        alertRetentionDays,
        workloadsMax: fleet.limits.workloads,
        keptBytesMax: fleet.limits.keptBytes,
        keptBytesPerConnectionMax: fleet.limits.keptBytesPerConnection,
      },
      signal,
    )
    // Holds and memberships of theirs are gone as well.
    if (deleted > 0) await ctx.fleetConfigs.load()
  },
})
