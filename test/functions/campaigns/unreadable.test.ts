import { afterEach, beforeEach, expect, it } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { CampaignScene } from '../../support/campaign-scene.ts'
import { signIn } from '../../support/invoke.ts'
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
