import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { DesiredFleetResult } from '../../../lib/wire/desired.ts'
import { AutoApplyScene, versionText } from '../../support/auto-apply-scene.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, productionYaml, pushConfig } from '../../support/push-config.ts'

// Who made what Git asked for of a fleet config, by its name in Git, and nobody brought to all its workloads has a part in what
// is asked for next on top of it: whatever became of the fleet config, and whoever asks in its place.

const database = await useTestDatabase()
let scene: AutoApplyScene
let admin: SignedIn
/** The accounts of two pipelines, and of somebody else who may propose fleet configs. */
let [one, two, eve]: SignedIn[] = []
let ann: SignedIn
let bob: SignedIn
let dora: SignedIn

beforeEach(async () => {
  for (const table of ['commit_authors', 'commit_claims', 'unseen_texts'])
    await database.pool.execute(`delete from ${table}`)
  scene = await AutoApplyScene.open(database)
  admin = await signIn(scene.ctx)
  const people = await Promise.all(Array.from({ length: 6 }, () => signIn(scene.ctx, { groups: ['editor'] })))
  ;[one, two, eve] = people
  ;[ann, bob, dora] = people.slice(3) as [SignedIn, SignedIn, SignedIn]
})
afterEach(() => scene.ctx.close())

const named = (...hosts: string[]) => ({
  match_expressions: [{ key: 'identity/host.name', operator: 'In', values: hosts }],
})
const by = (...people: SignedIn[]) => ({
  commit_author: 'Carl <carl@example.com>',
  commit_authors: people.map(({ email }) => `Somebody <${email}>`),
})

/** Ask in Git for a text of a fleet config, and let time pass. */
async function wish(
  as: SignedIn | undefined,
  text: number,
  more: object = by(),
): Promise<DesiredFleetResult> {
  const body = {
    owner: as === one ? 'platform' : as === two ? 'shop' : 'eves',
    name: 'edge',
    priority: 1,
    selector: named('vm-*'),
    variables: [{ name: 'site', label: 'identity/host.name', pattern: '[a-z0-9-]+' }],
    campaign: { takeover: true, waves: [{}], limits: { failed: 50, silent: 50 } },
    content: versionText(text),
    ...more,
  }
  const { status, json } = await scene.call('POST /api/fleet-configs/desired', body, as)
  expect(status, JSON.stringify(json)).toBe(200)
  await scene.ctx.advance(1)
  return json as DesiredFleetResult
}

/** Plan a campaign and ask for its approval. */
async function ask(id: string, as: SignedIn): Promise<string> {
  await scene.call(`POST /api/campaigns/${id}/plan`, undefined, as)
  await expect.poll(async () => (await scene.readCampaign(id)).status).toBe('planned')
  const { plan_hash } = await scene.readCampaign(id)
  const body = { plan_hash, comment: 'From Git', prod_confirmation: true }
  expect(await scene.call(`POST /api/campaigns/${id}/request`, body, as)).toMatchObject({ status: 200 })
  return plan_hash!
}

/** Approve a campaign, which is asked for where it was not yet; or why that does not count. */
async function approve(id: string, as: SignedIn, asking = one!): Promise<unknown> {
  const { status: stands, plan_hash: planned } = await scene.readCampaign(id)
  const plan_hash = stands === 'draft' ? await ask(id, asking) : planned
  const body = { plan_hash, comment: 'fine' }
  const { status, json } = await scene.call(`POST /api/campaigns/${id}/approve`, body, as)
  return status === 200 ? 'approved' : ((json as { reason?: string }).reason ?? json)
}

/** Have somebody approve a campaign, and bring it to its end. */
async function carryOut(id: string, as: SignedIn, asking = one!): Promise<void> {
  expect(await approve(id, as, asking)).toBe('approved')
  expect(await scene.call(`POST /api/campaigns/${id}/start`, { comment: 'go' }, asking)).toMatchObject({
    status: 200,
  })
  for (let n = 0; n < 12 && (await scene.readCampaign(id)).status !== 'done'; n++) {
    await scene.work(n < 6 ? 300 : 31_000)
    await scene.applyAll()
  }
  expect((await scene.readCampaign(id)).status).toBe('done')
}

