import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { AutoApplyRecord } from '../../../lib/wire/auto-apply.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { productionYaml } from '../../support/push-config.ts'

// Whoever set a value that reaches a workload, or chose it, wrote part of what is pushed: he is an author.

const database = await useTestDatabase()
let scene: AutoApplyScene
/** The only other editor: the one who meddles with values. */
let mallory: SignedIn
/** An administrator, as those who set labels and rules have to be. */
let admin: SignedIn
let another: SignedIn

beforeEach(async () => {
  await database.pool.execute('delete from label_rules')
  scene = await AutoApplyScene.open(database)
  await scene.label('vm-1', { env: 'production' })
  await scene.write(2, { content: content(2) })
  mallory = await signIn(scene.ctx, { groups: ['editor'] })
  admin = await signIn(scene.ctx)
  another = await signIn(scene.ctx)
})
afterEach(() => scene.ctx.close())

const NEEDS_ANOTHER = {
  status: 409,
  json: { code: 'approval_needs_another', reason: 'value_author' },
}
const content = (n: number) => productionYaml(n).replace('127.0.0.1', `\${muster:site}`)
/** The site comes from a table by a trusted label. */
const BY_LABEL = {
  content: content(3),
  variables: [{ name: 'site', pattern: '[a-z0-9-]+', default: 'nowhere' }],
  table: { label: 'muster/region', rows: { paris: { site: 'vm-p' }, berlin: { site: 'vm-b' } } },
}

const setValues = async (host: string, values: Record<string, string>, as = mallory) => {
  const { status } = await scene.call(
    `PUT /api/workloads/${scene.agent(host).workloadId}/variables`,
    { values },
    as,
  )
  expect(status).toBe(200)
}
const setLabels = async (host: string, labels: Record<string, string>, as: SignedIn) => {
  const { workloadId } = scene.agent(host)
  const { status } = await scene.call(`PUT /api/workloads/${workloadId}/trusted-labels`, { labels }, as)
  expect(status).toBe(200)
}

/** A campaign for a version, planned and requested by the editor. */
async function requested(number = 2, more: object = {}): Promise<CampaignRecord> {
  const change = { kind: 'version', fleet_config_id: scene.configId, number, takeover: true }
  const { json } = await scene.call('POST /api/campaigns', {
    name: 'One',
    change,
    scope: {},
    waves: [{}],
    ...more,
  })
  const { id } = json as CampaignRecord
  await scene.call(`POST /api/campaigns/${id}/plan`)
  while (scene.ctx.campaigns.planner.progress(id) !== null)
    await new Promise((resolve) => setTimeout(resolve, 5))
  const { plan_hash } = await scene.readCampaign(id)
  const asked = await scene.call(`POST /api/campaigns/${id}/request`, {
    comment: 'please',
    plan_hash,
    prod_confirmation: true,
  })
  expect(asked.status, JSON.stringify(asked.json)).toBe(200)
  return asked.json as CampaignRecord
}
const approve = ({ id, plan_hash }: CampaignRecord, as: SignedIn) =>
  scene.call(`POST /api/campaigns/${id}/approve`, { comment: 'yes', plan_hash }, as)

const helpOf = async ({ id }: CampaignRecord, as: SignedIn) => {
  const { json } = await scene.call(`GET /api/campaigns/${id}`, undefined, as)
  return (json as CampaignRecord).help!
}

