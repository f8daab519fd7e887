import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { DesiredFleetResult } from '../../../lib/wire/desired.ts'
import type { FleetConfigRecord } from '../../../lib/wire/fleet-configs.ts'
import { AutoApplyScene, hashOn, versionText } from '../../support/auto-apply-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene

beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
})
afterEach(() => scene.ctx.close())

const selecting = (...hosts: string[]) => ({
  match_expressions: [{ key: 'identity/host.name', operator: 'In', values: hosts }],
})
const WISH = {
  owner: 'platform',
  commit_sha: 'a'.repeat(40),
  name: 'Hosts',
  selector: selecting('vm-*'),
  variables: [{ name: 'site', label: 'identity/host.name', pattern: '[a-z0-9-]+' }],
  campaign: { takeover: true, waves: [{}], limits: { failed: 50, silent: 50 } },
}
const send = (text: number, more: object = {}) =>
  scene.call('POST /api/fleet-configs/desired', { ...WISH, content: versionText(text), ...more })
async function wish(text: number, more: object = {}): Promise<DesiredFleetResult> {
  const { status, json } = await send(text, more)
  expect({ status, json }).toMatchObject({ status: 200 })
  return json as DesiredFleetResult
}
const list = async (query = '') =>
  (await scene.call(`GET /api/fleet-configs${query}`)).json as FleetConfigRecord[]
const ranCommit = async () => (await list('?ran_commits=true'))[0]?.managed?.ran_commit_sha
const campaigns = async () => (await scene.call('GET /api/campaigns')).json as CampaignRecord[]

/** Plan and request the campaign of a run as the command line does, and approve and start it as people do. */
async function start({ campaign_id: id }: DesiredFleetResult): Promise<string> {
  await scene.call(`POST /api/campaigns/${id}/plan`)
  await expect.poll(async () => (await scene.readCampaign(id!)).status).toBe('planned')
  const { plan_hash } = await scene.readCampaign(id!)
  const yes = { comment: 'yes', plan_hash, prod_confirmation: true }
  expect(await scene.call(`POST /api/campaigns/${id}/request`, yes)).toMatchObject({ status: 200 })
  expect(await scene.call(`POST /api/campaigns/${id}/approve`, yes, scene.approver)).toMatchObject({
    status: 200,
  })
  expect(await scene.call(`POST /api/campaigns/${id}/start`, yes)).toMatchObject({ status: 200 })
  return id!
}
async function finish(id: string): Promise<void> {
  for (let n = 0; n < 12 && (await scene.readCampaign(id)).status !== 'done'; n++) {
    await scene.work(n < 6 ? 300 : 31_000)
    await scene.applyAll()
  }
  expect((await scene.readCampaign(id)).status).toBe('done')
}
const carryOut = async (result: DesiredFleetResult) => finish(await start(result))
const runs = () => ['vm-1', 'vm-2', 'vm-3'].map((host) => scene.runs(host))
const allRun = (text: number) => ['vm-1', 'vm-2', 'vm-3'].map((host) => hashOn(text, host))

/** The first text runs everywhere, and the second at one host of three, in a campaign that goes on. */
async function beginSecond(): Promise<string> {
  await carryOut(await wish(1))
  expect(await wish(1)).toMatchObject({ action: 'unchanged' })
  expect(await ranCommit()).toBe(WISH.commit_sha)
  const waves = { campaign: { ...WISH.campaign, waves: [{ count: 1, dwell_seconds: 600 }, {}] } }
  const id = await start(await wish(2, waves))
  await scene.work(300)
  await scene.applyAll()
  await scene.work(300)
  expect(runs().filter((hash) => allRun(2).includes(hash!))).toHaveLength(1)
  expect(await wish(2, waves)).toMatchObject({ action: 'waits', campaign_id: id, campaign_status: 'running' })
  return id
}

it('counts no version as run that was stored while a campaign brought another one to its end', async () => {
  const second = await beginSecond()
  await wish(3, { commit_sha: 'c'.repeat(40) })
  await scene.ctx.advance(600_000)
  await finish(second)
  expect(await ranCommit()).toBe(WISH.commit_sha)
  // For it all workloads are looked at: nobody else who lists the fleet configs is told.
  expect((await list())[0]?.managed).not.toHaveProperty('ran_commit_sha')
})

