import { afterEach, describe, expect, it } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { CampaignScene } from '../../support/campaign-scene.ts'
import { eventually } from '../../support/eventually.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: CampaignScene
afterEach(() => scene.ctx.close())

/** The path of the requests of the only workload. */
const requestsPath = () => `/api/workloads/${scene.agents[0]!.workloadId}/config/approvals`

/** Plan a campaign that carries the text, and ask for it; its id. */
async function requestCampaign(as: SignedIn): Promise<string> {
  const body = {
    name: 'Two',
    change: { kind: 'text', yaml: configYaml(2) },
    scope: {
      selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-*'] }] },
    },
    waves: [{}],
  }
  const { id } = (await scene.call('POST', '', body, as)).json as CampaignRecord
  expect((await scene.call('POST', `/${id}/plan`, undefined, as)).status).toBe(202)
  await eventually('the plan is made', () => scene.ctx.campaigns.planner.progress(id) === null)
  const { plan_hash } = await scene.record(id)
  expect((await scene.call('POST', `/${id}/request`, { plan_hash }, as)).status).toBe(200)
  return id
}

/** Ask for the same text for the one workload; the request's id. */
async function requestPush(as: SignedIn): Promise<string> {
  const draft = { draft_yaml: configYaml(2), comment: 'the text' }
  const made = await invoke(scene.ctx, `POST ${requestsPath()}`, { as: as.token, body: draft })
  expect(made.status).toBe(201)
  return (made.json as { id: string }).id
}

describe('whoever asked for a text in a campaign is an author of it', () => {
  it('also where another person asks for it in another campaign', async () => {
    scene = await CampaignScene.open(database, 1)
    const first = await requestCampaign(scene.editor)
    await scene.call('POST', `/${first}/withdraw`, {})
    const second = await requestCampaign(scene.approver)
    const { plan_hash } = await scene.record(second)
    const body = { plan_hash, comment: 'mine' }
    const { status, json } = await scene.call('POST', `/${second}/approve`, body, scene.editor)
    expect({ status, json }).toMatchObject({ status: 409, json: { reason: 'author' } })
  })

  it('also where another person asks for it for one workload', async () => {
    scene = await CampaignScene.open(database, 1)
    await requestCampaign(scene.editor)
    const id = await requestPush(scene.approver)
    const { status, json } = await invoke(scene.ctx, `POST ${requestsPath()}/${id}/approve`, {
      as: scene.editor.token,
      body: { comment: 'mine' },
    })
    expect({ status, json }).toMatchObject({ status: 409, json: { reason: 'author' } })
  })
})

