import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { DesiredResult } from '../../../lib/wire/desired.ts'
import { AutoApplyScene, hashOn } from '../../support/auto-apply-scene.ts'
import { type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene
beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
})
afterEach(() => scene.ctx.close())

const STAGES = [
  { count: 1, dwell_seconds: 10 },
  { percentage: 100, dwell_seconds: 0 },
]

const path = (host: string) => `/api/workloads/${scene.agent(host).workloadId}/config`
const read = async (host: string, id: string) =>
  (await scene.call(`GET ${path(host)}/approvals/${id}`)).json as ApprovalRecord
const push = (host: string, id: string, more: object = {}) =>
  scene.call(`POST ${path(host)}/approvals/${id}/push`, { comment: 'go', ...more })

async function request(host: string, port: number, group = ''): Promise<string> {
  await scene.ctx.advance(1_000)
  const body = { draft_yaml: configYaml(port), target_group: group, comment: 'please' }
  const { status, json } = await scene.call(`POST ${path(host)}/approvals`, body)
  expect(status, JSON.stringify(json)).toBe(201)
  return (json as ApprovalRecord).id
}
async function approve(host: string, id: string): Promise<string> {
  const answer = await scene.call(
    `POST ${path(host)}/approvals/${id}/approve`,
    { comment: 'fine' },
    scene.approver,
  )
  expect(answer.status, JSON.stringify(answer.json)).toBe(200)
  return id
}
const approved = async (host: string, port: number, group = '') =>
  approve(host, await request(host, port, group))

/** Request, approve and push a config, and let the host apply it. */
async function run(host: string, port: number): Promise<void> {
  expect((await push(host, await approved(host, port, `run ${port}`))).status).toBe(202)
  await scene.ctx.advance(300)
  await scene.applyAll([host])
}
const auditsOf = async (id: string) =>
  (
    await database.pool.query<{ email: string; detail: string }>(
      `select email, detail from audit_events where action = 'config.approval.retire' order by seq`,
    )
  )
    .map(({ email, detail }) => ({ email, ...(JSON.parse(detail) as { approval_id: string }) }))
    .filter(({ approval_id }) => approval_id === id)

