import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keepManagedFleetConfig } from '../../../lib/store/managed-fleet-configs.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { DesiredFleetResult } from '../../../lib/wire/desired.ts'
import type { DriftOverview } from '../../../lib/wire/drift.ts'
import { AutoApplyScene, hashOn, versionText } from '../../support/auto-apply-scene.ts'
import { type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

// Git keeps the fleet config by which three hosts run the first text: what people may do there by hand, and what is said of
// it.

const database = await useTestDatabase()
let scene: AutoApplyScene
let admin: SignedIn

beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
  admin = await signIn(scene.ctx)
})
afterEach(() => scene.ctx.close())

const WISH = {
  owner: 'platform',
  commit_sha: 'a'.repeat(40),
  commit_author: 'Ann',
  name: 'Hosts',
  selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-*'] }] },
  variables: [{ name: 'site', label: 'identity/host.name', pattern: '[a-z0-9-]+' }],
  campaign: { takeover: true, waves: [{}], limits: { failed: 50, silent: 50 } },
}
async function wish(text: number, more: object = {}): Promise<DesiredFleetResult> {
  const { status, json } = await scene.call('POST /api/fleet-configs/desired', {
    ...WISH,
    content: versionText(text),
    ...more,
  })
  expect({ status, json }).toMatchObject({ status: 200 })
  return json as DesiredFleetResult
}

const yes = { comment: 'yes', prod_confirmation: true }
async function plan(id: string): Promise<string> {
  await scene.call(`POST /api/campaigns/${id}/plan`)
  // One that was planned before stays so while it is planned anew.
  await expect.poll(() => scene.ctx.campaigns.planner.progress(id)).toBeNull()
  expect((await scene.readCampaign(id)).status).toBe('planned')
  return (await scene.readCampaign(id)).plan_hash!
}
/** Plan, request, approve and start a campaign, and let it come to its end. */
async function carryOut(id: string): Promise<void> {
  const body = { ...yes, plan_hash: await plan(id) }
  for (const [step, as] of [['request'], ['approve', scene.approver], ['start']] as const)
    expect(await scene.call(`POST /api/campaigns/${id}/${step}`, body, as)).toMatchObject({ status: 200 })
  for (let n = 0; n < 12 && (await scene.readCampaign(id)).status !== 'done'; n++) {
    await scene.work(n < 6 ? 300 : 31_000)
    await scene.applyAll()
  }
  expect((await scene.readCampaign(id)).status).toBe('done')
}
/** Git takes the fleet config over, and its version comes to run everywhere; answers the number of the version. */
async function keep(text: number): Promise<number> {
  const { campaign_id: id, version } = await wish(text)
  await carryOut(id!)
  expect(await wish(text)).toMatchObject({ action: 'unchanged' })
  return version!
}

async function differing(): Promise<string[]> {
  const { items } = (await scene.call('GET /api/config-safety/drift', undefined, admin)).json as DriftOverview
  return ['vm-1', 'vm-2', 'vm-3'].filter((host) =>
    items
      .find(({ workload_id: id }) => id === scene.agent(host).workloadId)
      ?.drift_reasons?.includes('differs_from_git'),
  )
}
const at = (host: string, rest: string) => `/api/workloads/${scene.agent(host).workloadId}/${rest}`

/** A campaign for a version that nobody has asked for yet. */
async function draft(number: number, more: object = {}) {
  const change = { kind: 'version', fleet_config_id: scene.configId, number, takeover: true }
  return scene.call('POST /api/campaigns', { name: `By hand to ${number}`, change, scope: {}, ...more })
}
const MANAGED = { status: 409, json: { code: 'fleet_config_managed', owner: 'platform' } }