describe('whoever edits a draft of somebody else', () => {
  const draftOf = (replicas: number, host: string) => ({
    name: 'Somebody’s',
    change: { kind: 'text', yaml: configYaml(replicas) },
    scope: {
      selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: [host] }] },
    },
    waves: [{}],
  })
  const approve = async (id: string, as: SignedIn) => {
    const path = `POST ${requestsPath()}/${id}/approve`
    const { status, json } = await invoke(scene.ctx, path, { as: as.token, body: { comment: 'fine' } })
    return status === 200 ? 'approved' : (json as { reason?: string }).reason
  }

  it('makes nobody but himself an author of the text that he puts there', async () => {
    scene = await CampaignScene.open(database, 1)
    const eve = await signIn(scene.ctx, { groups: ['editor'] })
    const made = await scene.call('POST', '', draftOf(3, 'vm-*'), scene.editor)
    const { id: draft } = made.json as CampaignRecord
    expect((await scene.call('PUT', `/${draft}`, draftOf(2, 'vm-*'), eve)).status).toBe(200)
    const id = await requestPush(scene.approver)
    expect(await approve(id, eve)).toBe('author')
    expect(await approve(id, scene.editor)).toBe('approved')
  })

  it('leaves its maker an author of the text that stays, whatever else he changes or asks for', async () => {
    scene = await CampaignScene.open(database, 1)
    const eve = await signIn(scene.ctx, { groups: ['editor'] })
    const { id: draft } = (await scene.call('POST', '', draftOf(2, 'vm-9'), scene.editor))
      .json as CampaignRecord
    const edited = draftOf(2, 'vm-*')
    const change = { ...edited.change, takeover: true }
    expect((await scene.call('PUT', `/${draft}`, { ...edited, change }, eve)).status).toBe(200)
    const id = await requestPush(scene.approver)
    expect(await approve(id, eve)).toBe('author')
    expect(await approve(id, scene.editor)).toBe('author')
  })

  describe('while an older version of muster serves that draft', () => {
    /** What one does of which this version knows nothing: it notes the authors, and not who set what it carries. */
    const editAsOlder = async (draft: string, by: SignedIn) => {
      const like = (await scene.call('POST', '', draftOf(2, 'vm-*'), by)).json as CampaignRecord
      await database.pool.execute(
        `update campaigns set change = (select change from campaigns where id = $2), edition = edition + 1,
           author_ids = author_ids || $3::text where id = $1`,
        [draft, like.id, by.userId],
      )
      expect((await scene.call('DELETE', `/${like.id}`, undefined, by)).status).toBe(204)
    }

    it('stays an author of what he put there then, and so does whoever had put something else there before', async () => {
      scene = await CampaignScene.open(database, 1)
      const eve = await signIn(scene.ctx, { groups: ['editor'] })
      const { id: draft } = (await scene.call('POST', '', draftOf(3, 'vm-*'), scene.editor))
        .json as CampaignRecord
      await editAsOlder(draft, eve)
      const id = await requestPush(scene.approver)
      expect(await approve(id, eve)).toBe('author')
      expect(await approve(id, scene.editor)).toBe('author')
    })

    it('is an author of it also where he had made that draft, and another one has changed it since', async () => {
      scene = await CampaignScene.open(database, 1)
      const eve = await signIn(scene.ctx, { groups: ['editor'] })
      const { id: draft } = (await scene.call('POST', '', draftOf(3, 'vm-*'), eve)).json as CampaignRecord
      expect((await scene.call('PUT', `/${draft}`, draftOf(4, 'vm-*'), scene.editor)).status).toBe(200)
      await editAsOlder(draft, eve)
      expect(await approve(await requestPush(scene.approver), eve)).toBe('author')
    })

    it('is an author of it also where he only asked for it then', async () => {
      scene = await CampaignScene.open(database, 1)
      const eve = await signIn(scene.ctx, { groups: ['editor'] })
      const { id: draft } = (await scene.call('POST', '', draftOf(2, 'vm-*'), scene.editor))
        .json as CampaignRecord
      await database.pool.execute(
        'update campaigns set requested_by_id = $2, author_ids = author_ids || $3::text where id = $1',
        [draft, eve.userId, eve.userId],
      )
      expect(await approve(await requestPush(scene.approver), eve)).toBe('author')
    })
  })

  it('counts for that campaign itself as its maker does', async () => {
    scene = await CampaignScene.open(database, 1)
    const eve = await signIn(scene.ctx, { groups: ['editor'] })
    const { id } = (await scene.call('POST', '', draftOf(3, 'vm-*'), scene.editor)).json as CampaignRecord
    expect((await scene.call('PUT', `/${id}`, draftOf(2, 'vm-*'), eve)).status).toBe(200)
    expect((await scene.call('POST', `/${id}/plan`, undefined, eve)).status).toBe(202)
    await eventually('the plan is made', () => scene.ctx.campaigns.planner.progress(id) === null)
    const { plan_hash } = await scene.record(id)
    expect((await scene.call('POST', `/${id}/request`, { plan_hash }, eve)).status).toBe(200)
    const body = { plan_hash, comment: 'mine' }
    const { json } = await scene.call('POST', `/${id}/approve`, body, scene.editor)
    expect(json).toMatchObject({ reason: 'author' })
  })
})