describe('an own value of a workload', () => {
  it('makes whoever set it an author of the campaign that renders it: told to them, and another approves', async () => {
    await setValues('vm-1', { site: 'evil-1' })
    const campaign = await requested()
    const shown = (await scene.call(`GET /api/campaigns/${campaign.id}`, undefined, mallory)).json
    expect(shown).toMatchObject({ tally: { own: 'value_author' } })
    expect(await approve(campaign, mallory)).toMatchObject(NEEDS_ANOTHER)
    expect(await approve(campaign, scene.approver)).toMatchObject({
      status: 200,
      json: { status: 'approved' },
    })
  })

  it('counts as taken away by whoever removed it', async () => {
    await setValues('vm-1', { site: 'good-1' }, scene.editor)
    await setValues('vm-1', {})
    expect(await approve(await requested(), mallory)).toMatchObject(NEEDS_ANOTHER)
  })

  it('stays that of whoever set it where another one saves it as it was, and does not count where nothing uses it', async () => {
    await setValues('vm-1', { site: 'evil-1' })
    await setValues('vm-1', { site: 'evil-1', unused: 'x' }, scene.approver)
    const campaign = await requested()
    expect(await approve(campaign, mallory)).toMatchObject(NEEDS_ANOTHER)
    expect((await approve(campaign, scene.approver)).status).toBe(200)
  })

  it('is that of the last to change it, and of nobody for a campaign that leaves the workload out', async () => {
    await setValues('vm-1', { site: 'evil-1' })
    const without = await requested(2, { scope: { exclude_ids: [scene.agent('vm-1').workloadId] } })
    expect((await approve(without, mallory)).status).toBe(200)
    await setValues('vm-1', { site: 'good-1' }, scene.approver)
    const campaign = await requested()
    expect(await approve(campaign, scene.approver)).toMatchObject(NEEDS_ANOTHER)
    expect((await approve(campaign, mallory)).status).toBe(200)
  })

  it('of an administrator keeps nobody from approving whose account that administrator changed', async () => {
    const regroup = { groups: ['editor', 'viewer'] }
    // So that it is named among the first.
    const first = await signIn(scene.ctx, { email: '00@example.com', groups: ['editor'] })
    for (const { userId } of [mallory, first])
      expect((await scene.call(`PATCH /api/users/${userId}`, regroup, admin)).status).toBe(200)
    await setValues('vm-1', { site: 'good-1' }, admin)
    const campaign = await requested()
    const help = await helpOf(campaign, admin)
    expect(help.could_approve[0]).toBe(first.email)
    expect(help.could_approve).not.toContain(admin.email)
    expect(await approve(campaign, admin)).toMatchObject(NEEDS_ANOTHER)
    expect(await approve(campaign, mallory)).toMatchObject({ status: 200, json: { status: 'approved' } })
  })

  it('nor is that administrator named to whom another keeps from approving, who wrote the text', async () => {
    for (const [as, groups] of [
      [admin, ['editor', 'viewer']],
      [another, ['editor']],
    ] as const)
      expect((await scene.call(`PATCH /api/users/${mallory.userId}`, { groups }, as)).status).toBe(200)
    scene.ctx.clock.advance(1_000)
    await setValues('vm-1', { site: 'good-1' }, admin)
    const version = { content: content(3), comment: 'mine', variables: [{ name: 'site', default: 'x' }] }
    const to = `POST /api/fleet-configs/${scene.configId}/versions`
    expect((await scene.call(to, version, another)).status).toBe(201)
    const campaign = await requested(3)
    expect((await helpOf(campaign, mallory)).because).toMatchObject([{ who: another.email }])
  })

  it('counts at the start as well, where it was set, and set back, after the approval', async () => {
    await setValues('vm-1', { site: 'same-1' }, scene.editor)
    const campaign = await requested()
    expect((await approve(campaign, mallory)).status).toBe(200)
    await setValues('vm-1', { site: 'evil-1' })
    await setValues('vm-1', { site: 'same-1' })
    const start = () => scene.call(`POST /api/campaigns/${campaign.id}/start`, {})
    expect(await start()).toMatchObject({ status: 409, json: { code: 'approval_needs_another' } })
    expect((await approve(campaign, scene.approver)).status).toBe(200)
    expect((await start()).status).toBe(200)
  })

  it('that a service account set is its owner’s', async () => {
    const made = await invoke(scene.ctx, 'POST /api/service-accounts', {
      as: admin.token,
      body: { name: `robot-${Date.now()}`, groups: ['editor'], owner_id: mallory.userId },
    })
    expect(made.status, JSON.stringify(made.json)).toBe(201)
    const { id } = made.json as { id: string }
    await database.pool.execute(
      `insert into value_authors (workload_id, kind, name, author_ids) values ($1, 'variable', 'site', array[$2])`,
      [scene.agent('vm-1').workloadId, id],
    )
    expect(await approve(await requested(), mallory)).toMatchObject(NEEDS_ANOTHER)
  })

  it('keeps so many authors of values that are gone by name, and those of all others together', async () => {
    for (let n = 0; n < 4; n++)
      await setValues('vm-1', Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`v${n}x${i}`, 'a'])))
    await setValues('vm-1', {})
    const rows = await database.pool.query<{ count: number }>(
      'select count(*)::int as count from value_authors where workload_id = $1',
      [scene.agent('vm-1').workloadId],
    )
    expect(rows[0]!.count).toBeLessThanOrEqual(200)
    expect(await approve(await requested(), mallory)).toMatchObject(NEEDS_ANOTHER)
  })
})

