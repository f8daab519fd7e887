import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { approveConfig, configOf, type FaultFleet, startFaultFleet, untilAllOpen } from './support/fleet.ts'

const AGENTS = 40
let fleet: FaultFleet

beforeAll(async () => {
  fleet = await startFaultFleet({ agents: AGENTS })
})
afterAll(() => fleet.end())

/** What the database holds of the newest push of a config. */
async function readPush(hash: string) {
  const [push] = await fleet.rows<Record<string, unknown>>(
    `select p.push_id, p.status, p.target_count,
       (select count(*) from push_targets t where t.push_id = p.push_id)::int as targets,
       (select status from approvals a where a.push_id = p.push_id) as approval,
       (select active_push_id = p.push_id from workloads w where w.id = p.workload_id) as is_active
     from pushes p where p.config_hash = $1`,
    [hash],
  )
  const [audit] = await fleet.rows<{ n: number }>(
    `select count(*)::int as n from audit_events where config_hash = $1 and action like '%push%'`,
    [hash],
  )
  return {
    push: push as Record<string, unknown> | undefined,
    audits: (audit as Record<string, unknown>)['n'],
  }
}

// The delays reach from before the push's transaction begins to after the last offer was sent.
test.each([0, 3, 8, 15, 30, 60, 150])(
  'a kill -9 %i ms into a push leaves all of it or nothing',
  async (delayMs) => {
    const yaml = configOf(`killed after ${delayMs} ms`)
    const hash = createHash('sha256').update(yaml).digest('hex')
    const path = await approveConfig(fleet, yaml)
    const answer = fleet.service.api.call('POST', path, { comment: 'go' }).then(
      ({ status }) => status,
      () => null,
    )
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    await fleet.service.restart('SIGKILL')
    const status = await answer
    const { push, audits } = await readPush(hash)

    if (status === 202) expect(push).toBeDefined()
    if (push === undefined) {
      expect(audits).toBe(0)
    } else {
      expect(push).toMatchObject({
        target_count: AGENTS,
        targets: AGENTS,
        approval: 'pushed',
        is_active: true,
      })
      expect(audits).toBe(1)
    }
    await untilAllOpen(fleet, AGENTS)
    if (push === undefined) return
    // Agents that had not got the config get it now, and the push ends as it would have without the kill.
    await eventually(
      'everybody runs it and the push is applied',
      async () =>
        fleet.load.running()[hash] === AGENTS && (await readPush(hash)).push?.['status'] === 'applied',
      { explain: () => JSON.stringify(fleet.load.running()) },
    )
  },
)
