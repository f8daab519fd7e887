import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { CampaignScene, SECOND } from '../../support/campaign-scene.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { makeScopedGroup, member } from '../../support/scopes.ts'

const database = await useTestDatabase()
let scene: CampaignScene
beforeEach(async () => {
  scene = await CampaignScene.open(database, 2)
})
afterEach(() => scene.ctx.close())

const FOREIGN = ['x', { newer: { a: [1] } }, [5, null]]

const store = (id: string, column: string, value: unknown) =>
  database.pool.execute(`update campaigns set ${column} = $2::jsonb where id = $1`, [
    id,
    JSON.stringify(value),
  ])

it('lists all campaigns where one has a column that cannot be read, and shows that one as far as it can be', async () => {
  const other = await scene.drafted({ name: 'Other' })
  const id = await scene.approved()
  for (const column of ['approvals', 'halt', 'plan', 'rules', 'change', 'scope', 'raised']) {
    const [row] = await database.pool.query<{ before: unknown }>(
      `select ${column} as before from campaigns where id = $1`,
      [id],
    )
    for (const value of FOREIGN) {
      await store(id, column, value)
      const { status, json } = await scene.call('GET', '')
      expect([column, status]).toEqual([column, 200])
      const listed = json as CampaignRecord[]
      expect(listed.map((campaign) => campaign.id).sort()).toEqual([id, other].sort())
      expect(listed.find((campaign) => campaign.id === id)).toMatchObject({
        name: 'Two',
        status: 'approved',
        unreadable: [column],
      })
      expect(listed.find((campaign) => campaign.id === other)).not.toHaveProperty('unreadable')
      expect(await scene.call('GET', `/${id}`)).toMatchObject({ status: 200, json: { unreadable: [column] } })
    }
    await store(id, column, row!.before)
    if (row!.before === null)
      await database.pool.execute(`update campaigns set ${column} = null where id = $1`, [id])
  }
  expect((await scene.call('GET', `/${id}`)).json).not.toHaveProperty('unreadable')
})

it('keeps one of which nobody can say what it reaches from those whose sight ends at a scope', async () => {
  const admin = await signIn(scene.ctx)
  await database.pool.execute('delete from groups where not is_system')
  await makeScopedGroup(scene.ctx, admin)
  const id = await scene.drafted()
  const sue = await member(scene.ctx, 'staging-editors')
  await store(id, 'scope', 'x')
  expect((await scene.call('GET', '', undefined, sue)).json).toEqual([])
})

it.each(['rules', 'halt'])(
  'tells of all other campaigns where the %s of one that halted cannot be read',
  async (column) => {
    const only = (n: number) => ({ scope: { workload_ids: [scene.agents[n]!.workloadId] } })
    const halted = await scene.start(only(0))
    const done = await scene.start({ ...only(1), limits: { failed: 1 } })
    await scene.work()
    for (const agent of scene.agents) agent.fail('exporter cannot start: no such host', SECOND)
    await scene.work(1_000, 3)
    expect(await scene.record(halted)).toMatchObject({ status: 'halted' })
    expect(await scene.record(done)).toMatchObject({ status: 'done' })
    await store(halted, column, { newer: 1 })
    await scene.ctx.alerts.run(new AbortController().signal)
    const { json } = await invoke(scene.ctx, 'GET /api/alerts', { as: scene.editor.token })
    const told = (json as AlertRecord[]).map(({ rule, details }) => [rule, details?.['campaign_id']])
    expect(told).toContainEqual(['campaign_failures', done])
    if (column !== 'halt') expect(told).toContainEqual(['campaign_halted', halted])
  },
)

it('carries one of which something cannot be read no further, says so once, and goes on with the others', async () => {
  const only = (n: number) => ({ scope: { workload_ids: [scene.agents[n]!.workloadId] } })
  const { log } = scene.campaigns.parts
  const error = vi.spyOn(log, 'error')
  const warn = vi.spyOn(log, 'warn')
  const unread = await scene.start(only(0))
  await store(unread, 'rules', 'x')
  await scene.start(only(1))
  await scene.work(1_000, 5)
  expect(scene.agents.map((agent) => agent.offered().at(-1) === SECOND)).toEqual([false, true])
  expect(error.mock.calls).toEqual([
    [{ table: 'campaigns', id: unread, fields: ['rules'] }, 'a stored campaign cannot be read in whole'],
  ])
  expect(warn).not.toHaveBeenCalled()
})