async function release({ fleet_config_id: id }: DesiredFleetResult, as: SignedIn, owner = 'platform') {
  const gone = await scene.call(`DELETE /api/fleet-configs/${id}/desired?owner=${owner}`, undefined, as)
  expect(gone.status, JSON.stringify(gone.json)).toBe(204)
  await scene.ctx.advance(1)
}

/** Change a fleet config by hand. */
async function edit({ fleet_config_id: id }: DesiredFleetResult, more: object): Promise<void> {
  const body = { name: 'edge', priority: 1, selector: named('vm-*'), ...more }
  const { status, json } = await scene.call(`PUT /api/fleet-configs/${id}`, body, ann)
  expect(status, JSON.stringify(json)).toBe(200)
}

async function remove(of: DesiredFleetResult): Promise<void> {
  await edit(of, { name: 'gone', selector: named('nowhere') })
  const { status, json } = await scene.call(`DELETE /api/fleet-configs/${of.fleet_config_id}`, undefined, ann)
  expect(status, JSON.stringify(json)).toBe(204)
}

async function handOver(to: SignedIn, to_owner: string, more: object = {}): Promise<void> {
  const body = { owner: 'platform', to_owner, to_account_id: to.userId, ...more }
  const { status, json } = await scene.call('POST /api/managed-configs/hand-over', body, admin)
  expect(status, JSON.stringify(json)).toBe(200)
  await scene.ctx.advance(1)
}

/** Expect that Ann is an author of what is carried, and Dora none. */
async function expectAnn({ campaign_id: id }: DesiredFleetResult, asking = one!): Promise<void> {
  expect(await approve(id!, ann, asking)).toBe('author')
  expect(await approve(id!, dora, asking)).toBe('approved')
}

describe('whoever made a version that nobody brought to run is an author of the next one', () => {
  it('also where the fleet config was renamed meanwhile, and Git asks for the former name anew, or for the new one', async () => {
    const first = await wish(one, 1, by(ann))
    await release(first, one!)
    await edit(first, { name: 'core', selector: named('nowhere') })
    await expectAnn(await wish(one, 2))
    await expectAnn(await wish(one, 3, { ...by(), name: 'core', priority: 2 }))
  })

  it('also where it was removed, and is made anew', async () => {
    const first = await wish(one, 1, by(ann))
    await release(first, one!)
    await remove(first)
    const next = await wish(one, 2)
    expect(next.fleet_config_id).not.toBe(first.fleet_config_id)
    await expectAnn(next)
  })

  it('also where it was renamed, removed under that name, and is made anew with it', async () => {
    const first = await wish(one, 1, by(ann))
    await release(first, one!)
    await edit(first, { name: 'core' })
    await edit(first, { name: 'core', selector: named('nowhere') })
    const gone = await scene.call(`DELETE /api/fleet-configs/${first.fleet_config_id}`, undefined, ann)
    expect(gone.status).toBe(204)
    await expectAnn(await wish(one, 2, { ...by(), name: 'core' }))
  })

  it('also where people write the same text anew under its name', async () => {
    const first = await wish(one, 1, by(ann))
    await release(first, one!)
    await remove(first)
    const made = await scene.call('POST /api/fleet-configs', {
      name: 'edge',
      selector: named('vm-*'),
      priority: 1,
    })
    expect(made.status, JSON.stringify(made.json)).toBe(201)
    scene.configId = (made.json as { id: string }).id
    await scene.write(1)
    const change = { kind: 'version', fleet_config_id: scene.configId, number: 1, takeover: true }
    const draft = await scene.call('POST /api/campaigns', { name: 'by hand', change, scope: {} }, bob)
    const { id } = draft.json as CampaignRecord
    expect(await approve(id, ann, bob)).toBe('author')
    expect(await approve(id, dora, bob)).toBe('approved')
  })

  it('also where it was handed over alone, let go of, removed and made anew', async () => {
    const first = await wish(one, 1, by(ann))
    await handOver(two!, 'shop', { fleet_config_ids: [first.fleet_config_id] })
    await release(first, two!, 'shop')
    await remove(first)
    await expectAnn(await wish(two, 2), two!)
  })

  it('also where an older version of muster was asked for it, or handed it over', async () => {
    await wish(one, 1, by(ann))
    await database.pool.execute('delete from unseen_texts')
    await database.pool.execute('update managed_fleet_configs set version = version')
    await database.pool.execute(`update managed_fleet_configs set owner = 'shop', applied_by_id = $1`, [
      two!.userId,
    ])
    await expectAnn(await wish(two, 2), two!)
  })

  it('until a campaign has brought what came in its place to all workloads', async () => {
    await wish(one, 1, by(ann))
    await carryOut((await wish(one, 2)).campaign_id!, dora)
    expect(await approve((await wish(one, 3)).campaign_id!, ann)).toBe('approved')
  })
})