it.each([
  ['its versions', 'POST', '/versions', { content: configYaml(2), comment: 'mine' }],
  [
    'its selector',
    'PUT',
    '',
    { name: 'Own', selector: { match_labels: { 'muster/own': 'c' } }, priority: 1 },
  ],
  ['all of it', 'DELETE', '', undefined],
])('who changes %s by hand while Git takes the fleet config is refused', async (_, method, rest, body) => {
  const made = await scene.call('POST /api/fleet-configs', {
    name: 'Own',
    selector: { match_labels: { 'muster/own': 'b' } },
    priority: 1,
  })
  expect(made.status, JSON.stringify(made.json)).toBe(201)
  const { id } = made.json as { id: string }
  const first = { content: configYaml(1), comment: 'first' }
  expect((await scene.call(`POST /api/fleet-configs/${id}/versions`, first)).status).toBe(201)
  const tried = await database.pool.transaction('git', async (tx) => {
    await tx.query('select from fleet_configs where id = $1 for update', [id])
    const answer = scene.call(`${method} /api/fleet-configs/${id}${rest}`, body)
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await expect.poll(() => database.pool.query(waiting)).toHaveLength(1)
    const of = {
      fleetConfigId: id,
      owner: 'platform',
      wishHash: '0'.repeat(64),
      version: 1,
      commitSha: '',
      commitAuthor: '',
    }
    const by = { appliedAt: scene.ctx.clock.now(), appliedBy: admin.email, appliedById: admin.userId }
    await keepManagedFleetConfig(tx, { ...of, ...by })
    return { answer }
  })
  expect(await tried.answer).toMatchObject(MANAGED)
})

it('no campaign brings another version than Git asks for, also one that was made before', async () => {
  await scene.carry(1)
  const made = ['draft', 'planned', 'requested', 'approved'] as const
  const ids: Record<string, string> = {}
  for (const status of made) {
    const { status: code, json } = await draft(1)
    expect(code).toBe(201)
    const { id } = json as CampaignRecord
    ids[status] = id
    if (status === 'draft') continue
    const body = { ...yes, plan_hash: await plan(id) }
    if (status !== 'planned') {
      // A plan that changes nobody is not asked for: what matters here is where it stands.
      await database.pool.execute('update campaigns set status = $2, plan_hash = $3 where id = $1', [
        ...[id, status, body.plan_hash],
      ])
    }
  }
  const version = await keep(2)
  expect(version).toBe(2)
  expect(await draft(1)).toMatchObject(MANAGED)
  const same = { name: 'edited', change: { kind: 'version', fleet_config_id: scene.configId, number: 1 } }
  expect(await scene.call(`PUT /api/campaigns/${ids['draft']}`, { ...same, scope: {} })).toMatchObject(
    MANAGED,
  )
  const steps = [
    ['requested', 'approve', scene.approver],
    ['approved', 'start', scene.editor],
  ] as const
  for (const [status, step, as] of steps) {
    const id = ids[status]!
    const body = { ...yes, plan_hash: (await scene.readCampaign(id)).plan_hash }
    expect(await scene.call(`POST /api/campaigns/${id}/${step}`, body, as), step).toMatchObject(MANAGED)
  }
  const planned = ids['planned']!
  await plan(planned)
  const body = { ...yes, plan_hash: (await scene.readCampaign(planned)).plan_hash }
  expect(await scene.call(`POST /api/campaigns/${planned}/request`, body)).toMatchObject(MANAGED)
  expect(['vm-1', 'vm-2', 'vm-3'].map((host) => scene.runs(host))).toEqual(
    ['vm-1', 'vm-2', 'vm-3'].map((host) => hashOn(2, host)),
  )
  // What Git asks for is carried by hand as well.
  expect(await draft(2)).toMatchObject({ status: 201 })
})

it('people carry what they had as ever until a workload has got what Git asks for: whoever may only ask stops nobody', async () => {
  await scene.carry(1)
  await scene.write(2)
  const { campaign_id: asked } = await wish(3)
  const byHand = await draft(2, { waves: WISH.campaign.waves, limits: WISH.campaign.limits })
  expect(byHand).toMatchObject({ status: 201 })
  await carryOut((byHand.json as CampaignRecord).id)
  expect(['vm-1', 'vm-2', 'vm-3'].map((host) => scene.runs(host))).toEqual(
    ['vm-1', 'vm-2', 'vm-3'].map((host) => hashOn(2, host)),
  )
  await carryOut((await wish(3)).campaign_id ?? asked!)
  expect(await draft(2)).toMatchObject(MANAGED)
})

