import { readAuditHead } from '../../lib/store/audit.ts'
import { defineSchedule } from '../../runtime/define.ts'

/** Say the chain's head in the log each hour: whoever cuts the chain's end cannot cut the log's as well. */
export default defineSchedule({
  intervalMs: () => 3_600_000,
  jitterMs: 0,
  async run(ctx) {
    const { seq, hash } = await readAuditHead(ctx.db)
    ctx.log.info({ audit_seq: seq, audit_hash: hash }, 'audit chain head')
  },
})