it('what Git goes back to while a campaign brings something else waits for its end, and is then proposed', async () => {
  const second = await beginSecond()
  for (const more of [{ dry_run: true }, {}, {}])
    expect(await wish(1, more)).toMatchObject({
      action: 'waits',
      reason: 'other_under_way',
      campaign_id: second,
      campaign_status: 'running',
    })
  expect(await campaigns()).toHaveLength(2)
  await scene.ctx.advance(600_000)
  await finish(second)
  expect(runs()).toEqual(allRun(2))
  const back = await wish(1)
  expect(back).toMatchObject({ action: 'propose', campaign_status: 'draft' })
  await carryOut(back)
  expect(runs()).toEqual(allRun(1))
  expect(await wish(1)).toMatchObject({ action: 'unchanged' })
})

it('what Git goes back to is proposed once the campaign that brought something else was aborted half-way', async () => {
  const second = await beginSecond()
  await scene.call(`POST /api/campaigns/${second}/pause`, { comment: 'stop' })
  expect(await wish(1)).toMatchObject({
    action: 'waits',
    reason: 'other_under_way',
    campaign_status: 'paused',
  })
  await scene.call(`POST /api/campaigns/${second}/abort`, { comment: 'stop' })
  const back = await wish(1)
  expect(back).toMatchObject({ action: 'propose' })
  await carryOut(back)
  expect(runs()).toEqual(allRun(1))
})

it('a wider selector is said in the plan, and reaches whom it selects anew by a campaign of the same version', async () => {
  const one = { selector: selecting('vm-1') }
  await carryOut(await wish(1, one))
  const before = (await scene.call('GET /api/fleet-configs')).json as FleetConfigRecord[]
  expect(await wish(1, { dry_run: true })).toMatchObject({
    action: 'propose',
    definition_changes: ['selector'],
    joining_count: 2,
    leaving_count: 0,
  })
  expect(await wish(1, { ...one, dry_run: true, description: 'all' })).toMatchObject({
    action: 'unchanged',
    definition_changes: ['description'],
  })
  expect((await scene.call('GET /api/fleet-configs')).json).toEqual(before)
  const wider = await wish(1)
  expect(wider).toMatchObject({ action: 'propose', version: before[0]!.newest_version, workload_count: 3 })
  expect(await wish(1)).toMatchObject({ action: 'waits', campaign_id: wider.campaign_id })
  await carryOut(wider)
  expect(runs()).toEqual(allRun(1))
  expect(await wish(1)).toMatchObject({ action: 'unchanged' })
})

it('a host that came later is reached by the next run, but where the version applies by itself', async () => {
  await carryOut(await wish(1))
  const { version } = await wish(1)
  scene.connect('vm-4')
  await scene.ctx.advance(1_000)
  const next = await wish(1)
  expect(next).toMatchObject({ action: 'propose', version })
  await carryOut(next)
  expect(scene.runs('vm-4')).toBe(hashOn(1, 'vm-4'))
  await scene.apply(version!)
  scene.connect('vm-5')
  await scene.ctx.advance(300)
  expect(await wish(1)).toMatchObject({ action: 'unchanged' })
  for (let n = 0; n < 5; n++) {
    await scene.work(1_000)
    await scene.applyAll()
  }
  expect(scene.runs('vm-5')).toBe(hashOn(1, 'vm-5'))
  expect(await wish(1)).toMatchObject({ action: 'unchanged' })
})

it.each(['Hosts', 'New'])(
  'of equal runs at once for %s one proposes, and the others find what it did',
  async (name) => {
    const about = { name, priority: name === 'New' ? 1 : 0 }
    const results = await Promise.all([wish(1, about), wish(1, about), wish(1, about)])
    expect(results.map(({ action }) => action).sort()).toEqual(['propose', 'waits', 'waits'])
    const [first] = results
    for (const { version, campaign_id } of results)
      expect({ version, campaign_id }).toEqual({ version: first!.version, campaign_id: first!.campaign_id })
    expect(await campaigns()).toHaveLength(1)
    // The text changes before the campaign was planned.
    const later = await Promise.all([wish(2, about), wish(2, about)])
    expect(later.map(({ action }) => action).sort()).toEqual(['propose', 'waits'])
    const change = { number: first!.version! + 1 }
    expect(await campaigns()).toMatchObject([{ id: first!.campaign_id, change }])
  },
)

