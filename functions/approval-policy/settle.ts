import { settleApprovalPolicy } from '../../lib/changes/approval-policy.ts'
import { defineSchedule } from '../../runtime/define.ts'

/** Bring a policy that asks less into force once it has waited its day. */
export default defineSchedule({
  intervalMs: () => 60_000,
  jitterMs: 1_000,
  run: (ctx) => settleApprovalPolicy(ctx),
})
