import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { keepAuthorsOfFleetConfig } from '../../../lib/store/authors-of-removed.ts'
import { storeSetting } from '../../../lib/store/settings.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { DesiredResult } from '../../../lib/wire/desired.ts'
import type { FleetConfigRecord } from '../../../lib/wire/fleet-configs.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// Whom a commit names is the word of whoever asks for its text: it counts for what that account asks for, and for what others
// ask for later where it had asked for the same text. A token may name anybody, and keeps nobody from approving the rest.

const database = await useTestDatabase()
let ctx: FleetTestContext
let shop: FakeAgent
let other: FakeAgent
let pipeline: SignedIn
let heir: SignedIn
let eve: SignedIn
let ann: SignedIn
let bob: SignedIn
const TEXT = configYaml()
const NEXT = `${TEXT}# next\n`
/** One that no fleet config here carries. */
const OWN = `${TEXT}# own\n`

beforeAll(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  const [one, two, three, four, five] = [1, 2, 3, 4, 5].map(() => signIn(ctx, { groups: ['editor'] }))
  ;[pipeline, heir, eve, ann, bob] = await Promise.all([one!, two!, three!, four!, five!])
})
beforeEach(async () => {
  const kept = ['managed_configs', 'git_wishes', 'managed_fleet_configs']
  for (const table of ['approvals', ...kept, 'commit_authors', 'commit_claims', 'settings'])
    await database.pool.execute(`delete from ${table}`)
  shop = fakeAgent(ctx.fleet)
  other = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const pathOf = (agent: Pick<FakeAgent, 'workloadId'>) => `/api/workloads/${agent.workloadId}/config`
const naming = (...people: SignedIn[]) => ({
  commit_author: 'Carl <carl@example.com>',
  commit_authors: people.map(({ email }) => `Somebody <${email}>`),
})

/** Ask in Git for a text, and let time pass. */
async function wish(as: SignedIn, agent: FakeAgent, config: string, said: object): Promise<string> {
  const owner = as === eve ? 'eves' : 'platform'
  const body = { owner, config, ...said }
  const { status, json } = await invoke(ctx, `POST ${pathOf(agent)}/desired`, { as: as.token, body })
  expect({ status, json }).toMatchObject({ status: 200 })
  await ctx.advance(1)
  return (json as DesiredResult).approval_id ?? ''
}

async function request(agent: Pick<FakeAgent, 'workloadId'>, draft_yaml: string, as = bob): Promise<string> {
  const body = { draft_yaml, comment: 'by hand' }
  const { json } = await invoke(ctx, `POST ${pathOf(agent)}/approvals`, { as: as.token, body })
  await ctx.advance(1)
  return (json as ApprovalRecord).id
}

async function approve(agent: Pick<FakeAgent, 'workloadId'>, id: string, as: SignedIn): Promise<unknown> {
  const way = `POST ${pathOf(agent)}/approvals/${id}/approve`
  const { status, json } = await invoke(ctx, way, { as: as.token, body: { comment: 'fine' } })
  return status === 200 ? 'approved' : (json as { reason?: string }).reason
}

async function release(as: SignedIn, agent: FakeAgent): Promise<void> {
  const gone = `DELETE ${pathOf(agent)}/desired?owner=${as === eve ? 'eves' : 'platform'}`
  expect((await invoke(ctx, gone, { as: as.token })).status).toBe(204)
  await ctx.advance(1)
}

/** Approve a request as a version of muster does that knows nothing of what was claimed. */
const approveByOlder = (id: string): Promise<number> =>
  database.pool.execute(`update approvals set status = 'approved', approved_at = $2 where id = $1`, [
    id,
    ctx.clock.now(),
  ])

/** Label a workload; of one labelled with what is no production the author may approve. */
const placeIn = ({ workloadId }: Pick<FakeAgent, 'workloadId'>, env: string) =>
  ctx.fleet.setTrustedLabels(workloadId, { env }, null, async () => {})

/** Have the policy let authors count everywhere, or nowhere, among so many who have to approve. */
async function letAuthorsCount(authorCounts: boolean, approvals = 1): Promise<void> {
  const rule = { approvals, authorCounts, validHours: null }
  const value = JSON.stringify({
    policy: { production: rule, other: rule, unlabelled: rule },
    pending: null,
  })
  await storeSetting(database.pool, 'approval_policy', { value, updatedAt: ctx.clock.now(), updatedBy: '' })
}

/** Push an approved request, and have it run. */
async function run(agent: FakeAgent, id: string): Promise<void> {
  const push = `POST ${pathOf(agent)}/approvals/${id}/push`
  const body = { comment: 'go', prod_double_confirmed: true }
  const pushed = await invoke(ctx, push, { as: bob.token, body })
  expect(pushed.status, JSON.stringify(pushed.json)).toBe(202)
  await ctx.advance(300)
  agent.apply()
  await ctx.advance(5_000)
}

/** Remove a workload with all that was asked for on it. */
async function remove(agent: FakeAgent): Promise<void> {
  const admin = await signIn(ctx)
  const { status, json } = await invoke(ctx, `DELETE /api/workloads/${agent.workloadId}`, { as: admin.token })
  expect(status, JSON.stringify(json)).toBe(204)
}

/** Have the platform keep a workload with a text that runs. */
async function keepRunning(agent: FakeAgent): Promise<void> {
  const id = await wish(pipeline, agent, TEXT, naming())
  expect(await approve(agent, id, heir)).toBe('approved')
  await run(agent, id)
}

/** Hand all that the platform keeps over to the owner whose own wishes wait there, for this account. */
async function handTo(account: SignedIn): Promise<void> {
  const body = { owner: 'platform', to_owner: 'eves', to_account_id: account.userId }
  const { status } = await invoke(ctx, 'POST /api/managed-configs/hand-over', { as: bob.token, body })
  expect(status).toBe(200)
}

/** Have Eve ask for Ann's text with a word that Carl corrected: Ann counts as an author, and Bob approves it. Returns its id. */
async function approveCorrected(): Promise<string> {
  const id = await wish(eve, shop, `${NEXT}# a word corrected\n`, {
    commit_author: 'Carl <carl@example.com>',
  })
  expect(await approve(shop, id, ann)).toBe('author')
  expect(await approve(shop, id, bob)).toBe('approved')
  return id
}

const handOver = async (to_owner = 'platform'): Promise<void> => {
  const body = { owner: 'platform', to_owner, to_account_id: heir.userId }
  const { status } = await invoke(ctx, 'POST /api/managed-configs/hand-over', { as: bob.token, body })
  expect(status).toBe(200)
}

describe('whoever wrote the commit does not approve what somebody else asks for by hand, though the commit names him too', () => {
  it.each([
    ['as Git waits for it there', async () => {}],
    [
      'as Git had it approved, and let go',
      async (id: string) => {
        expect(await approve(shop, id, ann)).toBe('approved')
        await release(pipeline, shop)
      },
    ],
  ])('%s', async (_what, next) => {
    await next(await wish(pipeline, shop, OWN, naming(eve, bob)))
    const id = await request(shop, OWN)
    expect(await approve(shop, id, eve)).toBe('author')
    expect(await approve(shop, id, ann)).toBe('approved')
  })

  it('but where Git let go what nobody else had approved', async () => {
    await wish(pipeline, shop, OWN, naming(eve, bob))
    await release(pipeline, shop)
    expect(await approve(shop, await request(shop, OWN), eve)).toBe('approved')
  })
})

describe('a token that names everybody keeps nobody from approving', () => {
  it('what somebody else asks for on another workload, before and after', async () => {
    await wish(eve, other, TEXT, naming(ann, bob))
    const id = await request(shop, TEXT)
    await wish(eve, other, NEXT, naming(ann, bob))
    await wish(eve, other, TEXT, naming(ann, bob))
    expect(await approve(shop, id, ann)).toBe('approved')
  })

  it('what was asked for on the same workload before, by hand or in Git', async () => {
    const id = await request(shop, TEXT)
    const fromGit = await wish(pipeline, shop, NEXT, naming(bob))
    await wish(eve, shop, TEXT, naming(ann))
    await wish(eve, shop, NEXT, naming(ann))
    expect(await approve(shop, id, ann)).toBe('approved')
    expect(await approve(shop, fromGit, ann)).toBe('approved')
  })

  it('what a pipeline asks for in the place of what it named the authors of', async () => {
    await wish(pipeline, shop, TEXT, naming(bob))
    await wish(eve, other, TEXT, naming(ann))
    await wish(eve, shop, TEXT, naming(ann))
    const next = await wish(pipeline, shop, NEXT, {})
    expect(await approve(shop, next, bob)).toBe('author')
    expect(await approve(shop, next, ann)).toBe('approved')
  })

  it('what was asked for on the same workload, by whom it names only afterwards', async () => {
    await wish(eve, shop, TEXT, naming())
    const id = await request(shop, TEXT)
    await wish(eve, shop, TEXT, naming(ann))
    expect(await approve(shop, id, ann)).toBe('approved')
  })

  it('what was asked for in its owner’s name before that was handed over to it', async () => {
    const id = await wish(pipeline, shop, TEXT, naming(bob))
    await handOver()
    await wish(heir, shop, TEXT, naming(ann))
    expect(await approve(shop, id, bob)).toBe('author')
    expect(await approve(shop, id, ann)).toBe('approved')
  })

  it('what others ask for elsewhere, once somebody else has approved its own, or that runs', async () => {
    await placeIn(other, 'staging')
    const id = await wish(eve, other, TEXT, naming(ann))
    expect(await approve(other, id, heir)).toBe('approved')
    expect(await approve(shop, await request(shop, TEXT), ann)).toBe('approved')
    await run(other, id)
    expect(await approve(shop, await request(shop, TEXT), ann)).toBe('approved')
    await remove(other)
    expect(await approve(shop, await request(shop, TEXT), ann)).toBe('approved')
  })

  it('what others ask for elsewhere, once two have approved its own, be the first its second account', async () => {
    await letAuthorsCount(true, 2)
    const id = await wish(eve, other, TEXT, naming(ann))
    for (const one of [eve, heir]) expect(await approve(other, id, one)).toBe('approved')
    await letAuthorsCount(false)
    expect(await approve(shop, await request(shop, TEXT), ann)).toBe('approved')
  })

  it('what others ask for elsewhere, once Git takes on with its names what runs already', async () => {
    await pushConfig(ctx.fleet, other.workloadId, TEXT)
    other.apply()
    await ctx.advance(300)
    await wish(eve, other, TEXT, naming(ann))
    expect(await approve(shop, await request(shop, TEXT), ann)).toBe('approved')
  })

  it('what others ask for elsewhere, once an older version of muster has approved its own', async () => {
    await approveByOlder(await wish(eve, other, TEXT, naming(ann)))
    expect(await approve(shop, await request(shop, TEXT), ann)).toBe('approved')
  })

  it('what others ask for elsewhere, once somebody else has approved its campaign, also where its fleet config is gone', async () => {
    const id = await wishFleet(eve, 'its-own', { owner: 'eves', ...naming(ann) })
    const [first] = await campaignsOf(id, 1)
    expect(await approveCampaign(first!, heir)).toBe('approved')
    expect(await approve(shop, await request(shop, TEXT), ann)).toBe('approved')
    await database.pool.transaction('test', (tx) => keepAuthorsOfFleetConfig(tx, id))
    await database.pool.execute('delete from campaigns where id = $1', [first])
    const elsewhere = fakeAgent(ctx.fleet)
    await ctx.advance(300)
    expect(await approve(elsewhere, await request(elsewhere, TEXT), ann)).toBe('approved')
  })

  it('what a pipeline asks for on the same workload, by what it had asked for there and let go', async () => {
    await wish(eve, shop, OWN, naming(ann, bob, heir, pipeline))
    await release(eve, shop)
    const id = await wish(pipeline, shop, OWN, naming(ann))
    expect(await approve(shop, id, ann)).toBe('author')
    expect(await approve(shop, id, bob)).toBe('approved')
  })

  it('what people ask for by hand there, for it names whoever asks as well, or somebody else asks', async () => {
    await wish(eve, shop, TEXT, naming(ann, heir))
    await release(eve, shop)
    expect(await approve(shop, await request(shop, TEXT), ann)).toBe('author')
    expect(await approve(shop, await request(shop, TEXT, heir), ann)).toBe('approved')
  })

  it('what was handed over, by whom it names only then, once something else is asked for', async () => {
    const id = await wish(pipeline, shop, OWN, naming(ann))
    expect(await approve(shop, id, bob)).toBe('approved')
    await run(shop, id)
    await handOver()
    await ctx.advance(1)
    await wish(pipeline, other, OWN, { owner: 'others', ...naming(bob) })
    const next = await wish(heir, shop, NEXT, naming())
    expect(await approve(shop, next, bob)).toBe('approved')
    await run(shop, next)
    const { token } = await makeApiToken(ctx, heir, ['config:read_content', 'workload:push_config'])
    const back = `POST /api/workloads/${shop.workloadId}/configs/${configHash(OWN)}/rollback`
    const tried = await invoke(ctx, back, { as: token, body: { comment: 'back' } })
    expect(tried.status, JSON.stringify(tried.json)).toBe(202)
  })

  it('what others bring to many workloads, by what it had asked for on one of them before', async () => {
    await wish(eve, shop, TEXT, naming(ann))
    const text = { kind: 'text', yaml: TEXT, takeover: true }
    expect(await approveCampaign(await campaign(text), ann)).toBe('approved')
  })

  it('what others ask for on a workload, by what it had asked for of the fleet config that has it', async () => {
    const id = await wishFleet(eve, 'around', { owner: 'eves', ...naming(ann) })
    const [member] = await database.pool.query<{ workloadId: string }>(
      'select workload_id as "workloadId" from fleet_config_members where fleet_config_id = $1',
      [id],
    )
    expect(await approve(member!, await request(member!, TEXT), ann)).toBe('approved')
  })

  it('nor what a campaign carries', async () => {
    const version = await versionByHand('by-hand', TEXT)
    await wish(eve, other, TEXT, naming(ann))
    const change = { kind: 'version', fleet_config_id: version, number: 1, takeover: true }
    expect(await approveCampaign(await campaign(change), ann)).toBe('approved')
    const text = await campaign({ kind: 'text', yaml: NEXT, takeover: true })
    await wish(eve, other, NEXT, naming(ann))
    expect(await approveCampaign(text, ann)).toBe('approved')
  })
})

describe('whoever made a text stays its author', () => {
  it('where it is asked for by hand on the workload that Git asked it for', async () => {
    await wish(pipeline, shop, TEXT, naming(ann))
    await release(pipeline, shop)
    expect(await approve(shop, await request(shop, TEXT), ann)).toBe('author')
  })

  it('where whoever named them asks for it by hand elsewhere, or has it carried', async () => {
    await wish(pipeline, other, TEXT, naming(ann))
    const body = { draft_yaml: TEXT, comment: 'promoted' }
    const made = await invoke(ctx, `POST ${pathOf(shop)}/approvals`, { as: pipeline.token, body })
    expect(await approve(shop, (made.json as ApprovalRecord).id, ann)).toBe('author')
    const text = { kind: 'text', yaml: TEXT, takeover: true }
    expect(await approveCampaign(await campaign(text, shop, pipeline), ann)).toBe('author')
  })

  it('where whoever asked for it names them only afterwards', async () => {
    const id = await wish(pipeline, shop, TEXT, naming())
    await wish(pipeline, shop, TEXT, naming(ann))
    expect(await approve(shop, id, ann)).toBe('author')
  })

  it('where the workload that Git asked it for was removed, and came back', async () => {
    const agent = fakeAgent(ctx.fleet, { host: 'comes-back' })
    await ctx.advance(300)
    await wish(pipeline, agent, TEXT, naming(ann))
    await remove(agent)
    const again = fakeAgent(ctx.fleet, { host: 'comes-back' })
    await ctx.advance(300)
    expect(again.workloadId).toBe(agent.workloadId)
    expect(await approve(again, await request(again, TEXT), ann)).toBe('author')
  })

  it('of what comes in its place after it was handed over, to another account or another name', async () => {
    for (const name of ['platform', 'shops']) {
      const [agent] = [fakeAgent(ctx.fleet)]
      await ctx.advance(300)
      const first = await wish(pipeline, agent, TEXT, naming(ann))
      await handOver(name)
      const as = { ...heir }
      const body = { owner: name, config: TEXT, ...naming(bob) }
      const again = await invoke(ctx, `POST ${pathOf(agent)}/desired`, { as: as.token, body })
      expect(again.status).toBe(200)
      expect(await approve(agent, first, ann)).toBe('author')
      const second = await invoke(ctx, `POST ${pathOf(agent)}/desired`, {
        as: as.token,
        body: { owner: name, config: NEXT, commit_author: 'Carl' },
      })
      const id = (second.json as DesiredResult).approval_id!
      expect([await approve(agent, id, ann), await approve(agent, id, bob)]).toEqual(['author', 'author'])
      for (const table of ['approvals', 'managed_configs', 'git_wishes', 'commit_authors', 'commit_claims'])
        await database.pool.execute(`delete from ${table}`)
    }
  })

  it('also where it waited and its owner got what another one kept there, and somebody else changes it on top', async () => {
    const waiting = await wish(eve, shop, NEXT, naming(ann))
    expect(waiting).not.toBe('')
    await keepRunning(shop)
    await handTo(eve)
    await approveCorrected()
  })

  it('nor where it had been rejected by then, before the one who kept the place asked for what runs there', async () => {
    const waiting = await wish(eve, shop, NEXT, naming(ann))
    const reject = `POST ${pathOf(shop)}/approvals/${waiting}/reject`
    const ended = await invoke(ctx, reject, { as: bob.token, body: { comment: 'not so' } })
    expect(ended.status, JSON.stringify(ended.json)).toBe(200)
    await ctx.advance(5_000)
    await keepRunning(shop)
    await handTo(eve)
    await approveCorrected()
  })

  it('nor where another account speaks for the heir by then, and something waits that came with the place', async () => {
    await wish(eve, shop, NEXT, naming(ann))
    await keepRunning(shop)
    const waiting = await wish(pipeline, shop, `${TEXT}# waits\n`, naming(bob))
    await handTo(heir)
    const body = {
      owner: 'eves',
      config: `${NEXT}# a word corrected\n`,
      commit_author: 'Carl <carl@example.com>',
    }
    const { json } = await invoke(ctx, `POST ${pathOf(shop)}/desired`, { as: heir.token, body })
    const id = (json as DesiredResult).approval_id!
    expect(id).not.toBe(waiting)
    expect(await approve(shop, id, ann)).toBe('author')
    expect(await approve(shop, id, bob)).toBe('author')
    expect(await approve(shop, id, eve)).toBe('approved')
  })

  it('nor where it waited for the former owner, and the heir kept the place already', async () => {
    await wish(pipeline, shop, NEXT, naming(ann))
    const kept = await wish(eve, shop, TEXT, naming())
    expect(await approve(shop, kept, heir)).toBe('approved')
    await run(shop, kept)
    await handTo(eve)
    const id = await approveCorrected()
    await run(shop, id)
    const next = await wish(eve, shop, `${TEXT}# something else\n`, naming())
    expect(await approve(shop, next, ann)).toBe('approved')
  })

  it('but not of what comes after the next text that the heir brought to run', async () => {
    await wish(eve, shop, NEXT, naming(ann))
    await keepRunning(shop)
    await handTo(eve)
    for (const text of [`${NEXT}# a word corrected\n`, `${TEXT}# something else\n`]) {
      const id = await wish(eve, shop, text, { commit_author: 'Carl <carl@example.com>' })
      const verdict = await approve(shop, id, text.startsWith(NEXT) ? bob : ann)
      expect(verdict).toBe('approved')
      await run(shop, id)
    }
  })

  it('where nobody knows who named them, as before it was kept', async () => {
    await wish(eve, other, TEXT, naming(ann))
    await database.pool.execute(`update commit_authors set by_id = ''`)
    expect(await approve(shop, await request(shop, TEXT), ann)).toBe('author')
  })

  it('of a version that people write anew with the same text, where Git asked for that of the fleet config', async () => {
    const id = await wishFleet(pipeline, 'kept', naming(ann))
    const gone = `DELETE /api/fleet-configs/${id}/desired?owner=platform`
    expect((await invoke(ctx, gone, { as: pipeline.token })).status).toBe(204)
    await ctx.advance(1)
    const body = { content: TEXT, comment: 'mine' }
    const made = await invoke(ctx, `POST /api/fleet-configs/${id}/versions`, { as: bob.token, body })
    expect(made.status, JSON.stringify(made.json)).toBe(201)
    const change = { kind: 'version', fleet_config_id: id, number: 2, takeover: true }
    expect(await approveCampaign(await campaign(change), ann)).toBe('author')
  })

  it('of a version that was handed over since, and of the next one', async () => {
    const id = await wishFleet(pipeline, 'handed', naming(ann))
    await handOver()
    await ctx.advance(1)
    await wishFleet(heir, 'handed', naming(bob))
    const dora = await signIn(ctx, { groups: ['editor'] })
    for (const number of [1, 2]) {
      if (number === 2) await wishFleet(heir, 'handed', { content: NEXT, commit_author: 'Carl' })
      const { rows } = { rows: await campaignsOf(id, number) }
      for (const one of [ann, bob])
        expect([number, await approveCampaign(rows[0]!, one)]).toEqual([number, 'author'])
      if (number === 2) expect(await approveCampaign(rows[0]!, dora)).toBe('approved')
    }
  })
})

async function versionByHand(name: string, content: string): Promise<string> {
  const selector = await hostOf(name)
  const made = await invoke(ctx, 'POST /api/fleet-configs', {
    as: bob.token,
    body: { name, description: '', selector, priority: 0 },
  })
  expect(made.status, JSON.stringify(made.json)).toBe(201)
  const { id } = made.json as FleetConfigRecord
  const version = await invoke(ctx, `POST /api/fleet-configs/${id}/versions`, {
    as: bob.token,
    body: { content, comment: 'mine' },
  })
  expect(version.status, JSON.stringify(version.json)).toBe(201)
  await ctx.advance(1)
  return id
}

async function wishFleet(as: SignedIn, name: string, more: object): Promise<string> {
  const selector = await hostOf(name)
  const body = {
    owner: 'platform',
    name,
    description: '',
    selector,
    priority: 0,
    content: TEXT,
    campaign: { takeover: true },
    ...more,
  }
  const { status, json } = await invoke(ctx, 'POST /api/fleet-configs/desired', { as: as.token, body })
  expect(status, JSON.stringify(json)).toBe(200)
  await ctx.advance(1)
  return (json as { fleet_config_id: string }).fleet_config_id
}

const campaignsOf = async (id: string, number: number): Promise<string[]> =>
  (
    await database.pool.query<{ id: string }>(
      `select id from campaigns where change->>'fleet_config_id' = $1 and change->>'number' = $2`,
      [id, String(number)],
    )
  ).map((row) => row.id)

async function campaign(change: object, of = shop, as = bob): Promise<string> {
  const scope = 'yaml' in change ? { workload_ids: [of.workloadId] } : {}
  const body = { name: 'by hand', change, scope }
  const { status, json } = await invoke(ctx, 'POST /api/campaigns', { as: as.token, body })
  expect(status, JSON.stringify(json)).toBe(201)
  await ctx.advance(1)
  return (json as CampaignRecord).id
}

async function approveCampaign(id: string, as: SignedIn, asking = bob): Promise<unknown> {
  const read = async () => {
    const { json } = await invoke(ctx, `GET /api/campaigns/${id}`, { as: bob.token })
    return json as CampaignRecord
  }
  if ((await read()).status === 'draft') {
    await invoke(ctx, `POST /api/campaigns/${id}/plan`, { as: asking.token, body: {} })
    await expect.poll(async () => (await read()).plan_hash).toBeTruthy()
    const asked = { plan_hash: (await read()).plan_hash, comment: 'please' }
    const { status, json } = await invoke(ctx, `POST /api/campaigns/${id}/request`, {
      as: asking.token,
      body: asked,
    })
    expect(status, JSON.stringify(json)).toBe(200)
  }
  const body = { plan_hash: (await read()).plan_hash, comment: 'fine' }
  const { status, json } = await invoke(ctx, `POST /api/campaigns/${id}/approve`, { as: as.token, body })
  return status === 200 ? 'approved' : ((json as { reason?: string }).reason ?? json)
}

/** A host of its own for a fleet config, and the selector that finds it. */
async function hostOf(name: string): Promise<object> {
  fakeAgent(ctx.fleet, { service: 'otelcol', attributes: { 'host.name': name } })
  await ctx.advance(1_000)
  return { match_labels: { 'identity/host.name': name } }
}

describe('whoever changes or requests a campaign of somebody else names nobody of what it brings', () => {
  const everybody = () => naming(ann, bob, heir)
  const edit = async (id: string, more: object, as = eve): Promise<void> => {
    const { json } = await invoke(ctx, `GET /api/campaigns/${id}`, { as: bob.token })
    const { name, change, scope } = json as CampaignRecord
    const body = { name, change, scope, ...more }
    const { status, json: edited } = await invoke(ctx, `PUT /api/campaigns/${id}`, { as: as.token, body })
    expect(status, JSON.stringify(edited)).toBe(200)
  }

  it('of a version that somebody else wrote', async () => {
    const fleet_config_id = await versionByHand('edited', TEXT)
    const id = await campaign({ kind: 'version', fleet_config_id, number: 1, takeover: true })
    await wish(eve, other, TEXT, everybody())
    await edit(id, { description: 'mine as well' })
    expect(await approveCampaign(id, ann)).toBe('approved')
  })

  it('nor of a text that somebody else put into it, by choosing other workloads for it', async () => {
    const id = await campaign({ kind: 'text', yaml: NEXT, takeover: true })
    await wish(eve, other, NEXT, everybody())
    const workload_ids = [shop.workloadId, other.workloadId]
    await edit(id, { change: { kind: 'text', yaml: NEXT, takeover: true }, scope: { workload_ids } })
    expect(await approveCampaign(id, ann)).toBe('approved')
  })

  it('nor by asking that it is approved', async () => {
    const id = await campaign({ kind: 'text', yaml: NEXT, takeover: true })
    await wish(eve, other, NEXT, everybody())
    expect(await approveCampaign(id, ann, eve)).toBe('approved')
  })

  it('but whoever puts another text into it does', async () => {
    const id = await campaign({ kind: 'text', yaml: NEXT, takeover: true })
    const yaml = `${NEXT}# of another\n`
    await wish(eve, other, yaml, naming(ann))
    await edit(id, { change: { kind: 'text', yaml, takeover: true } })
    expect(await approveCampaign(id, ann)).toBe('author')
    expect(await approveCampaign(id, heir)).toBe('approved')
  })
})
