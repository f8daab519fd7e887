import { afterEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import { CampaignScene, FIRST, SECOND } from '../../support/campaign-scene.ts'
import { type FakeAgent, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()

describe('a workload of two instances of which a roll-back reaches one', () => {
  let scene: CampaignScene
  afterEach(() => scene.ctx.close())

  /** The campaign is carried and rolled back; the first instance takes its former config, the second does this. */
  async function rolledBack(second: (agent: FakeAgent) => void): Promise<string> {
    scene = await CampaignScene.open(database, 1)
    const [one] = scene.agents
    const other = fakeAgent(scene.ctx.fleet, { host: 'vm-1' })
    await scene.ctx.advance(300)
    other.apply()
    const id = await scene.start()
    await scene.work(300)
    for (const agent of [one!, other]) agent.apply(SECOND)
    await scene.work(300, 3)
    expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 1 } })
    expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await scene.work(300)
    one!.apply(FIRST)
    second(other)
    await scene.work(60_000, 14)
    expect((await scene.record(id)).status).toBe('rolled_back')
    return id
  }

  it.each([
    [
      'fails',
      (agent: FakeAgent) => agent.fail('no such exporter'),
      'Applied on 1 of 2 instances; 1 failed (',
    ],
    ['says nothing', () => {}, 'Applied on 1 of 2 instances; 1 has not answered'],
  ])('is not said to be taken back where the other %s: how far it got is', async (_, second, title) => {
    const id = await rolledBack(second)
    const target = await scene.targetOf(id, scene.agents[0]!)
    expect(target).toMatchObject({ state: 'rollback_failed', cause: 'in_part' })
    expect(target.title).toContain(title)
    const { json } = await scene.call('GET', `/${id}/figures`)
    expect(json).toMatchObject({ missed: [{ state: 'rollback_failed', cause: 'in_part', count: 1 }] })
  })
})

describe('a campaign whose roll-back the first to answer cannot take', () => {
  it('goes on to all others, brings what it took back to nobody again, and keeps the former config', async () => {
    const scene = await CampaignScene.open(database, 1)
    const [first] = scene.agents
    const others = [1, 2, 3].map(() => fakeAgent(scene.ctx.fleet, { host: 'vm-1' }))
    await scene.ctx.advance(300)
    for (const other of others) other.apply()
    const id = await scene.start()
    await scene.work(300)
    for (const agent of [first!, ...others]) agent.apply(SECOND)
    await scene.work(300, 3)
    expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await scene.work(300)
    first!.fail('port in use')
    await scene.work(300)
    for (const other of others) other.apply(FIRST)
    await scene.work(300, 3)
    expect((await scene.record(id)).status).toBe('rolled_back')
    expect(await scene.targetOf(id, first!)).toMatchObject({ state: 'rollback_failed', cause: 'in_part' })
    for (const agent of [first!, ...others]) expect(agent.offered()).toEqual([FIRST, SECOND, FIRST])
    const workload = scene.ctx.fleet.workload(first!.workloadId)!
    expect([workload.activeHash, [...workload.quarantinedHashes]]).toEqual([FIRST, []])
    await scene.ctx.close()
  })

  it('ends where nobody can, and leaves it at that', async () => {
    const scene = await CampaignScene.open(database, 1)
    const [first] = scene.agents
    const id = await scene.start()
    await scene.work(300)
    first!.apply(SECOND)
    await scene.work(300, 3)
    expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await scene.work(300)
    first!.fail('port in use')
    await scene.work(300, 3)
    expect((await scene.record(id)).status).toBe('rolled_back')
    expect(await scene.targetOf(id, first!)).toMatchObject({ state: 'rollback_failed' })
    expect(first!.offered()).toEqual([FIRST, SECOND, FIRST])
    await scene.ctx.close()
  })
})

