import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type {
  CampaignDiffPage,
  CampaignGroup,
  CampaignRecord,
  CampaignVariable,
} from '../../../lib/wire/campaigns.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// Whoever approves a campaign can see all that it changes: nothing is cut without a word, and the rest is reachable.

const database = await useTestDatabase()
let scene: AutoApplyScene
beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
})
afterEach(() => scene.ctx.close())

async function planned(draft: object): Promise<string> {
  const { status, json } = await scene.call('POST /api/campaigns', {
    name: 'Seen',
    scope: {},
    waves: [{}],
    ...draft,
  })
  expect(status, JSON.stringify(json)).toBe(201)
  const { id } = json as CampaignRecord
  await scene.call(`POST /api/campaigns/${id}/plan`)
  while (scene.ctx.campaigns.planner.progress(id) !== null)
    await new Promise((resolve) => setTimeout(resolve, 5))
  expect((await scene.readCampaign(id)).status).toBe('planned')
  return id
}
const ofVersion = (number: number, more: object = {}) =>
  planned({ change: { kind: 'version', fleet_config_id: scene.configId, number, takeover: true }, ...more })

/** All pages of a list, and the size of each. */
async function pages<Row>(path: string, as?: SignedIn): Promise<Row[][]> {
  const found: Row[][] = []
  for (let at: string | undefined = path; at !== undefined; ) {
    const { status, json, headers }: Awaited<ReturnType<typeof scene.call>> = await scene.call(
      `GET ${at}`,
      undefined,
      as,
    )
    expect(status, JSON.stringify(json)).toBe(200)
    found.push(json as Row[])
    at = /<([^>]+)>; rel="next"/.exec(headers['Link'] ?? '')?.[1]
  }
  return found
}

describe('the values of a variable', () => {
  beforeEach(async () => {
    for (let n = 4; n <= 120; n++) scene.connect(`vm-${n}`)
    await scene.ctx.advance(1_000)
  })

  it('beyond the first of a group are counted, and read page by page, the rarest first', async () => {
    for (const host of ['vm-7', 'vm-8'])
      await scene.call(`PUT /api/workloads/${scene.agent(host).workloadId}/variables`, {
        values: { site: 'twice' },
      })
    const id = await ofVersion(1)
    const [group] = (await scene.call(`GET /api/campaigns/${id}/groups`)).json as CampaignGroup[]
    expect(group).toMatchObject({ count: 120, more_values: { site: 69 } })
    const first = group!.variables['site']!
    expect(first).toHaveLength(50)
    const found = await pages<CampaignVariable>(
      `/api/campaigns/${id}/groups/${group!.key}/values?variable=site&limit=50`,
    )
    expect(found.map((page) => page.length)).toEqual([50, 50, 19])
    expect(found[0]).toEqual(first)
    const all = found.flat()
    expect(all.at(-1)).toMatchObject({ value: 'twice', count: 2 })
    expect(new Set(all.map(({ value }) => value)).size).toBe(119)
    expect(all.reduce((sum, { count }) => sum + count, 0)).toBe(120)
  })

  it('of another group, or of no variable, are none, and a group that there is not is not found', async () => {
    const id = await ofVersion(1)
    const [{ key } = { key: '' }] = (await scene.call(`GET /api/campaigns/${id}/groups`))
      .json as CampaignGroup[]
    const values = (group: string, name: string) =>
      scene.call(`GET /api/campaigns/${id}/groups/${group}/values?variable=${name}`)
    expect(await values(key, 'nothing')).toMatchObject({ status: 200, json: [] })
    expect((await values('f'.repeat(32), 'site')).json).toEqual([])
    expect(await scene.call(`GET /api/campaigns/${id}/groups/${'f'.repeat(32)}/diff`)).toMatchObject({
      status: 404,
      json: { code: 'campaign_group_not_found' },
    })
  })
})