describe('who asked in Git for a fleet config of that name makes nobody an author of what others ask for in its place', () => {
  it('where whoever may only elsewhere asks for it, names everybody and lets it go', async () => {
    const first = await wish(eve, 1, { ...by(ann, bob, dora), selector: named('vm-3') })
    await release(first, eve!, 'eves')
    const { campaign_id: id } = await wish(one, 2)
    expect(await approve(id!, bob)).toBe('approved')
  })

  it('where whoever knows the text beforehand asks for it under the free name, names everybody, and lets it go or removes it', async () => {
    const first = await wish(eve, 1, { ...by(ann, bob, dora), selector: named('vm-3') })
    await release(first, eve!, 'eves')
    const same = await wish(one, 1, by(ann))
    expect(await approve(same.campaign_id!, bob)).toBe('approved')
    await release(same, one!)
    await edit(same, { name: 'gone', selector: named('nowhere') })
    const away = await scene.call(`DELETE /api/fleet-configs/${same.fleet_config_id}`, undefined, ann)
    expect(away.status).toBe(204)
    const anew = await wish(one, 1, by(ann))
    expect(await approve(anew.campaign_id!, ann)).toBe('author')
    expect(await approve(anew.campaign_id!, bob)).toBe('approved')
  })

  it('nor whoever asked for it before it was handed over, by whom that account names only then', async () => {
    const { campaign_id: id } = await wish(one, 1, by(ann))
    await handOver(two!, 'shop')
    await wish(one, 1, { ...by(bob, dora), name: 'elsewhere', selector: named('nowhere') })
    expect(await approve(id!, ann, two!)).toBe('author')
    expect(await approve(id!, bob, two!)).toBe('approved')
  })

  it('nor where all that its owner keeps is handed over', async () => {
    const first = await wish(eve, 1, by(ann, bob, dora))
    await release(first, eve!, 'eves')
    await wish(one, 2)
    await handOver(two!, 'platform')
    const { campaign_id: id } = await wish(two, 3, { ...by(), owner: 'platform' })
    expect(await approve(id!, bob, two!)).toBe('approved')
  })
})

/** A campaign by hand for the version that Git asks for. */
async function draft({ fleet_config_id, version }: DesiredFleetResult, scope: object, as: SignedIn) {
  const change = { kind: 'version', fleet_config_id, number: version, takeover: true }
  const rules = { waves: [{}], limits: { failed: 50, silent: 50 } }
  const { status, json } = await scene.call(
    'POST /api/campaigns',
    { name: 'by hand', change, scope, ...rules },
    as,
  )
  expect(status, JSON.stringify(json)).toBe(201)
  return json as CampaignRecord
}
const only = (...hosts: string[]) => ({
  workload_ids: hosts.map((host) => scene.agent(host).workloadId),
})