describe('a campaign that somebody takes back', () => {
  it('is listed once for a second person, who says whether that was right', async () => {
    const scene = await CampaignScene.open(database, 2)
    const id = await scene.start()
    await scene.work(300)
    for (const agent of scene.agents) agent.apply(SECOND)
    await scene.work(300, 3)
    expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    const listed = async (status: string) => {
      const { json } = await invoke(scene.ctx, `GET /api/reviews?status=${status}`, {
        as: scene.editor.token,
      })
      return json as ReviewRecord[]
    }
    const [review, ...more] = await listed('open')
    expect(more).toEqual([])
    expect(review).toMatchObject({
      kind: 'campaign_rollback',
      campaign_id: id,
      workload_id: '',
      reason: 'Two: no',
    })
    const look = (as: SignedIn) =>
      invoke(scene.ctx, `POST /api/reviews/${review!.id}`, {
        as: as.token,
        body: { comment: 'looked', accepted: true },
      })
    expect(await look(scene.editor)).toMatchObject({ status: 409, json: { code: 'review_needs_another' } })
    expect(await look(scene.approver)).toMatchObject({ status: 200 })
    expect(await listed('open')).toEqual([])
    expect(await listed('done')).toMatchObject([{ campaign_id: id, accepted: true }])
    await scene.ctx.close()
  })

  it('is seen and looked at by somebody with a scope only where all that it reaches lies within', async () => {
    const scene = await CampaignScene.open(database, 2)
    const admin = await signIn(scene.ctx)
    const as = (who: SignedIn, route: string, body?: object) =>
      invoke(scene.ctx, route, { as: who.token, body })
    for (const [at, env] of ['dev', 'staging'].entries())
      await as(admin, `PUT /api/workloads/${scene.agents[at]!.workloadId}/trusted-labels`, {
        labels: { env },
      })
    const inScope = async (...values: string[]) => {
      const group = `only-${values.join('-')}`
      const scope = { key: 'muster/env', values }
      expect((await as(admin, 'POST /api/groups', { name: group, role: 'editor', scope })).status).toBe(201)
      return signIn(scene.ctx, { groups: [group] })
    }
    const takenBack = async (n: number, ...values: string[]) => {
      const selector = { match_expressions: [{ key: 'muster/env', operator: 'In', values }] }
      const id = await scene.start({ change: { kind: 'text', yaml: configYaml(n) }, scope: { selector } })
      await scene.work(300)
      for (const agent of scene.offered(configHash(configYaml(n)))) agent.apply(configHash(configYaml(n)))
      await scene.work(300, 3)
      expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
      await scene.work(300)
      for (const agent of scene.offered(FIRST)) agent.apply(FIRST)
      await scene.work(300, 3)
      return id
    }
    const [wide, narrow] = [await takenBack(2, 'dev', 'staging'), await takenBack(3, 'dev')]
    const [dev, both] = [await inScope('dev'), await inScope('dev', 'staging')]
    const listed = async (who: SignedIn) => {
      const reviews = (await as(who, 'GET /api/reviews')).json as ReviewRecord[]
      return reviews.filter(({ kind }) => kind === 'campaign_rollback')
    }
    const ofBoth = await listed(both)
    expect(ofBoth.map(({ campaign_id, own }) => [campaign_id, own])).toEqual([
      [wide, 'counts'],
      [narrow, 'counts'],
    ])
    expect((await listed(dev)).map(({ campaign_id }) => campaign_id)).toEqual([narrow])
    const look = ({ id }: ReviewRecord, who: SignedIn) =>
      as(who, `POST /api/reviews/${id}`, { comment: 'looked', accepted: true })
    expect(await look(ofBoth[0]!, dev)).toMatchObject({ status: 403, json: { code: 'out_of_scope' } })
    expect((await look(ofBoth[1]!, dev)).status).toBe(200)
    expect((await look(ofBoth[0]!, both)).status).toBe(200)
    await scene.ctx.close()
  })
})