describe('an approved request can be pushed no more', () => {
  it('once a campaign has pushed to its workload, and says which', async () => {
    scene.connect('web-1')
    await scene.ctx.advance(300)
    const [first, second] = [await approved('vm-1', 11), await approved('vm-1', 12, 'core')]
    const [pending, elsewhere] = [await request('vm-1', 13, 'edge'), await approved('web-1', 14)]
    scene.ctx.frames.length = 0
    const id = await scene.campaign(1)
    await scene.work(300)
    for (const one of [first, second]) {
      expect(await read('vm-1', one)).toMatchObject({
        status: 'retired',
        closed_by: scene.editor.email,
        retired_by: { what: 'campaign', campaign_id: id, name: 'To 1' },
      })
      expect(await auditsOf(one)).toMatchObject([
        { email: scene.editor.email, retired_by: 'campaign', campaign_id: id },
      ])
      expect(scene.ctx.frames).toContainEqual(
        expect.objectContaining({ approval: expect.objectContaining({ id: one, status: 'retired' }) }),
      )
    }
    expect((await read('vm-1', first)).timeline.at(-1)).toMatchObject({
      what: 'retired',
      who: scene.editor.email,
    })
    expect(await push('vm-1', first)).toMatchObject({ status: 409, json: { request_status: 'retired' } })
    // What is still to be looked at stays, and so does what the campaign does not come to.
    expect((await read('vm-1', pending)).status).toBe('pending')
    expect((await read('web-1', elsewhere)).status).toBe('approved')
  })

  it('once a campaign is rolled back there', async () => {
    await run('vm-1', 10)
    const released = await scene.call('POST /api/holds/release', {
      workload_ids: [scene.agent('vm-1').workloadId],
    })
    expect(released).toMatchObject({ status: 200, json: { changed_count: 1 } })
    const id = await scene.carry(1)
    const one = await approved('vm-1', 11)
    expect((await scene.call(`POST /api/campaigns/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await scene.work(300)
    expect(await read('vm-1', one)).toMatchObject({
      status: 'retired',
      retired_by: { what: 'campaign_roll_back', campaign_id: id, name: 'To 1' },
    })
  })

  it('once a version that applies by itself has reached its workload', async () => {
    await scene.carry(1)
    await scene.apply(1)
    scene.connect('vm-4')
    await scene.ctx.advance(100)
    const one = await approved('vm-4', 11)
    for (let n = 0; n < 3; n++) await scene.work(500)
    expect(scene.runs('vm-4')).toBe(hashOn(1, 'vm-4'))
    expect(await read('vm-4', one)).toMatchObject({
      status: 'retired',
      retired_by: { what: 'auto_apply', fleet_config_id: scene.configId, name: 'Hosts', version: 1 },
    })
    expect(await auditsOf(one)).toMatchObject([{ retired_by: 'auto_apply' }])
  })

  it('once somebody rolls its workload back', async () => {
    await run('vm-1', 10)
    await run('vm-1', 11)
    const one = await approved('vm-1', 12)
    const back = await scene.call(`POST /api/workloads/${scene.agent('vm-1').workloadId}/rollback`, {
      comment: 'as it was',
    })
    expect(back.status, JSON.stringify(back.json)).toBe(202)
    expect(await read('vm-1', one)).toMatchObject({ status: 'retired', retired_by: { what: 'rollback' } })
    expect(await auditsOf(one)).toMatchObject([{ email: scene.editor.email, retired_by: 'rollback' }])
  })

  it('once somebody takes a rollout back that went on as it was approved', async () => {
    await run('vm-1', 10)
    scene.connect('vm-1b', { host: 'vm-1' })
    const staged = await approved('vm-1', 11, 'staged')
    const admin = await signIn(scene.ctx)
    expect(await push('vm-1', staged, { stages: STAGES })).toMatchObject({ status: 202 })
    const one = await approved('vm-1', 12)
    const { id } = scene.ctx.fleet.workload(scene.agent('vm-1').workloadId)!.rollout!.stored
    const back = await scene.call(
      `POST /api/workloads/${scene.agent('vm-1').workloadId}/config/canary/${id}/rollback`,
      { comment: 'no' },
      admin,
    )
    expect(back.status, JSON.stringify(back.json)).toBeLessThan(300)
    expect(await read('vm-1', one)).toMatchObject({ status: 'retired', retired_by: { what: 'rollback' } })
  })

  it('once another was approved or pushed, and says which', async () => {
    const [older, other] = [await approved('vm-1', 11), await approved('vm-1', 12, 'core')]
    const newer = await approved('vm-1', 13)
    const by = { what: 'request', approval_id: newer }
    expect(await read('vm-1', older)).toMatchObject({ status: 'retired', retired_by: by })
    expect((await push('vm-1', newer)).status).toBe(202)
    expect(await read('vm-1', other)).toMatchObject({ status: 'retired', retired_by: by })
    for (const one of [older, other])
      expect(await auditsOf(one)).toMatchObject([{ retired_by: 'request', newer_approval_id: newer }])
    const waiting = await request('vm-1', 14, 'edge')
    const next = await request('vm-1', 15, 'edge')
    expect(await read('vm-1', waiting)).toMatchObject({
      status: 'retired',
      retired_by: { what: 'request', approval_id: next },
    })
    expect(await auditsOf(waiting)).toHaveLength(1)
  })
})

describe('an approval of a request that waits for others', () => {
  /** A request that one of the two who are needed has approved. */
  async function half(host: string, port: number): Promise<string> {
    const two = { approvals: 2, author_counts: false }
    const policy = { production: two, other: two, unlabelled: two }
    const { status } = await scene.call('PUT /api/approval-policy', policy, await signIn(scene.ctx))
    expect(status).toBe(200)
    const id = await approve(host, await request(host, port, 'half'))
    expect(await read(host, id)).toMatchObject({
      status: 'pending',
      tally: { given: 1, discounted: 0, needed: 2 },
    })
    await scene.ctx.advance(1_000)
    return id
  }
  const approveAs = async (host: string, id: string, as: SignedIn) =>
    (await scene.call(`POST ${path(host)}/approvals/${id}/approve`, { comment: 'fine' }, as)).status
  /** Somebody else approves as well: that is not enough, and is once the first has looked at it again. */
  async function countsNoMore(host: string, id: string): Promise<void> {
    const second = await signIn(scene.ctx, { groups: ['editor'] })
    expect(await approveAs(host, id, second)).toBe(200)
    expect(await read(host, id)).toMatchObject({
      status: 'pending',
      tally: { given: 1, discounted: 1, needed: 2 },
      approvals: [{ overtaken: true }, {}],
    })
    expect(await push(host, id)).toMatchObject({ status: 409 })
    expect(await approveAs(host, id, scene.approver)).toBe(200)
    expect(await read(host, id)).toMatchObject({ status: 'approved', tally: { given: 2, discounted: 0 } })
    expect((await push(host, id)).status).toBe(202)
  }

  it('counts no more once a campaign has pushed to its workload, and counts again once it is given again', async () => {
    await scene.campaign(1)
    const id = await half('vm-1', 11)
    await scene.work(300)
    await scene.applyAll()
    await scene.work(300)
    await countsNoMore('vm-1', id)
  })

  it('counts no more once somebody has rolled its workload back', async () => {
    await run('vm-1', 10)
    await run('vm-1', 11)
    const id = await half('vm-1', 12)
    const back = { comment: 'as it was' }
    const { workloadId } = scene.agent('vm-1')
    expect((await scene.call(`POST /api/workloads/${workloadId}/rollback`, back)).status).toBe(202)
    await scene.ctx.advance(300)
    await scene.applyAll(['vm-1'])
    await countsNoMore('vm-1', id)
  })

  it('counts though the clock was put back after the last push', async () => {
    await run('vm-1', 10)
    scene.ctx.clock.set(new Date(scene.ctx.clock.now().getTime() - 3_600_000))
    const id = await half('vm-1', 11)
    expect(await approveAs('vm-1', id, await signIn(scene.ctx, { groups: ['editor'] }))).toBe(200)
    expect(await read('vm-1', id)).toMatchObject({ status: 'approved', tally: { given: 2, discounted: 0 } })
    expect((await push('vm-1', id)).status).toBe(202)
  })

  it('counts on where what failed is taken back by itself', async () => {
    await run('vm-1', 10)
    const failing = await approved('vm-1', 11, 'core')
    expect((await push('vm-1', failing)).status).toBe(202)
    const id = await half('vm-1', 12)
    scene.agent('vm-1').fail('no such exporter')
    await scene.ctx.advance(1_000)
    expect((await read('vm-1', failing)).outcome).toMatchObject({ aftermath: { kind: 'going_back' } })
    expect(await read('vm-1', id)).toMatchObject({ tally: { given: 1, discounted: 0 } })
  })
})

it('an approved request stays where what failed is taken back by itself, and where nothing that runs is changed', async () => {
  await run('vm-1', 10)
  const failing = await approved('vm-1', 11, 'core')
  expect((await push('vm-1', failing)).status).toBe(202)
  const one = await approved('vm-1', 12)
  await scene.ctx.advance(300)
  scene.agent('vm-1').fail('no such exporter')
  await scene.ctx.advance(1_000)
  expect((await read('vm-1', failing)).outcome).toMatchObject({ status: 'failed' })
  expect((await read('vm-1', one)).status).toBe('approved')
  const { workloadId } = scene.agent('vm-1')
  const hash = scene.ctx.fleet.workload(workloadId)!.activeHash
  const pinned = await scene.call(`POST ${path('vm-1')}s/${hash}/known-good`, {})
  expect(pinned.status, JSON.stringify(pinned.json)).toBeLessThan(300)
  expect((await read('vm-1', one)).status).toBe('approved')
  expect((await push('vm-1', one)).status).toBe(202)
})

it('what Git asked for is asked for once more after somebody has rolled back, and not again and again', async () => {
  await run('vm-1', 10)
  await run('vm-1', 11)
  const wish = async () =>
    (await scene.call(`POST ${path('vm-1')}/desired`, { owner: 'platform', config: configYaml(12) }))
      .json as DesiredResult
  const { approval_id: first } = await wish()
  await approve('vm-1', first!)
  expect(await wish()).toMatchObject({ action: 'waits', approval_id: first })
  expect(
    (await scene.call(`POST /api/workloads/${scene.agent('vm-1').workloadId}/rollback`, { comment: 'back' }))
      .status,
  ).toBe(202)
  expect((await read('vm-1', first!)).status).toBe('retired')
  const again = await wish()
  expect(again).toMatchObject({ action: 'propose' })
  expect(again.approval_id).not.toBe(first)
  for (let n = 0; n < 2; n++)
    expect(await wish()).toMatchObject({ action: 'waits', approval_id: again.approval_id })
})