describe('what is brought to some of the workloads is seen by nobody who has the others', () => {
  it('where somebody would narrow the campaign of Git, which only its pipeline changes', async () => {
    const first = await wish(one, 1, by(ann))
    const { change } = await scene.readCampaign(first.campaign_id!)
    const narrowed = { name: 'narrowed', change, scope: only('vm-1') }
    const put = `PUT /api/campaigns/${first.campaign_id}`
    expect(await scene.call(put, narrowed, ann)).toMatchObject({
      status: 409,
      json: { code: 'fleet_config_managed', owner: 'platform' },
    })
    expect((await scene.readCampaign(first.campaign_id!)).scope).toEqual({})
    // Whoever spoke for it before does not either.
    await handOver(two!, 'shop')
    expect((await scene.call(put, narrowed, one)).status).toBe(409)
    expect((await scene.call(put, narrowed, two)).status).toBe(200)
    await carryOut(first.campaign_id!, dora, two)
    await expectAnn(await wish(two, 2), two!)
  })

  it('where a campaign by hand brings it to one of them, and is where others bring it to the rest', async () => {
    const first = await wish(one, 1, by(ann))
    await carryOut((await draft(first, only('vm-1'), bob)).id, dora, bob)
    await expectAnn(await wish(one, 2))
    const third = await wish(one, 3, by(ann))
    for (const scope of [only('vm-1', 'vm-2'), only('vm-3')])
      await carryOut((await draft(third, scope, bob)).id, dora, bob)
    expect(await approve((await wish(one, 4)).campaign_id!, ann)).toBe('approved')
  })

  it('where others were left out, held as long as those were changed of which authors approve their own', async () => {
    await scene.letAuthorsCountUnlabelled()
    const { workload_ids } = only('vm-2', 'vm-3')
    expect((await scene.call('POST /api/holds', { workload_ids, reason: 'a disk' }, ann)).status).toBe(200)
    await carryOut((await wish(one, 1, by(ann))).campaign_id!, ann)
    await database.pool.execute(`delete from settings where name = 'approval_policy'`)
    await expectAnn(await wish(one, 2))
  })

  it('where the others ran it already, by a push of which nobody else had looked at the text', async () => {
    await scene.letAuthorsCountUnlabelled()
    for (const host of ['vm-2', 'vm-3']) {
      await pushConfig(
        scene.ctx.fleet,
        scene.agent(host).workloadId,
        configYaml(1).replace('127.0.0.1', host),
      )
      await scene.applyAll([host])
    }
    const { campaign_id: id } = await wish(one, 1, by(ann))
    await carryOut(id!, ann)
    expect((await scene.readCampaign(id!)).plan?.verdicts).toEqual({ changes: 1, same: 2 })
    await database.pool.execute(`delete from settings where name = 'approval_policy'`)
    await expectAnn(await wish(one, 2))
  })
})

const inEnvironments = (...values: string[]) => ({
  match_expressions: [{ key: 'muster/env', operator: 'In', values }],
})
const text = (number: number) => ({ content: productionYaml(number).replace('127.0.0.1', `\${muster:site}`) })

describe('what its author alone brought to where authors approve what they wrote was looked at by nobody else', () => {
  const everywhere = { ...text(2), selector: inEnvironments('staging', 'production') }
  beforeEach(async () => {
    await scene.letAuthorsCountUnlabelled()
    await scene.label('vm-1', { env: 'staging' })
  })

  it('where production comes under the fleet config with the next version', async () => {
    for (const host of ['vm-2', 'vm-3']) await scene.label(host, { env: 'production' })
    const first = await wish(one, 1, { ...by(ann), ...text(1), selector: inEnvironments('staging') })
    await carryOut(first.campaign_id!, ann)
    await expectAnn(await wish(one, 2, { ...by(bob), ...everywhere }))
  })

  it('where production comes under it between the next version and its plan', async () => {
    await carryOut((await wish(one, 1, { ...by(ann), ...everywhere, ...text(1) })).campaign_id!, ann)
    const next = await wish(one, 2, { ...by(bob), ...everywhere })
    await scene.label('vm-2', { env: 'production' })
    await scene.ctx.advance(2_000)
    await expectAnn(next)
  })

  it('until somebody else had to approve it, be a workload on hold then or away', async () => {
    await scene.label('vm-2', { env: 'production' })
    await scene.label('vm-3', { env: 'production' })
    await carryOut(
      (await wish(one, 1, { ...by(ann), ...text(1), selector: inEnvironments('staging') })).campaign_id!,
      ann,
    )
    const { workload_ids } = only('vm-2')
    expect((await scene.call('POST /api/holds', { workload_ids, reason: 'a disk' }, ann)).status).toBe(200)
    scene.agent('vm-3').goodbye()
    scene.agent('vm-3').lose()
    await scene.ctx.advance(200_000)
    await carryOut((await wish(one, 2, { ...by(bob), ...everywhere })).campaign_id!, dora)
    for (const [at, who] of [ann, bob].entries()) {
      const { campaign_id: id } = await wish(one, 3 + at, { ...everywhere, ...text(3 + at) })
      expect(await approve(id!, who)).toBe('approved')
    }
  })
})

