import { readAuditHead } from '../../lib/store/audit.ts'
import { defineSchedule } from '../../runtime/define.ts'

/**
 * Log the head of the audit chain each hour: whoever cuts records off the end of the chain cannot cut the log as well.
 */
export default defineSchedule({
  intervalMs: () => 3_600_000,
  jitterMs: 0,
  async run(ctx) {
    const { seq, hash } = await readAuditHead(ctx.db)
    ctx.log.info({ audit_seq: seq, audit_hash: hash }, 'audit chain head')
  },
})