it('no other version than Git asks for comes to apply by itself', async () => {
  await scene.carry(1)
  const version = await keep(2)
  expect(await scene.request(1)).toMatchObject(MANAGED)
  expect(await scene.request(version)).toMatchObject({ status: 201 })
})

it('a version that was carried over what Git asks for, before that was refused, shows as drift', async () => {
  await scene.carry(1)
  await keep(2)
  const [kept] = await database.pool.query<{ version: number }>('select version from managed_fleet_configs')
  await database.pool.execute('update managed_fleet_configs set version = 1')
  await scene.carry(1)
  await database.pool.execute('update managed_fleet_configs set version = $1', [kept!.version])
  expect(await differing()).toEqual(['vm-1', 'vm-2', 'vm-3'])
  expect(await wish(2)).toMatchObject({ action: 'held', reason: 'replaced' })
})

it('a version that a workload was rolled back from is held until somebody asks again or its text changes', async () => {
  await scene.carry(1)
  const version = await keep(2)
  const back = await scene.call(`POST ${at('vm-1', 'rollback')}`, { comment: 'back' }, admin)
  expect(back.status).toBe(202)
  await scene.applyAll(['vm-1'])
  // The page of drift and the plan say the same.
  expect(await differing()).toEqual(['vm-1'])
  for (const dry_run of [true, false])
    expect(await wish(2, { dry_run })).toMatchObject({
      action: 'held',
      reason: 'rolled_back',
      campaign_status: 'done',
    })
  expect(await wish(3, { dry_run: true })).toMatchObject({ action: 'propose' })
  const again = await wish(2, { again: true })
  expect(again).toMatchObject({ action: 'propose', version, campaign_status: 'draft' })
  expect(await wish(2)).toMatchObject({ action: 'waits', campaign_id: again.campaign_id })
  expect((await scene.call(`POST ${at('vm-1', 'release')}`, {}, admin)).status).toBeLessThan(300)
  await carryOut(again.campaign_id!)
  expect(scene.runs('vm-1')).toBe(hashOn(2, 'vm-1'))
  expect(await differing()).toEqual([])
  expect(await wish(2)).toMatchObject({ action: 'unchanged' })
})

it('a version that failed at a workload is held as well', async () => {
  await scene.carry(1)
  const { campaign_id: id } = await wish(2)
  const body = { ...yes, plan_hash: await plan(id!) }
  for (const [step, as] of [['request'], ['approve', scene.approver], ['start']] as const)
    expect(await scene.call(`POST /api/campaigns/${id}/${step}`, body, as)).toMatchObject({ status: 200 })
  await scene.work(300)
  scene.agent('vm-3').fail('port is in use')
  for (let n = 0; n < 12 && (await scene.readCampaign(id!)).status !== 'done'; n++) {
    await scene.applyAll(['vm-1', 'vm-2'])
    await scene.work(n < 6 ? 300 : 31_000)
    // What it goes back to it applies.
    if (scene.runs('vm-3') === hashOn(1, 'vm-3')) await scene.applyAll(['vm-3'])
  }
  expect((await scene.readCampaign(id!)).counts).toMatchObject({ failed: 1 })
  expect(await wish(2)).toMatchObject({ action: 'held', reason: 'failed' })
})

/** Ask for a config of one host by hand, as an editor does. */
async function ask(host: string, text: string, as = scene.editor): Promise<string> {
  const draft_yaml = text.replace('127.0.0.1', host)
  const body = { draft_yaml, comment: 'by hand', prod_confirmation: true }
  const { status, json } = await scene.call(`POST ${at(host, 'config/approvals')}`, body, as)
  expect(status, JSON.stringify(json)).toBe(201)
  return (json as ApprovalRecord).id
}

