import { afterAll, beforeEach, expect, it } from 'vitest'
import type { AutoApplyState } from '../../../lib/wire/auto-apply.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { printCampaign } from '../../../runtime/cli/campaigns/print.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene
let admin: SignedIn

beforeEach(async () => {
  await scene?.ctx.close()
  scene = await AutoApplyScene.open(database)
  admin = await signIn(scene.ctx, { groups: ['administrator'] })
  // The administrator changes the account of the approver, and is then an author of what is asked for.
  const groups = { groups: ['editor', 'viewer'] }
  const put = await scene.call(`PATCH /api/users/${scene.approver.userId}`, groups, admin)
  expect(put.status, JSON.stringify(put.json)).toBeLessThan(300)
})
afterAll(() => scene.ctx.close())

const IN_THE_WAY = () => [{ who: admin.email, account_at: expect.any(String) }]

it('of a campaign names who keeps the reader’s approval from counting and who could approve, and says so in words', async () => {
  const change = { kind: 'version', fleet_config_id: scene.configId, number: 1, takeover: true }
  const draft = { name: 'To 1', change, scope: {}, waves: [{}], limits: {} }
  const { id } = (await scene.call('POST /api/campaigns', draft, admin)).json as CampaignRecord
  await scene.call(`POST /api/campaigns/${id}/plan`, undefined, admin)
  while (scene.ctx.campaigns.planner.progress(id) !== null)
    await new Promise((resolve) => setTimeout(resolve, 5))
  const { plan_hash } = await scene.readCampaign(id)
  const yes = { comment: 'yes', plan_hash, prod_confirmation: true }
  expect((await scene.call(`POST /api/campaigns/${id}/request`, yes, admin)).status).toBe(200)

  const third = await signIn(scene.ctx, { groups: ['editor'] })
  const read = (await scene.call(`GET /api/campaigns/${id}`, undefined, scene.approver))
    .json as CampaignRecord
  expect(read.tally).toMatchObject({ own: 'shaped_by_author', given: 0 })
  expect(read.help!.because).toEqual(IN_THE_WAY())
  expect(read.help!.could_approve).toContain(third.email)
  for (const one of [admin, scene.approver]) expect(read.help!.could_approve).not.toContain(one.email)
  const [listed] = (await scene.call('GET /api/campaigns', undefined, scene.approver))
    .json as CampaignRecord[]
  expect(listed).not.toHaveProperty('help')

  const refused = await scene.call(`POST /api/campaigns/${id}/approve`, yes, scene.approver)
  expect(refused).toMatchObject({ status: 409, json: { reason: 'shaped_by_author' } })
  const { error } = refused.json as { error: string }
  expect(error).not.toMatch(/shaped_by/)
  expect(error).toContain(`This account was made or changed by ${admin.email}, who asked for it,`)

  const printed: string[] = []
  printCampaign({ out: (line: string) => printed.push(line) } as never, read)
  const text = printed.join('\n')
  expect(text).toMatch(/approvals\s+0 of 1/)
  expect(text).toMatch(/would not count: one of its authors made or changed your account/)
  expect(text).toContain(admin.email)
  expect(text).toMatch(new RegExp(`could approve\\s+.*${third.email}`))
  expect(text).not.toMatch(/shaped_by/)
})

it('of a campaign tells who wrote its text, or asked for an equal one before, from who asked for it', async () => {
  const change = { kind: 'version', fleet_config_id: scene.configId, number: 1, takeover: true }
  const third = await signIn(scene.ctx, { groups: ['editor'] })
  const ask = async (as: SignedIn) => {
    const draft = { name: 'To 1', change, scope: {}, waves: [{}], limits: {} }
    const { id } = (await scene.call('POST /api/campaigns', draft, as)).json as CampaignRecord
    await scene.call(`POST /api/campaigns/${id}/plan`, undefined, as)
    while (scene.ctx.campaigns.planner.progress(id) !== null)
      await new Promise((resolve) => setTimeout(resolve, 5))
    // Nothing was looked at where no plan is named.
    const unnamed = await scene.call(`POST /api/campaigns/${id}/request`, { comment: 'yes' }, as)
    expect(unnamed).toMatchObject({ status: 400, json: { code: 'campaign_plan_unnamed' } })
    const { plan_hash } = await scene.readCampaign(id)
    const yes = { comment: 'yes', plan_hash, prod_confirmation: true }
    expect((await scene.call(`POST /api/campaigns/${id}/request`, yes, as)).status).toBe(200)
    return { id, yes }
  }
  const first = await ask(admin)
  const back = await scene.call(`POST /api/campaigns/${first.id}/withdraw`, { comment: 'not now' }, admin)
  expect(back.status, JSON.stringify(back.json)).toBe(200)
  const { id, yes } = await ask(third)
  const { help } = (await scene.call(`GET /api/campaigns/${id}`, undefined, scene.approver))
    .json as CampaignRecord
  expect(help!.because).toEqual([{ ...IN_THE_WAY()[0], of_text: true }])
  const refused = await scene.call(`POST /api/campaigns/${id}/approve`, yes, scene.approver)
  const { error } = refused.json as { error: string }
  expect(error).toContain(`by ${admin.email}, who wrote its text or asked for that before,`)
})

it('of a version that is to apply by itself names them as well, to those who may request configs', async () => {
  await scene.carry(1)
  const { plan_hash } = await scene.plan(1)
  const body = { number: 1, plan_hash, comment: 'for newcomers', prod_confirmation: true }
  const asked = await scene.on('POST', '', body, admin)
  expect(asked.status, JSON.stringify(asked.json)).toBe(201)
  const read = async (as: SignedIn) =>
    ((await scene.on('GET', '', undefined, as)).json as AutoApplyState).request!
  const { tally, help } = await read(scene.approver)
  expect(tally!.own).toBe('shaped_by_author')
  expect(help!.because).toEqual(IN_THE_WAY())
  expect(help!.could_approve).not.toContain(admin.email)
  const viewer = await signIn(scene.ctx, { groups: ['viewer'] })
  expect(await read(viewer)).not.toHaveProperty('help')
})