describe('of versions that differ in their values only', () => {
  const content = configYaml(3).replace('127.0.0.1', `\${muster:site}`)
  const table = (...regions: string[]) => ({
    content,
    variables: [{ name: 'site', pattern: '[a-z0-9-]+', default: regions.join('-') }],
    table: {
      label: 'muster/region',
      rows: Object.fromEntries(regions.map((region) => [region, { site: region }])),
    },
  })
  let hosts: AutoApplyScene
  let ann: SignedIn
  let bob: SignedIn
  const write = async (as: SignedIn, version: object) => {
    const to = `POST /api/fleet-configs/${hosts.configId}/versions`
    const { status, json } = await hosts.call(to, { comment: 'sites', ...version }, as)
    expect(status, JSON.stringify(json)).toBe(201)
    return (json as { number: number }).number
  }
  const ask = async (number: number, by: SignedIn) => {
    const change = { kind: 'version', fleet_config_id: hosts.configId, number, takeover: true }
    const draft = { name: `To ${number}`, change, scope: {}, waves: [{}] }
    const { id } = (await hosts.call('POST /api/campaigns', draft, by)).json as CampaignRecord
    await hosts.call(`POST /api/campaigns/${id}/plan`, undefined, by)
    await eventually('the plan is made', () => hosts.ctx.campaigns.planner.progress(id) === null)
    const { plan_hash } = await hosts.readCampaign(id)
    expect((await hosts.call(`POST /api/campaigns/${id}/request`, { plan_hash }, by)).status).toBe(200)
    return { id, plan_hash }
  }
  const approve = async ({ id, plan_hash }: Awaited<ReturnType<typeof ask>>, as: SignedIn) => {
    const { status, json } = await hosts.call(
      `POST /api/campaigns/${id}/approve`,
      { plan_hash, comment: 'fine' },
      as,
    )
    return [status, (json as { reason?: string }).reason]
  }
  const open = async () => {
    hosts = await AutoApplyScene.open(database)
    scene = { ctx: hosts.ctx } as CampaignScene
    ann = hosts.editor
    bob = hosts.approver
  }

  it('the authors of one are not those of the next, or after a while everybody would be', async () => {
    await open()
    await write(ann, table('paris'))
    await hosts.carry(2)
    const second = await ask(await write(bob, table('paris', 'berlin')), bob)
    expect(await approve(second, bob)).toEqual([409, 'author'])
    expect(await approve(second, ann)).toEqual([200, undefined])
  })

  it('those who wrote the same one, or asked for it, are authors of it', async () => {
    await open()
    const cy = await signIn(hosts.ctx, { groups: ['editor'] })
    const first = await write(ann, table('paris'))
    await hosts.call(`POST /api/campaigns/${(await ask(first, cy)).id}/withdraw`, {}, cy)
    const again = await ask(await write(bob, table('paris')), bob)
    expect(await approve(again, ann)).toEqual([409, 'author'])
    expect(await approve(again, cy)).toEqual([409, 'author'])
  })

  it('the same holds where one applies by itself', async () => {
    await open()
    const [cy, dora] = [
      await signIn(hosts.ctx, { groups: ['editor'] }),
      await signIn(hosts.ctx, { groups: ['editor'] }),
    ]
    await hosts.carry(await write(cy, table('paris')))
    const number = await write(dora, table('paris', 'berlin'))
    await hosts.carry(number)
    const asked = await hosts.request(number)
    expect(asked.status, JSON.stringify(asked.json)).toBe(201)
    const { plan_hash } = asked.json as { plan_hash: string }
    const refused = { status: 409, json: { reason: 'author' } }
    expect(await hosts.approve(plan_hash, dora)).toMatchObject(refused)
    expect((await hosts.approve(plan_hash, cy)).status).toBe(200)
  })
})

it('whoever asked for a text is not the second person for it where another broke the glass', async () => {
  scene = await CampaignScene.open(database, 1)
  const id = await requestPush(scene.editor)
  const body = { comment: 'now', break_glass: true, break_glass_reason: 'it burns' }
  const pushed = await invoke(scene.ctx, `POST ${requestsPath()}/${id}/push`, {
    as: scene.approver.token,
    body,
  })
  expect(pushed.status).toBe(202)
  const reviews = (await invoke(scene.ctx, 'GET /api/reviews', { as: scene.editor.token })).json as {
    id: string
    workload_id: string
  }[]
  const review = reviews.find(({ workload_id }) => workload_id === scene.agents[0]!.workloadId)!
  const { status, json } = await invoke(scene.ctx, `POST /api/reviews/${review.id}`, {
    as: scene.editor.token,
    body: { comment: 'my own text is in order', accepted: true },
  })
  expect({ status, json }).toMatchObject({ status: 409, json: { reason: 'author' } })
})
