import { DatabaseCounters } from '../../lib/wire/system.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'

/** The connection pool in nine numbers, and nothing that says where the database is. */
export default defineHttp({
  route: 'GET /api/system/database',
  summary: "The connection pool's counters.",
  access: signedIn('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The counters.', json: DatabaseCounters }],
  errors: ['database-statistics-unavailable'],
  handle(_, ctx) {
    if (ctx.databaseStatistics === null) return problem('database-statistics-unavailable')
    const statistics = ctx.databaseStatistics()
    const counters: DatabaseCounters = {
      max_open_connections: statistics.maxOpenConnections,
      open_connections: statistics.openConnections,
      in_use: statistics.inUse,
      idle: statistics.idle,
      wait_count: statistics.waitCount,
      wait_duration_ms: statistics.waitDurationMs,
      max_idle_closed: statistics.maxIdleClosed,
      max_idle_time_closed: statistics.maxIdleTimeClosed,
      max_lifetime_closed: statistics.maxLifetimeClosed,
    }
    return json(counters)
  },
})
