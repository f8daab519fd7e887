import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { CampaignMatch, CampaignRecord, CampaignTarget } from '../../../lib/wire/campaigns.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let editor: SignedIn
let agents: Map<string, FakeAgent>

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from campaigns')
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  editor = await signIn(ctx, { groups: ['editor'] })
  agents = new Map(['web-1', 'web-2', 'web-3', 'db-1'].map((host) => [host, fakeAgent(ctx.fleet, { host })]))
  await ctx.advance(300)
  for (const { workloadId } of agents.values()) await pushConfig(ctx.fleet, workloadId, configYaml(1))
  for (const agent of agents.values()) agent.apply()
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const idOf = (host: string) => agents.get(host)!.workloadId
const hosts = (glob: string) => ({
  match_expressions: [{ key: 'identity/host.name', operator: 'In', values: [glob] }],
})
const match = (scope: object, as: string | undefined = editor.token) =>
  invoke(ctx, 'POST /api/campaigns/match', { as, body: { scope } })
const matched = async (scope: object) => (await match(scope)).json as CampaignMatch

describe('what a scope means', () => {
  it('is counted before anything is stored: who is meant, who is left out, and what names nobody', async () => {
    const found = await matched({
      selector: hosts('web-*'),
      workload_ids: ['nobody'],
      exclude_names: ['web-2', 'moon-*', 'w?b-3', 'web-77'],
      exclude_ids: [idOf('web-3'), idOf('db-1')],
    })
    expect(found).toEqual({
      selected_count: 1,
      excluded_count: 2,
      production_count: 0,
      disconnected_count: 0,
      names: ['web-1'],
      unmatched: ['nobody', idOf('db-1'), 'moon-*', 'web-77'],
    })
    expect((await invoke(ctx, 'GET /api/campaigns', { as: editor.token })).json).toEqual([])
  })

  it('says of one that nobody meets which of its conditions nobody meets, or that none meets all', async () => {
    const web = { key: 'identity/host.name', operator: 'In', values: ['web-*'] }
    const red = { key: 'muster/colour', operator: 'Exists' }
    const moon = { key: 'identity/host.name', operator: 'In', values: ['moon-1'] }
    const found = await matched({
      selector: { match_labels: { 'muster/team': 'pay' }, match_expressions: [web, red] },
    })
    expect(found).toMatchObject({
      selected_count: 0,
      unmet: [{ key: 'muster/team', operator: 'In', values: ['pay'] }, red],
    })
    expect((await matched({ selector: { match_expressions: [moon] } })).unmet).toEqual([moon])
    const both = { match_expressions: [web, { ...web, values: ['db-1'] }] }
    expect(await matched({ selector: both })).toMatchObject({ selected_count: 0, unmet: [] })
    expect(await matched({ selector: hosts('web-*') })).not.toHaveProperty('unmet')
    // Whom the selector meant and who was left out is said by their number.
    expect(await matched({ selector: hosts('web-*'), exclude_names: ['web-*'] })).not.toHaveProperty('unmet')
  })

  it('leaves out by a glob of names, and by a selector', async () => {
    const byName = await matched({ selector: hosts('*'), exclude_names: ['w?b-*'] })
    expect(byName).toMatchObject({ selected_count: 1, excluded_count: 3 })
    const shown = ctx.fleet.workload(idOf('db-1'))!.displayName
    expect(await matched({ selector: hosts('*'), exclude_names: [shown] })).toMatchObject({
      excluded_count: 4,
    })
    const bySelector = await matched({ selector: hosts('*'), exclude_selector: hosts('web-*') })
    expect(bySelector).toMatchObject({ selected_count: 1, excluded_count: 3, names: ['db-1'] })
  })

  it('is what the plan takes', async () => {
    const scope = { selector: hosts('*'), exclude_names: ['db-1'] }
    const { json } = await invoke(ctx, 'POST /api/campaigns', {
      as: editor.token,
      body: { name: 'Two', change: { kind: 'text', yaml: configYaml(2) }, scope },
    })
    const { id } = json as CampaignRecord
    await invoke(ctx, `POST /api/campaigns/${id}/plan`, { as: editor.token })
    while (ctx.campaigns.planner.progress(id) !== null) await new Promise((resolve) => setTimeout(resolve, 5))
    const { json: targets } = await invoke(ctx, `GET /api/campaigns/${id}/targets`, { as: editor.token })
    const verdicts = (targets as CampaignTarget[]).map(({ workload_id, verdict }) => [workload_id, verdict])
    expect(Object.fromEntries(verdicts)).toEqual({
      [idOf('web-1')]: 'changes',
      [idOf('web-2')]: 'changes',
      [idOf('web-3')]: 'changes',
      [idOf('db-1')]: 'excluded',
    })
    const record = (await invoke(ctx, `GET /api/campaigns/${id}`, { as: editor.token })).json
    expect(record).toMatchObject({ scope: { exclude_names: ['db-1'] } })
  })
})