it('a workload that Git keeps by its fleet config is changed by breaking the glass only, and says who keeps it', async () => {
  const elsewhere = { status: 409, json: { code: 'managed_elsewhere', owner: 'platform' } }
  await scene.carry(1)
  const before = await ask('vm-1', configYaml(5))
  const approve = (host: string, id: string) =>
    scene.call(`POST ${at(host, `config/approvals/${id}`)}/approve`, { comment: 'fine' }, scene.approver)
  expect(await approve('vm-1', before)).toMatchObject({ status: 200 })
  await keep(2)
  const id = await ask('vm-2', configYaml(6))
  const outlook = `GET ${at('vm-2', 'config/approval-outlook?draft_hash=x')}`
  expect(await scene.call(outlook)).toMatchObject(elsewhere)
  expect(await approve('vm-2', id)).toMatchObject(elsewhere)
  // What was approved before goes nowhere either.
  const push = { comment: 'go', prod_double_confirmed: true }
  expect(await scene.call(`POST ${at('vm-1', `config/approvals/${before}`)}/push`, push)).toMatchObject(
    elsewhere,
  )
  const standing = await scene.call(`GET ${at('vm-2', 'fleet-config')}`)
  expect(standing.json).toMatchObject({
    fleet_config: { name: 'Hosts' },
    kept_in_git: { owner: 'platform', version: 2, commit_sha: WISH.commit_sha, commit_author: 'Ann' },
  })
  // Nor does another owner in Git ask for something there.
  const other = { owner: 'others', config: configYaml(7) }
  expect(await scene.call(`POST ${at('vm-3', 'config/desired')}`, other, admin)).toMatchObject(elsewhere)
  const broken = { ...push, break_glass: true, break_glass_reason: 'an incident' }
  const path = `POST ${at('vm-2', `config/approvals/${id}`)}/push`
  expect(await scene.call(path, broken, admin)).toMatchObject({ status: 202 })
  await scene.applyAll(['vm-2'])
  expect(await differing()).toEqual(['vm-2'])
  for (const [host, overruled] of [['vm-1'], ['vm-2', 'replaced']] as const)
    expect((await scene.call(`GET ${at(host, 'fleet-config')}`)).json).toMatchObject({
      kept_in_git: { owner: 'platform', ...(overruled === undefined ? {} : { overruled }) },
    })
  expect(await wish(2)).toMatchObject({ action: 'held', reason: 'replaced' })
})

it.each<[string, () => Promise<unknown>]>([
  ['at all', async () => {}],
  ['since, by a campaign', () => scene.carry(1)],
  [
    'since, by itself',
    async () => {
      await scene.carry(1)
      await scene.apply(1)
      scene.connect('vm-4')
      for (let n = 0; n < 5; n++) {
        await scene.work(1_000)
        await scene.applyAll(['vm-4'])
      }
      expect(scene.runs('vm-4')).toBe(hashOn(1, 'vm-4'))
    },
  ],
])(
  'a fleet config that Git holds keeps nobody from a workload that it brought nothing to %s',
  async (_, before) => {
    await before()
    await wish(2)
    for (const host of scene.agents.keys()) {
      const id = await ask(host, configYaml(6))
      const approval = at(host, `config/approvals/${id}`)
      expect(await scene.call(`POST ${approval}/approve`, { comment: 'fine' }, scene.approver)).toMatchObject(
        {
          status: 200,
        },
      )
      const push = { comment: 'go', prod_double_confirmed: true }
      expect(await scene.call(`POST ${approval}/push`, push)).toMatchObject({ status: 202 })
      const { json } = await scene.call(`GET ${at(host, 'fleet-config')}`)
      expect(json).toMatchObject({ fleet_config: { name: 'Hosts' } })
      expect(json).not.toHaveProperty('kept_in_git')
    }
  },
)

/** Push a config of one host, of which somebody else approves that. */
async function pushByHand(host: string, number: number): Promise<void> {
  const approval = at(host, `config/approvals/${await ask(host, configYaml(number))}`)
  expect(await scene.call(`POST ${approval}/approve`, { comment: 'fine' }, scene.approver)).toMatchObject({
    status: 200,
  })
  const push = { comment: 'go', prod_double_confirmed: true }
  expect(await scene.call(`POST ${approval}/push`, push)).toMatchObject({ status: 202 })
  await scene.applyAll([host])
}
const standing = async (host: string) => (await scene.call(`GET ${at(host, 'fleet-config')}`)).json
const named = (...hosts: string[]) => ({
  match_expressions: [{ key: 'identity/host.name', operator: 'In', values: hosts }],
})