it('a host that came later and that no campaign would change differs from nothing', async () => {
  await carryOut(await wish(1))
  const later = scene.connect('vm-4')
  await scene.ctx.advance(1_000)
  const asked = { campaign: { waves: [{}] } }
  // It runs what nobody pushed, and the folder does not ask to take such hosts over.
  expect(await wish(1, { ...asked, dry_run: true })).toMatchObject({ action: 'unchanged' })
  expect(await wish(1, asked)).toMatchObject({ action: 'unchanged' })
  expect(await wish(1, { dry_run: true })).toMatchObject({ action: 'propose' })
  const named = { workload_ids: [later.workloadId] }
  expect((await scene.call('POST /api/holds', { ...named, reason: 'a disk' })).status).toBeLessThan(300)
  expect(await wish(1)).toMatchObject({ action: 'unchanged' })
  expect((await scene.call('POST /api/holds/release', named)).status).toBe(200)
  await pushConfig(scene.ctx.fleet, later.workloadId, configYaml(1).replace('127.0.0.1', 'vm-4'))
  await scene.applyAll(['vm-4'])
  expect(later.offered().at(-1)).toBe(hashOn(1, 'vm-4'))
  expect(await wish(1)).toMatchObject({ action: 'unchanged' })
})

/** vm-3 leaves, and is taken for away. */
async function leaves(): Promise<void> {
  const agent = scene.agent('vm-3')
  agent.goodbye()
  agent.lose()
  scene.agents.delete('vm-3')
  await scene.ctx.advance(200_000)
}
/** It comes back, running what it ran; answers what it is offered. */
async function comesBack(text: number, { uid }: { uid: string }): Promise<readonly string[]> {
  const agent = scene.connect('vm-3', { uid })
  agent.apply(hashOn(text, 'vm-3'))
  for (let n = 0; n < 5; n++) {
    await scene.work(6_000)
    await scene.applyAll()
  }
  return agent.offered()
}

it('a host that was away while Git changed its mind comes back to the newest text, and differs from nothing', async () => {
  await carryOut(await wish(1))
  const away = scene.agent('vm-3')
  await leaves()
  const older = await start(await wish(2))
  await finish(older)
  const newer = await start(await wish(3))
  await finish(newer)
  expect(await wish(3)).toMatchObject({ action: 'unchanged' })
  expect(await comesBack(1, away)).toEqual([hashOn(3, 'vm-3')])
  expect((await scene.readCampaign(older)).counts).toEqual({ applied: 2, overtaken: 1 })
  expect((await scene.readCampaign(newer)).counts).toEqual({ applied: 3 })
  expect(await wish(3)).toMatchObject({ action: 'unchanged' })
})

it('what people took back of the text of Git counts for a host that was away as for all others', async () => {
  await carryOut(await wish(1))
  const away = scene.agent('vm-3')
  await leaves()
  const gits = await start(await wish(2))
  await finish(gits)
  const back = await scene.call(`POST /api/campaigns/${gits}/roll-back`, { comment: 'back' })
  expect(back).toMatchObject({ status: 200 })
  for (let n = 0; n < 6 && (await scene.readCampaign(gits)).status !== 'rolled_back'; n++) {
    await scene.work(6_000)
    await scene.applyAll(['vm-1', 'vm-2'])
  }
  const held = { action: 'held', reason: 'rolled_back', campaign_status: 'rolled_back' }
  expect(await wish(2)).toMatchObject(held)
  expect(await comesBack(1, away)).toEqual([])
  expect(runs().slice(0, 2)).toEqual(allRun(1).slice(0, 2))
  expect(await wish(2)).toMatchObject(held)
})

it('what a campaign left out because it could not be read in time is proposed again once it can be read', async () => {
  const { configs } = scene.ctx
  const { render } = configs
  const slow = vi.spyOn(configs, 'render').mockImplementation(async (request) => {
    if (request.values['site'] === 'vm-3') return { ok: false, code: 'server-busy', gaveUp: true }
    return render(request)
  })
  await carryOut(await wish(1))
  expect(runs()).toEqual([...allRun(1).slice(0, 2), undefined])
  // Nothing is gained by a campaign that would leave it out again.
  expect(await wish(1)).toMatchObject({ action: 'unchanged' })
  slow.mockRestore()
  expect(await wish(1, { dry_run: true })).toMatchObject({ action: 'propose' })
  await carryOut(await wish(1))
  expect(runs()).toEqual(allRun(1))
  expect(await wish(1)).toMatchObject({ action: 'unchanged' })
})