describe('a diff', () => {
  /** A config with many exporters that nothing uses, each of three lines. */
  const long = (count: number, verbosity: string) =>
    configYaml(1).replace(
      'exporters:\n',
      `exporters:\n${Array.from({ length: count }, (_, n) => `  debug/${n}:\n    verbosity: ${verbosity}\n    sampling_initial: ${n + 1}\n`).join('')}`,
    )

  it('that is long says how many lines are left out, and these are read page by page, in order, to the end', async () => {
    // A host that is under no fleet config.
    const { workloadId } = scene.connect('db-1')
    await scene.ctx.advance(300)
    await pushConfig(scene.ctx.fleet, workloadId, long(900, 'basic'))
    scene.agent('db-1').apply()
    await scene.ctx.advance(300)
    const after = long(900, 'detailed').replace('127.0.0.1:1', '0.0.0.0:1')
    const id = await planned({
      change: { kind: 'text', yaml: after },
      scope: { workload_ids: [workloadId] },
    })
    const [group] = (await scene.call(`GET /api/campaigns/${id}/groups`)).json as CampaignGroup[]
    expect(group!.diff.length).toBeLessThanOrEqual(20_000)
    expect(group!.diff_lines_left).toBeGreaterThan(1_000)
    // What it does is told in words as well, as on the page of a single change; of very many as many as one reads.
    expect(group!.does).toHaveLength(40)
    expect(group!.does).toContainEqual({
      kind: 'changesField',
      path: 'exporters.debug/0.verbosity',
      before: 'basic',
      after: 'detailed',
    })
    let text = group!.diff
    let left = group!.diff_lines_left
    let pagesRead = 0
    while (left > 0) {
      const from = text.split('\n').length - 1
      const { status, json } = await scene.call(
        `GET /api/campaigns/${id}/groups/${group!.key}/diff?from=${from}`,
      )
      expect(status, JSON.stringify(json)).toBe(200)
      const page = json as CampaignDiffPage
      expect(page.diff.length).toBeGreaterThan(0)
      expect(page.diff.length).toBeLessThanOrEqual(20_000)
      text += page.diff
      expect(page.lines_left).toBe(left - (page.diff.split('\n').length - 1))
      left = page.lines_left
      pagesRead++
    }
    expect(pagesRead).toBeGreaterThan(1)
    const added = text.split('\n').filter((line) => line.startsWith('+') && !line.startsWith('+++'))
    expect(added.filter((line) => line === '+    verbosity: detailed')).toHaveLength(900)
    expect(text).toContain('+        endpoint: "0.0.0.0:1"')
  })
})

describe('the groups of a plan', () => {
  /** Targets that are in groups of their own, as rows: whose workloads are gone, so that they have no diff. */
  async function addGroups(id: string, groups: readonly { count: number; isProduction?: boolean }[]) {
    let position = 1_000
    for (const [n, { count, isProduction = false }] of groups.entries())
      for (let i = 0; i < count; i++) {
        const workload = `${n}-${i}`
        await database.pool.execute(
          `insert into campaign_targets select t.* from campaign_targets s
           cross join lateral jsonb_populate_record(s, jsonb_build_object('workload_id', $2::text,
             'workload_name', $2::text, 'position', $3::int, 'group_key', $4::text, 'is_production', $5::boolean)) t
           where s.campaign_id = $1 and s.workload_id = $6`,
          [
            ...[id, workload, position++, n.toString(16).padStart(32, '0'), isProduction],
            scene.agent('vm-1').workloadId,
          ],
        )
      }
  }

  it('are read page by page, those with production first, then the rarest: a bad one cannot hide', async () => {
    const id = await ofVersion(1)
    await addGroups(id, [
      ...Array.from({ length: 110 }, () => ({ count: 2 })),
      { count: 1 },
      { count: 3, isProduction: true },
      { count: 1, isProduction: true },
    ])
    const first = (await scene.call(`GET /api/campaigns/${id}/groups`)).json as CampaignGroup[]
    expect(first.slice(0, 3).map(({ production_count, count }) => [production_count, count])).toEqual([
      [1, 1],
      [3, 3],
      [0, 1],
    ])
    const all = await pages<CampaignGroup>(`/api/campaigns/${id}/groups`)
    expect(all.length).toBeGreaterThan(1)
    expect(Math.max(...all.map((page) => page.length))).toBeLessThanOrEqual(100)
    const flat = all.flat()
    expect(flat).toHaveLength(114)
    expect(new Set(flat.map(({ key }) => key)).size).toBe(114)
    expect(flat.reduce((sum, { count }) => sum + count, 0)).toBe(3 + 220 + 5)
    const small = await pages<CampaignGroup>(`/api/campaigns/${id}/groups?limit=30`)
    expect(small.flat().map(({ key }) => key)).toEqual(flat.map(({ key }) => key))
    expect(await scene.call(`GET /api/campaigns/${id}/groups?cursor=none`)).toMatchObject({ status: 400 })
  })

  it('are shown to whoever reads configs there, and to nobody else', async () => {
    const id = await ofVersion(1)
    const [{ key } = { key: '' }] = (await scene.call(`GET /api/campaigns/${id}/groups`))
      .json as CampaignGroup[]
    const viewer = await signIn(scene.ctx, { groups: ['viewer'] })
    for (const path of ['groups', `groups/${key}/diff`, `groups/${key}/values?variable=site`])
      expect((await scene.call(`GET /api/campaigns/${id}/${path}`, undefined, viewer)).status, path).toBe(403)
  })
})

