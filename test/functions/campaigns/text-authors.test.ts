import { afterEach, describe, expect, it } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { CampaignScene } from '../../support/campaign-scene.ts'
import { eventually } from '../../support/eventually.ts'
import { invoke, type SignedIn } from '../../support/invoke.ts'
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
