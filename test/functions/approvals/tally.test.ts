import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { AutoApplyState } from '../../../lib/wire/auto-apply.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene
let author: SignedIn
let second: SignedIn
let third: SignedIn

beforeEach(async () => {
  await scene?.ctx.close()
  await database.pool.execute('delete from approvals')
  await database.pool.execute(`delete from settings where name = 'approval_policy'`)
  scene = await AutoApplyScene.open(database)
  author = scene.editor
  second = scene.approver
  third = await signIn(scene.ctx, { groups: ['editor'] })
})
afterAll(() => scene.ctx.close())

/** Ask for two approvals everywhere, none of them the author's. */
async function askForTwo(): Promise<void> {
  const admin = await signIn(scene.ctx, { groups: ['administrator'] })
  const rule = { approvals: 2, author_counts: false, valid_hours: null }
  const set = await scene.call(
    'PUT /api/approval-policy',
    { production: rule, unlabelled: rule, other: rule, comment: 'two' },
    admin,
  )
  expect(set.status, JSON.stringify(set.json)).toBeLessThan(300)
}

const read = async <T>(route: string, as: SignedIn) => (await scene.call(route, undefined, as)).json as T

/** What each of the three reads of one change. */
const tallies = (tallyFor: (as: SignedIn) => Promise<unknown>) =>
  Promise.all([author, second, third].map(tallyFor))

const BEFORE = [
  { given: 0, discounted: 0, needed: 2, own: 'author' },
  { given: 0, discounted: 0, needed: 2, own: 'counts' },
  { given: 0, discounted: 0, needed: 2, own: 'counts' },
]
const AFTER_ONE = [
  { given: 1, discounted: 0, needed: 2, own: 'author' },
  { given: 1, discounted: 0, needed: 2, own: 'approved_already' },
  { given: 1, discounted: 0, needed: 2, own: 'counts' },
]

describe('how far a change is approved, and whether the own approval would count, is said before the click', () => {
  it('of a campaign, on its page and in the list', async () => {
    await askForTwo()
    const change = { kind: 'version', fleet_config_id: scene.configId, number: 1, takeover: true }
    const { json } = await scene.call('POST /api/campaigns', { name: 'To 1', change, scope: {} })
    const { id } = json as CampaignRecord
    await scene.call(`POST /api/campaigns/${id}/plan`)
    while (scene.ctx.campaigns.planner.progress(id) !== null)
      await new Promise((resolve) => setTimeout(resolve, 5))
    const one = async (as: SignedIn) => (await read<CampaignRecord>(`GET /api/campaigns/${id}`, as)).tally
    const listed = async (as: SignedIn) => (await read<CampaignRecord[]>('GET /api/campaigns', as))[0]!.tally
    expect(await one(second)).toBeUndefined()
    const { plan_hash } = await scene.readCampaign(id)
    const yes = { comment: 'yes', plan_hash, prod_confirmation: true }
    await scene.call(`POST /api/campaigns/${id}/request`, yes)
    expect(await tallies(one)).toEqual(BEFORE)
    // What is refused is what was said.
    const own = await scene.call(`POST /api/campaigns/${id}/approve`, yes)
    expect(own.json).toMatchObject({ code: 'approval_needs_another', reason: BEFORE[0]!.own })
    await scene.call(`POST /api/campaigns/${id}/approve`, yes, second)
    expect(await tallies(one)).toEqual(AFTER_ONE)
    expect(await tallies(listed)).toEqual(AFTER_ONE)
  })

  it('of a request, on its page, in the list of its workload and in that of all', async () => {
    await askForTwo()
    const base = `/api/workloads/${scene.agent('vm-1').workloadId}/config/approvals`
    const body = { draft_yaml: configYaml(3), comment: 'three' }
    const { id } = (await scene.call(`POST ${base}`, body)).json as ApprovalRecord
    const one = async (as: SignedIn) => (await read<ApprovalRecord>(`GET ${base}/${id}`, as)).tally
    const first = (route: string) => async (as: SignedIn) =>
      (await read<ApprovalRecord[]>(route, as))[0]!.tally
    expect(await tallies(one)).toEqual(BEFORE)
    await scene.call(`POST ${base}/${id}/approve`, { comment: 'fine' }, second)
    for (const tally of [one, first(`GET ${base}`), first('GET /api/approvals')])
      expect(await tallies(tally)).toEqual(AFTER_ONE)
  })

  it('of a request, with the rule of the policy that holds, whatever environment the request names', async () => {
    const base = `/api/workloads/${scene.agent('vm-1').workloadId}/config/approvals`
    const ask = async (env: string, seed: number) => {
      const body = { draft_yaml: configYaml(seed), comment: env, target_env: env, prod_confirmation: true }
      const { id } = (await scene.call(`POST ${base}`, body)).json as ApprovalRecord
      return read<ApprovalRecord>(`GET ${base}/${id}`, author)
    }
    const staging = { target_env: 'staging', approval_class: 'unlabelled', author_counts: false }
    expect(await ask('staging', 3)).toMatchObject(staging)
    expect(await ask('production', 4)).toMatchObject({ approval_class: 'production' })
  })

  it('of each of several requests by its own author, with as many questions to the database as of one', async () => {
    await askForTwo()
    const ask = async (name: string, as: SignedIn, seed: number) => {
      const path = `/api/workloads/${scene.agent(name).workloadId}/config/approvals`
      const asked = await scene.call(`POST ${path}`, { draft_yaml: configYaml(seed), comment: name }, as)
      expect(asked.status, JSON.stringify(asked.json)).toBe(201)
    }
    const query = vi.spyOn(database.pool, 'query')
    const list = async (as: SignedIn) => {
      query.mockClear()
      const records = await read<ApprovalRecord[]>('GET /api/approvals', as)
      const owns = ['vm-1', 'vm-2', 'vm-3'].flatMap(
        (name) =>
          records.find(({ workload_id }) => workload_id === scene.agent(name).workloadId)?.tally?.own ?? [],
      )
      return { owns, questions: query.mock.calls.length }
    }
    await ask('vm-1', author, 3)
    const { owns, questions } = await list(author)
    expect(owns).toEqual(['author'])
    expect(questions).toBeGreaterThan(3)
    await ask('vm-2', second, 4)
    await ask('vm-3', third, 5)
    expect(await list(author)).toEqual({ owns: ['author', 'counts', 'counts'], questions })
    expect(await list(second)).toEqual({ owns: ['counts', 'author', 'counts'], questions })
  })

  it('of a version that is to apply by itself', async () => {
    await scene.carry(1)
    await askForTwo()
    const { plan_hash } = (await scene.on('POST', '/plan', { number: 1 })).json as { plan_hash: string }
    const asked = { number: 1, plan_hash, comment: 'for newcomers', prod_confirmation: true }
    expect((await scene.on('POST', '', asked)).status).toBe(201)
    const one = async (as: SignedIn) =>
      ((await scene.on('GET', '', undefined, as)).json as AutoApplyState).request!.tally
    expect(await tallies(one)).toEqual(BEFORE)
    await scene.on('POST', '/approve', { comment: 'yes', plan_hash }, second)
    expect(await tallies(one)).toEqual(AFTER_ONE)
  })
})
