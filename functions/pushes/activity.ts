import { array, optional, string, type } from 'superstruct'
import { countPushesByDay } from '../../lib/store/push-activity.ts'
import { PushActivityDay } from '../../lib/wire/pushes.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'

const DAYS = 7
const DAY_MS = 86_400_000

/** How many pushes were submitted on each of the last seven UTC days, today last. */
export default defineHttp({
  route: 'GET /api/pushes/activity',
  summary: 'Count the pushes of the last seven days.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: type({ window: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'Seven days, oldest first.', json: array(PushActivityDay) }],
  errors: ['unsupported-window'],
  async handle({ query }, ctx) {
    if ((query.window || '7d') !== '7d') {
      return problem('unsupported-window', {
        error: 'unsupported window; only 7d is supported',
        windows: '7d',
      })
    }
    const todayMs = Math.floor(ctx.clock.now().getTime() / DAY_MS) * DAY_MS
    const firstMs = todayMs - (DAYS - 1) * DAY_MS
    const counts = new Map(
      (await countPushesByDay(ctx.db, new Date(firstMs))).map(({ day, count }) => [day, count]),
    )
    const days = Array.from({ length: DAYS }, (_, i): PushActivityDay => {
      const day = new Date(firstMs + i * DAY_MS).toISOString().slice(0, 10)
      return { day, count: counts.get(day) ?? 0 }
    })
    return json(days)
  },
})
