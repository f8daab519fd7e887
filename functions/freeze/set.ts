import { readUntil } from '../../lib/fleet-configs/holds.ts'
import { isStorable } from '../../lib/model/storable.ts'
import { FLEET_CONFIG_RULES, readSelector, SELECTOR_ERRORS } from '../../lib/selectors/read-selector.ts'
import { storeFreeze } from '../../lib/store/freeze.ts'
import { FreezeRecord, FreezeRequest } from '../../lib/wire/fleet-configs.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, jsonBody, noParams, noQuery } from '../../runtime/define.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'
import { toFreezeRecord } from './_freeze-record.ts'

const REASON_LENGTH_MAX = 1_024
const FREEZE_MAX_MS = 365 * 86_400_000

/**
 * Freeze workloads, in place of the freeze that was there. Rollbacks go on; any other push to a frozen workload needs
 * the glass broken. In person, as lifting it: a freeze of fewer workloads lifts that of the others.
 */
export default defineHttp({
  route: 'PUT /api/freeze',
  summary: 'Freeze the configs of workloads until a time.',
  access: inPerson('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(FreezeRequest, { bytesMax: 65_536 }),
  replies: [{ status: 200, description: 'The freeze as it is now.', json: FreezeRecord }],
  errors: ['reason-invalid', 'until-invalid', ...SELECTOR_ERRORS, 'audit-unavailable'],
  async handle({ body, actor }, ctx) {
    const now = ctx.clock.now()
    const until = readUntil(body.until, now, FREEZE_MAX_MS)
    if (until === null) return problem('until-invalid')
    const reason = body.reason.trim()
    if (reason === '' || reason.length > REASON_LENGTH_MAX || !isStorable(reason))
      return problem('reason-invalid', { max: REASON_LENGTH_MAX })
    const read = body.selector === undefined ? null : readSelector(body.selector, FLEET_CONFIG_RULES)
    if (read !== null && !read.ok) return problemOf(read)
    const freeze = { selector: read?.selector ?? null, reason, until, setBy: actor.email, setAt: now }
    const stored = await ctx.db.change('freeze.set', actor, async (tx) => {
      await storeFreeze(tx, freeze)
      await tx.record({
        action: 'freeze.set',
        resource: 'settings',
        resourceId: 'freeze',
        detail: JSON.stringify({ selector: freeze.selector, reason, until: until.toISOString() }),
      })
      return { ok: true }
    })
    if (!stored.ok) return auditUnavailable(stored)
    await ctx.fleetConfigs.load()
    return json(await toFreezeRecord(ctx))
  },
})
