import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { type FaultyDatabase, faultyDatabase } from '../../support/faulty-database.ts'
import { type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { makeScopedGroup, member } from '../../support/scopes.ts'

const database = await useTestDatabase()
let db: FaultyDatabase
let scene: AutoApplyScene
/** Statements since a test set it to zero. */
let asked = 0

beforeEach(async () => {
  const faulty = faultyDatabase(database.pool)
  const query = (...args: Parameters<typeof faulty.query>) => {
    asked++
    return faulty.query(...args)
  }
  db = { ...faulty, query: query as typeof faulty.query }
  scene = await AutoApplyScene.open(database, db)
})
afterEach(() => scene.ctx.close())

/** Add campaigns like one that is there, in this status. */
const copy = (id: string, count: number, status: string) =>
  database.pool.execute(
    `insert into campaigns select made.* from campaigns c, generate_series(1, $2::int) n,
       jsonb_populate_record(c, jsonb_build_object('id', c.id || $3 || n, 'status', $3::text)) made
     where c.id = $1`,
    [id, count, status],
  )

/** The statements that reading the list takes. */
async function cost(as: SignedIn): Promise<{ statements: number; listed: CampaignRecord[] }> {
  asked = 0
  const { status, json } = await scene.call('GET /api/campaigns', undefined, as)
  expect(status).toBe(200)
  return { statements: asked, listed: json as CampaignRecord[] }
}

describe('GET /api/campaigns', () => {
  it('asks as much for many campaigns of versions as for one', async () => {
    const id = await scene.carry(1)
    const one = await cost(scene.editor)
    expect(one.listed).toMatchObject([{ id, status: 'done', counts: { applied: 3 } }])
    await copy(id, 20, 'done')
    const many = await cost(scene.editor)
    expect(many.listed).toHaveLength(21)
    expect(many.statements).toBe(one.statements)
  })

  it('asks as much for many that are cut to scopes as for one', async () => {
    const id = await scene.carry(1)
    await scene.apply(1)
    scene.connect('vm-4')
    await scene.ctx.advance(300)
    for (let n = 0; n < 3; n++) await scene.work(500)
    await scene.applyAll(['vm-4'])
    await scene.work(1_000)
    await database.pool.execute(
      `update campaigns set scope = scope || '{"cut_to": [{"key": "muster/env", "values": ["staging"]}]}' where id = $1`,
      [id],
    )
    const one = await cost(scene.editor)
    expect(one.listed).toMatchObject([{ id, by_itself: { count: 1, in_cut: { count: 0, without_base: 0 } } }])
    await copy(id, 20, 'done')
    const many = await cost(scene.editor)
    expect(many.listed).toHaveLength(21)
    expect(many.statements).toBe(one.statements)
  })

  it('makes no record of a campaign that the reader is not shown', async () => {
    const admin = await signIn(scene.ctx)
    await database.pool.execute('delete from groups where not is_system')
    await makeScopedGroup(scene.ctx, admin)
    const id = await scene.carry(1, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    const sue = await member(scene.ctx, 'staging-editors')
    // How far a campaign is approved that waits takes statements of its own.
    await copy(id, 1, 'requested')
    // The first call of somebody also reads who that is.
    await cost(sue)
    const few = await cost(sue)
    expect(few.listed).toEqual([])
    await copy(id, 20, 'approved')
    expect(await cost(sue)).toEqual(few)
    expect((await cost(scene.editor)).listed).toHaveLength(22)
  })
})
