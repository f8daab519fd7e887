import { defineSchedule } from '../../runtime/define.ts'

/** Make the webhook calls that are due; a slow endpoint only makes this run longer, never two at once. */
export default defineSchedule({
  intervalMs: () => 2_000,
  jitterMs: 0,
  run: (ctx, signal) => ctx.webhooks.run(signal),
})