describe('a value that a trusted label chooses', () => {
  beforeEach(() => scene.write(3, BY_LABEL))

  it('makes whoever set the label an author', async () => {
    await setLabels('vm-1', { env: 'production', region: 'paris' }, admin)
    const campaign = await requested(3)
    expect(await approve(campaign, admin)).toMatchObject(NEEDS_ANOTHER)
    expect((await approve(campaign, mallory)).status).toBe(200)
  })

  it('and whoever took it away, so that the default is left', async () => {
    await setLabels('vm-1', { env: 'production', region: 'paris' }, admin)
    const other = await signIn(scene.ctx)
    await setLabels('vm-1', { env: 'production' }, other)
    const campaign = await requested(3)
    expect(await approve(campaign, other)).toMatchObject(NEEDS_ANOTHER)
    expect((await approve(campaign, admin)).status).toBe(200)
  })

  it('does not where the label chooses nothing', async () => {
    await setLabels('vm-1', { env: 'production', team: 'blue' }, admin)
    expect((await approve(await requested(3), admin)).status).toBe(200)
  })

  it('makes whoever changed many labels at once an author, and whoever made, changed or removed a label rule', async () => {
    const labels = { region: 'paris' }
    const ids = { workload_ids: [scene.agent('vm-1').workloadId], labels }
    expect((await scene.call('PATCH /api/workloads/labels', ids, admin)).status).toBe(200)
    const campaign = await requested(3)
    expect(await approve(campaign, admin)).toMatchObject(NEEDS_ANOTHER)
  })

  it('makes whoever made or removed a label rule for that label an author where no label is set by hand', async () => {
    const rule = {
      name: 'Regions',
      priority: 1,
      selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-1'] }] },
      labels: { region: 'paris' },
    }
    const made = await scene.call('POST /api/label-rules', rule, admin)
    expect(made.status, JSON.stringify(made.json)).toBe(201)
    const first = await requested(3)
    expect(await approve(first, admin)).toMatchObject(NEEDS_ANOTHER)
    expect((await approve(first, mallory)).status).toBe(200)
    const remover = await signIn(scene.ctx)
    const { id } = made.json as { id: string }
    expect((await scene.call(`DELETE /api/label-rules/${id}`, undefined, remover)).status).toBe(204)
    expect(await approve(await requested(3), remover)).toMatchObject(NEEDS_ANOTHER)
    await setLabels('vm-1', { env: 'production', region: 'paris' }, another)
    const byHand = await requested(3, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    expect((await approve(byHand, remover)).status).toBe(200)
  })
})

describe('a version that applies by itself', () => {
  it('is not approved by whoever set a value of a workload that it reaches', async () => {
    await scene.carry(2)
    await setValues('vm-1', { site: 'evil-1' })
    const asked = await scene.request(2)
    expect(asked.status, JSON.stringify(asked.json)).toBe(201)
    const { plan_hash } = asked.json as AutoApplyRecord
    const shown = (await scene.on('GET', '', undefined, mallory)).json
    expect(shown).toMatchObject({ request: { tally: { own: 'value_author' } } })
    expect(await scene.approve(plan_hash, mallory)).toMatchObject(NEEDS_ANOTHER)
    expect((await scene.approve(plan_hash)).status).toBe(200)
  })

  it('leaves a production newcomer to campaigns whose value was chosen by the one who approved', async () => {
    await scene.write(3, BY_LABEL)
    await scene.carry(3)
    const asked = await scene.request(3)
    expect((await scene.approve((asked.json as AutoApplyRecord).plan_hash, admin)).status).toBe(200)
    scene.connect('vm-4')
    scene.connect('vm-5')
    await scene.ctx.advance(300)
    await setLabels('vm-4', { env: 'production', region: 'paris' }, admin)
    await setLabels('vm-5', { env: 'production', region: 'berlin' }, another)
    for (let n = 0; n < 3; n++) await scene.work(3_000)
    expect(await scene.leftOut()).toEqual({ 'vm-4': 'variables_changed' })
    expect(scene.runs('vm-5')).toBe(configHash(content(3).replace(`\${muster:site}`, 'vm-b')))
  })

  it('leaves him to campaigns without an environment as well, which needs a second person too, and not where it does not', async () => {
    await scene.write(3, BY_LABEL)
    await scene.carry(3)
    const asked = await scene.request(3)
    expect((await scene.approve((asked.json as AutoApplyRecord).plan_hash, admin)).status).toBe(200)
    scene.connect('vm-4')
    scene.connect('vm-5')
    await scene.ctx.advance(300)
    await setLabels('vm-4', { region: 'paris' }, admin)
    await setLabels('vm-5', { region: 'berlin' }, another)
    for (let n = 0; n < 3; n++) await scene.work(3_000)
    expect(await scene.leftOut()).toEqual({ 'vm-4': 'variables_changed' })
    expect(scene.runs('vm-5')).toBe(configHash(content(3).replace(`\${muster:site}`, 'vm-b')))
    await scene.letAuthorsCountUnlabelled()
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(scene.runs('vm-4')).toBe(configHash(content(3).replace(`\${muster:site}`, 'vm-p')))
  })

  it('leaves a newcomer to campaigns whose own value was set since, and not where no second person is asked for', async () => {
    const text = { content: content(3), variables: [{ name: 'site', pattern: '[a-z0-9-]+' }] }
    await scene.write(3, text)
    for (const host of ['vm-1', 'vm-2', 'vm-3']) await setValues(host, { site: host }, scene.editor)
    await scene.carry(3)
    await scene.apply(3)
    scene.connect('vm-4')
    await scene.ctx.advance(300)
    await setValues('vm-4', { site: 'evil-1' })
    for (let n = 0; n < 3; n++) await scene.work(3_000)
    expect(await scene.leftOut()).toEqual({ 'vm-4': 'variables_changed' })
    await scene.letAuthorsCountUnlabelled()
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(scene.runs('vm-4')).toBe(configHash(content(3).replace(`\${muster:site}`, 'evil-1')))
  })
})