describe('what chose a value', () => {
  const TABLE = {
    variables: [{ name: 'site', label: 'identity/host.name', pattern: '[a-z0-9-]+' }],
    table: { label: 'muster/region', rows: { paris: { site: 'eu-1' }, berlin: { site: 'eu-1' } } },
  }

  it('is said beside it: an own value, the label that chose a row of the table, or whose value it is', async () => {
    await scene.write(2, TABLE)
    for (const host of ['vm-4', 'vm-5']) scene.connect(host)
    await scene.ctx.advance(1_000)
    await scene.label('vm-1', { region: 'paris' })
    await scene.label('vm-2', { region: 'berlin' })
    await scene.label('vm-3', { region: 'rome' })
    const { workloadId } = scene.agent('vm-4')
    await scene.call(`PUT /api/workloads/${workloadId}/variables`, { values: { site: 'mine' } })
    const id = await ofVersion(2)
    const [group] = (await scene.call(`GET /api/campaigns/${id}/groups`)).json as CampaignGroup[]
    const said = group!.variables['site']!
    expect(said).toEqual([
      { value: 'mine', count: 1, chosen_by: [{ kind: 'own' }] },
      { value: 'vm-3', count: 1, chosen_by: [{ kind: 'label', label: 'identity/host.name' }] },
      { value: 'vm-5', count: 1, chosen_by: [{ kind: 'label', label: 'identity/host.name' }] },
      {
        value: 'eu-1',
        count: 2,
        chosen_by: expect.toSatisfy((all: unknown[]) => all.length === 2) as unknown,
      },
    ])
    expect(said[3]!.chosen_by).toEqual(
      expect.arrayContaining(
        ['berlin', 'paris'].map((label_value) => ({ kind: 'table', label: 'muster/region', label_value })),
      ),
    )
  })
})

describe('a request that a version applies by itself', () => {
  const path = () => `/api/fleet-configs/${scene.configId}/auto-apply/groups`

  it('shows its approver the values on all workloads under it, what chose them, and what changes, as a campaign does', async () => {
    await scene.carry(1)
    expect(await scene.call(`GET ${path()}`)).toMatchObject({ status: 404 })
    await scene.write(2)
    await scene.carry(2, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    const asked = await scene.request(2)
    expect(asked.status, JSON.stringify(asked.json)).toBe(201)
    const { workloadId } = scene.agent('vm-3')
    await scene.call(`PUT /api/workloads/${workloadId}/variables`, { values: { site: 'evil' } })
    const groups = (await scene.call(`GET ${path()}`, undefined, scene.approver)).json as CampaignGroup[]
    expect(groups).toMatchObject([
      { count: 1, diff: '', diff_missing: false, variables: { site: [{ value: 'vm-1', count: 1 }] } },
      {
        count: 2,
        variables: {
          site: [
            { value: 'evil', count: 1, chosen_by: [{ kind: 'own' }] },
            { value: 'vm-2', count: 1, chosen_by: [{ kind: 'label', label: 'identity/host.name' }] },
          ],
        },
      },
    ])
    expect(groups[1]!.diff).toMatch(/^\+ .*:2"$/m)
    const { key, diff } = groups[1]!
    const pages2 = await pages<CampaignGroup>(`${path()}?limit=1`)
    expect(pages2.flat().map((group) => group.key)).toEqual(groups.map((group) => group.key))
    expect((await scene.call(`GET ${path()}/${key}/diff`)).json).toEqual({ diff, lines_left: 0 })
    const values = await pages<CampaignVariable>(`${path()}/${key}/values?variable=site&limit=1`)
    expect(values.flat().map(({ value }) => value)).toEqual(['evil', 'vm-2'])
    expect(await scene.call(`GET ${path()}/none/diff`)).toMatchObject({ status: 404 })
  })

  it('counts every value, and says how many are not shown, also where all of them run it already', async () => {
    for (let n = 4; n <= 60; n++) scene.connect(`vm-${n}`)
    await scene.ctx.advance(1_000)
    await scene.carry(1)
    await scene.request(1)
    const [group, ...others] = (await scene.call(`GET ${path()}`)).json as CampaignGroup[]
    expect(others).toEqual([])
    expect(group).toMatchObject({ count: 60, more_values: { site: 10 } })
    expect(group!.variables['site']).toHaveLength(50)
  })

  it('shows each reader the workloads of his scope only, and a viewer nothing', async () => {
    await scene.carry(1)
    await scene.request(1)
    await scene.label('vm-1', { env: 'dev' })
    const group = `dev-only-${scene.configId}`
    const admin = await signIn(scene.ctx)
    const made = await scene.call(
      'POST /api/groups',
      { name: group, role: 'editor', scope: { key: 'muster/env', values: ['dev'] } },
      admin,
    )
    expect(made.status, JSON.stringify(made.json)).toBe(201)
    const cut = await signIn(scene.ctx, { groups: [group] })
    const groups = (await scene.call(`GET ${path()}`, undefined, cut)).json as CampaignGroup[]
    expect(groups).toMatchObject([{ count: 1, variables: { site: [{ value: 'vm-1' }] } }])
    const viewer = await signIn(scene.ctx, { groups: ['viewer'] })
    for (const more of ['', `/${groups[0]!.key}/diff`, `/${groups[0]!.key}/values?variable=site`])
      expect((await scene.call(`GET ${path()}${more}`, undefined, viewer)).status).toBe(403)
  })
})
