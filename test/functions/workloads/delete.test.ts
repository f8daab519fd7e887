import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Permission } from '../../../lib/model/permissions.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { keepInGit } from '../../support/kept-in-git.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let admin: SignedIn
let agent: FakeAgent

beforeEach(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  admin = await signIn(ctx)
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const call = (route: string, body?: object, as = admin.token) =>
  invoke(ctx, route, { as, ...(body === undefined ? {} : { body }) })
const path = () => `/api/workloads/${agent.workloadId}`
const machine = async (...permissions: Permission[]) => (await makeApiToken(ctx, admin, permissions)).token

const SET: Readonly<Record<string, () => Promise<{ status: number }>>> = {
  deletion_lifts_labels: () => call(`PUT ${path()}/trusted-labels`, { labels: { env: 'shop' } }),
  deletion_lifts_hold: () => call(`POST ${path()}/hold`, { reason: 'mine' }),
  deletion_lifts_git: () =>
    keepInGit(ctx, agent.workloadId, { as: admin, owner: 'platform', config: configYaml() }),
  deletion_lifts_variables: () => call(`PUT ${path()}/variables`, { values: { site: 'paris' } }),
}
/** With which of their rights a machine lifts it; none where a person must. */
const LIFTS: Readonly<Record<string, Permission[]>> = {
  deletion_lifts_hold: ['workload:push_config'],
  deletion_lifts_variables: ['config:create'],
}

it.each(Object.keys(SET))('%s: whoever may only delete does not lift it by that', async (code) => {
  expect((await SET[code]!()).status).toBeLessThan(300)
  const cleaner = await machine('workload:delete')
  expect(await call(`DELETE ${path()}`, undefined, cleaner)).toMatchObject({ status: 409, json: { code } })
  expect(ctx.fleet.workload(agent.workloadId)).not.toBeNull()
  const rights = LIFTS[code] ?? ['settings:manage', 'workload:push_config', 'config:create']
  const able = await machine('workload:delete', ...rights)
  expect((await call(`DELETE ${path()}`, undefined, able)).status).toBe(code in LIFTS ? 204 : 409)
  if (!(code in LIFTS)) expect((await call(`DELETE ${path()}`)).status).toBe(204)
})

it('takes with it what was set, in memory too, and the record says what', async () => {
  for (const set of Object.values(SET)) await set()
  expect((await call(`DELETE ${path()}`)).status).toBe(204)
  const [record] = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
  expect([record!.action, record!.detail]).toEqual([
    'workload.delete',
    JSON.stringify({ lifted: ['labels', 'hold', 'git', 'variables'] }),
  ])
  agent.describe()
  await ctx.advance(300)
  expect((await call(`GET ${path()}/fleet-config`)).json).not.toHaveProperty('hold')
})

it('of a workload for which nothing was set is for whoever may delete', async () => {
  const cleaner = await machine('workload:delete')
  expect((await call(`DELETE ${path()}`, undefined, cleaner)).status).toBe(204)
})
