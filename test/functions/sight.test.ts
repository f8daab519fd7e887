import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CampaignGroup } from '../../lib/wire/campaigns.ts'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { AutoApplyScene } from '../support/auto-apply-scene.ts'
import { type SignedIn, signIn } from '../support/invoke.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { makeScopedGroup, member } from '../support/scopes.ts'

// Every endpoint that shows only what lies within the caller's scope, called by somebody in one. `invoke` refuses an
// answer of one that never asked where the scope ends.

const EVERY_HOST = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-*'] }] }

interface Ids {
  config: string
  campaign: string
  /** The group of the one workload within the scope: in the plan of the campaign, and in what applies by itself. */
  group: string
  coming: string
}
type Asked = readonly [request: string, body?: object]

const REQUESTS: Readonly<Record<string, (ids: Ids) => Asked>> = {
  'approvals/list-all': () => ['GET /api/approvals'],
  'auto-apply/group-diff': ({ config, coming }) => [
    `GET /api/fleet-configs/${config}/auto-apply/groups/${coming}/diff`,
  ],
  'auto-apply/group-values': ({ config, coming }) => [
    `GET /api/fleet-configs/${config}/auto-apply/groups/${coming}/values?variable=site`,
  ],
  'auto-apply/groups': ({ config }) => [`GET /api/fleet-configs/${config}/auto-apply/groups`],
  'auto-apply/targets': ({ config }) => [`GET /api/fleet-configs/${config}/auto-apply/targets`],
  'campaigns/figures': ({ campaign }) => [`GET /api/campaigns/${campaign}/figures`],
  'campaigns/get': ({ campaign }) => [`GET /api/campaigns/${campaign}`],
  'campaigns/group-diff': ({ campaign, group }) => [`GET /api/campaigns/${campaign}/groups/${group}/diff`],
  'campaigns/group-values': ({ campaign, group }) => [
    `GET /api/campaigns/${campaign}/groups/${group}/values?variable=site`,
  ],
  'campaigns/groups': ({ campaign }) => [`GET /api/campaigns/${campaign}/groups`],
  'campaigns/list': () => ['GET /api/campaigns'],
  'campaigns/match': () => ['POST /api/campaigns/match', { scope: { selector: EVERY_HOST } }],
  'campaigns/targets': ({ campaign }) => [`GET /api/campaigns/${campaign}/targets`],
  'overview/destinations': () => ['GET /api/fleet/destinations'],
  'pushes/preview': () => ['POST /api/pushes/preview', { selector: EVERY_HOST }],
  'reviews/list': () => ['GET /api/reviews'],
}

const filtered = loadFunctions(FUNCTIONS).http.flatMap(({ id, definition: { access } }) =>
  access.kind === 'signed-in' && access.reach === 'filtered' ? [id] : [],
)

const database = await useTestDatabase()
let scene: AutoApplyScene
let shop: SignedIn
let ids: Ids

beforeAll(async () => {
  scene = await AutoApplyScene.open(database)
  const campaign = await scene.carry(1)
  await scene.label('vm-1', { env: 'shop' })
  await scene.ctx.advance(1_000)
  expect((await scene.request(1)).status).toBe(201)
  await makeScopedGroup(scene.ctx, await signIn(scene.ctx), 'shop-editors', {
    key: 'muster/env',
    values: ['shop'],
  })
  shop = await member(scene.ctx, 'shop-editors')
  ids = { config: scene.configId, campaign, group: '', coming: '' }
  const keyOf = async (id: string) => {
    const answer = await scene.call(REQUESTS[id]!(ids)[0], undefined, shop)
    expect(answer.status, answer.text).toBe(200)
    return (answer.json as CampaignGroup[])[0]!.key
  }
  ids = { ...ids, group: await keyOf('campaigns/groups'), coming: await keyOf('auto-apply/groups') }
})
afterAll(() => scene.ctx.close())

describe('an endpoint that shows what lies within a scope', () => {
  it('is each called here', () => {
    expect(filtered.toSorted()).toEqual(Object.keys(REQUESTS).toSorted())
  })

  it.each(Object.keys(REQUESTS))('%s asks where the scope ends, and names nobody outside', async (id) => {
    const [request, body] = REQUESTS[id]!(ids)
    const answer = await scene.call(request, body, shop)
    expect(answer.status, answer.text).toBe(200)
    for (const host of ['vm-2', 'vm-3']) {
      expect(answer.text).not.toContain(scene.agent(host).workloadId)
      expect(answer.text).not.toContain(`"${host}"`)
    }
  })
})