describe('whoever asked for the text first under that name, and named everybody, keeps nobody from approving it', () => {
  /** Eve knows the text beforehand, asks for it under the free name, names everybody and lets it go. */
  async function evePrepares(): Promise<void> {
    const first = await wish(eve, 1, { ...by(ann, bob, dora), selector: named('vm-3') })
    await release(first, eve!, 'eves')
  }
  const variables = [{ name: 'site', label: 'identity/host.name', pattern: '[a-z0-9-]+' }]
  /** Write a version by hand. */
  async function write(id: string, text: number, as: SignedIn): Promise<number> {
    const body = { content: versionText(text), variables, comment: 'by hand' }
    const { status, json } = await scene.call(`POST /api/fleet-configs/${id}/versions`, body, as)
    expect(status, JSON.stringify(json)).toBe(201)
    return (json as { number: number }).number
  }

  it('where people carry by hand what Git asked for, and Git asks for the next before anything was brought', async () => {
    await evePrepares()
    const same = await wish(one, 1, by(ann))
    await wish(one, 2, by(ann))
    const { id } = await draft(same, {}, dora)
    expect(await approve(id, ann, dora)).toBe('author')
    expect(await approve(id, bob, dora)).toBe('approved')
  })

  it('where they do once Git has let it go', async () => {
    await evePrepares()
    const same = await wish(one, 1, by(ann))
    await release(same, one!)
    const { id } = await draft(same, {}, dora)
    expect(await approve(id, ann, dora)).toBe('author')
    expect(await approve(id, bob, dora)).toBe('approved')
  })

  it('where a token brings back what was approved for Git, as Git asks for the next', async () => {
    await evePrepares()
    await carryOut((await wish(one, 1, by(ann))).campaign_id!, bob)
    const brought = scene.runs('vm-1')
    await carryOut((await wish(one, 2, by(ann))).campaign_id!, bob)
    const { token } = await makeApiToken(scene.ctx, one!, ['config:read_content', 'workload:push_config'])
    const back = `POST /api/workloads/${scene.agent('vm-1').workloadId}/configs/${brought}/rollback`
    const tried = await invoke(scene.ctx, back, { as: token, body: { comment: 'back' } })
    expect(tried.status, JSON.stringify(tried.json)).toBe(202)
  })

  it('where people write it as a version of a fleet config that they made, nor where one asks whom it did not name', async () => {
    const made = { name: 'edge', selector: named('vm-*'), priority: 1 }
    const { json } = await scene.call('POST /api/fleet-configs', made, dora)
    const { id: fleet_config_id } = json as { id: string }
    await write(fleet_config_id, 2, dora)
    const { token } = await makeApiToken(scene.ctx, eve!, ['config:create', 'config:request'])
    const asked = { owner: 'eves', ...made, variables, campaign: { takeover: true, waves: [{}] } }
    const body = { ...asked, content: versionText(1), ...by(ann, bob, dora) }
    const told = await invoke(scene.ctx, 'POST /api/fleet-configs/desired', { as: token, body })
    expect(told.status, JSON.stringify(told.json)).toBe(200)
    await scene.ctx.advance(1)
    await release(told.json as DesiredFleetResult, eve!, 'eves')
    const version = await write(fleet_config_id, 1, admin)
    const byAdmin = await draft({ fleet_config_id, version } as DesiredFleetResult, {}, admin)
    expect(await approve(byAdmin.id, bob, admin)).toBe('author')
    const byDora = await draft({ fleet_config_id, version } as DesiredFleetResult, {}, dora)
    expect(await approve(byDora.id, bob, dora)).toBe('approved')
  })

  it('nor who asked for it before it was handed over, by whom that account names only then, as Git asks for the next', async () => {
    const first = await wish(one, 1, by(ann))
    await handOver(two!, 'shop')
    await wish(one, 1, { ...by(bob, dora), name: 'elsewhere', selector: named('nowhere') })
    await wish(two, 2)
    const { id } = await draft(first, {}, dora)
    expect(await approve(id, ann, dora)).toBe('author')
    expect(await approve(id, bob, dora)).toBe('approved')
  })
})