it('a fleet config of higher priority takes no workload that Git has brought, be it by hand or of another owner', async () => {
  await scene.carry(1)
  await keep(2)
  scene.connect('vm-4')
  await scene.ctx.advance(1_000)
  const above = { name: 'Above', selector: named('vm-1', 'vm-4'), priority: 9 }
  expect(await scene.call('POST /api/fleet-configs', above)).toMatchObject({ status: 201 })
  const others = { owner: 'others', name: 'Others', selector: named('vm-2'), priority: 8 }
  const asked = { ...WISH, ...others, content: versionText(7) }
  expect(await scene.call('POST /api/fleet-configs/desired', asked, admin)).toMatchObject({ status: 200 })
  for (const host of ['vm-1', 'vm-2'])
    expect(await standing(host)).toMatchObject({
      fleet_config: { name: 'Hosts' },
      kept_in_git: { owner: 'platform' },
    })
  expect(await standing('vm-4')).toMatchObject({ fleet_config: { name: 'Above' } })
  // That this is why is told whatever the priorities are.
  const below = { name: 'Below', selector: named('vm-1'), priority: -1 }
  expect(await scene.call('POST /api/fleet-configs', below)).toMatchObject({
    status: 201,
    json: { kept_by: [{ name: 'Hosts', workload_count: 1, in_git_count: 1 }] },
  })
  // Its owner may, and so may people once Git lets go of it.
  const own = { name: 'Own', selector: named('vm-3'), priority: 7 }
  expect(await wish(8, own)).toMatchObject({ joining_count: 1 })
  expect(await standing('vm-3')).toMatchObject({ fleet_config: { name: 'Own' } })
  const gone = `DELETE /api/fleet-configs/${scene.configId}/desired?owner=platform`
  expect(await scene.call(gone)).toMatchObject({ status: 204 })
  expect(await standing('vm-1')).toMatchObject({ fleet_config: { name: 'Above' } })
})

it('what was pushed while a workload was not under its fleet config shows as drift once it is again', async () => {
  await scene.carry(1)
  await keep(2)
  await wish(2, { selector: named('vm-2', 'vm-3') })
  await pushByHand('vm-1', 6)
  expect(await differing()).toEqual([])
  expect(await wish(2)).toMatchObject({ action: 'held', reason: 'replaced' })
  expect(await differing()).toEqual(['vm-1'])
})

describe('a version that applied by itself before Git asked for another one', () => {
  const isDrift = async (host: string) => {
    const { items } = (await scene.call('GET /api/config-safety/drift', undefined, admin))
      .json as DriftOverview
    const { workloadId } = scene.agent(host)
    return (
      items.find(({ workload_id: id }) => id === workloadId)?.drift_reasons?.includes('differs_from_git') ??
      false
    )
  }
  /** A host comes, and gets what applies by itself. */
  async function comes(host: string): Promise<void> {
    scene.connect(host)
    await scene.ctx.advance(300)
    for (let n = 0; n < 5; n++) {
      await scene.work(1_000)
      await scene.applyAll([host])
    }
    expect(scene.runs(host)).toBe(hashOn(1, host))
  }

  it('is not continued where it was paused, once that was brought', async () => {
    await scene.carry(1)
    await scene.apply(1)
    expect(await scene.on('POST', '/pause', {})).toMatchObject({ status: 200 })
    const version = await keep(2)
    expect(await scene.on('POST', '/continue', {})).toMatchObject(MANAGED)
    await database.pool.execute('update managed_fleet_configs set version = 1')
    expect(await scene.on('POST', '/continue', {})).toMatchObject({ status: 200 })
    await database.pool.execute('update managed_fleet_configs set version = $1', [version])
  })

  it('goes on until that is brought, and shows as drift from then on', async () => {
    await scene.carry(1)
    await scene.apply(1)
    await wish(2)
    await comes('vm-4')
    expect(await isDrift('vm-4')).toBe(false)
    await keep(2)
    expect(scene.runs('vm-4')).toBe(hashOn(2, 'vm-4'))
    await comes('vm-5')
    expect(await isDrift('vm-5')).toBe(true)
    expect(await isDrift('vm-4')).toBe(false)
    // The next run brings it there.
    await carryOut((await wish(2)).campaign_id!)
    expect(await isDrift('vm-5')).toBe(false)
  })
})
