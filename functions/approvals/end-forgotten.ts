import { endForgottenRequests } from '../../lib/changes/end-forgotten.ts'
import { defineSchedule } from '../../runtime/define.ts'

/** End the requests that nobody approves or pushes. */
export default defineSchedule({
  intervalMs: () => 600_000,
  jitterMs: 60_000,
  run: (ctx, signal) => endForgottenRequests(ctx, signal),
})