describe('a scope that cannot be used', () => {
  it.each([
    ['selects by no condition', {}, 'campaign_scope_empty', undefined],
    [
      'leaves out by an unknown key',
      { selector: hosts('*'), exclude_selector: { match_labels: { 'identity/colour': 'red' } } },
      'selector_key_unknown',
      'scope.exclude_selector',
    ],
    [
      'selects by an unknown key',
      { selector: { match_labels: { 'identity/colour': 'red' } } },
      'selector_key_unknown',
      'scope.selector',
    ],
    [
      'leaves out too many names',
      { selector: hosts('*'), exclude_names: Array.from({ length: 1_001 }, (_, at) => `n${at}`) },
      'campaign_list_too_long',
      'scope.exclude_names',
    ],
    [
      'leaves out by too many globs',
      { selector: hosts('*'), exclude_names: Array.from({ length: 51 }, (_, at) => `n${at}*`) },
      'campaign_list_too_long',
      'scope.exclude_names',
    ],
    [
      'leaves out by a long glob',
      { selector: hosts('*'), exclude_names: ['web-1', `*${'n'.repeat(256)}`] },
      'labels_have_long_text',
      'scope.exclude_names',
    ],
    ['names by a long id', { workload_ids: ['a'.repeat(65)] }, 'labels_have_long_text', 'scope.workload_ids'],
    [
      'leaves out by a long id',
      { selector: hosts('*'), exclude_ids: ['a', 'b'.repeat(65)] },
      'labels_have_long_text',
      'scope.exclude_ids',
    ],
  ])('that %s is refused, and the field is named', async (_, scope, code, field) => {
    const { status, json } = await match(scope)
    expect(status).toBe(400)
    expect(json).toMatchObject({ code, ...(field === undefined ? {} : { field }) })
  })

  it('in a wave names the wave', async () => {
    const { json } = await invoke(ctx, 'POST /api/campaigns', {
      as: editor.token,
      body: {
        name: 'Two',
        change: { kind: 'text', yaml: configYaml(2) },
        scope: { selector: hosts('*') },
        waves: [{ count: 1 }, { selector: { match_labels: { team: 'a' } } }],
      },
    })
    expect(json).toMatchObject({ code: 'selector_key_reported', field: 'waves[1].selector' })
  })

  it('in a patch that names pipelines by a long glob names the patch', async () => {
    const edit = { pipelines: [`*${'t'.repeat(256)}`], role: 'exporters', add: 'debug' }
    const change = { kind: 'patch', patch: { pipeline: [edit] } }
    const body = { name: 'Long', change, scope: { selector: hosts('*') } }
    const { json } = await invoke(ctx, 'POST /api/campaigns', { as: editor.token, body })
    expect(json).toMatchObject({ code: 'labels_have_long_text', field: 'change.patch.pipeline' })
  })

  it('is not counted for somebody who may not push', async () => {
    const viewer = await signIn(ctx, { groups: ['viewer'] })
    expect((await match({ selector: hosts('*') }, viewer.token)).status).toBe(403)
  })
})
