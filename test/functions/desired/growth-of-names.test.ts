import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { DesiredResult } from '../../../lib/wire/desired.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

// A token that may only ask, and names made-up people with each text, has muster keep no more of them with each call, and
// hides nobody who is here behind them.

const database = await useTestDatabase()
let ctx: FleetTestContext
let pipeline: SignedIn
let ann: SignedIn
let bob: SignedIn
let token: string
let shop: FakeAgent
/** Two forms of each of the 200 people whom one call can name. */
const NAMES_OF_A_CALL = 400

beforeAll(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  pipeline = await signIn(ctx, { groups: ['editor'] })
  ann = await signIn(ctx, { groups: ['editor'] })
  bob = await signIn(ctx, { groups: ['editor'] })
  token = (await makeApiToken(ctx, pipeline, ['config:create', 'config:request'])).token
})
beforeEach(async () => {
  for (const table of [
    'approvals',
    'managed_configs',
    'git_wishes',
    'unseen_texts',
    'commit_authors',
    'commit_claims',
  ])
    await database.pool.execute(`delete from ${table}`)
  shop = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const crowd = (at: number, count = 200) =>
  Array.from({ length: count }, (_, one) => `N${at} ${one} <n${at}-${one}@elsewhere.example>`)
const textOf = (at: number) => `${configYaml()}# ${at}\n`
const path = () => `/api/workloads/${shop.workloadId}/config`
async function ask(at: number, commit_authors: string[], owner = 'shop', as = token): Promise<DesiredResult> {
  const body = { owner, config: textOf(at), commit_authors }
  const { status, json } = await invoke(ctx, `POST ${path()}/desired`, { as, body })
  expect([status, json]).toEqual([200, expect.anything()])
  return json as DesiredResult
}
const letGo = async (owner = 'shop', who = pipeline) =>
  (await invoke(ctx, `DELETE ${path()}/desired?owner=${owner}`, { as: who.token })).status
const namesByText = async () =>
  (
    await database.pool.query<{ names: number }>(
      `select count(*)::int as names from commit_authors group by config_hash order by 1`,
    )
  ).map(({ names }) => names)
async function approveStatus(who: SignedIn, { approval_id: id }: DesiredResult): Promise<number> {
  const body = { comment: 'fine' }
  return (await invoke(ctx, `POST ${path()}/approvals/${id}/approve`, { as: who.token, body })).status
}
const audited = async () => {
  const [row] = await database.pool.query<{ events: number }>(
    'select count(*)::int as events from audit_events',
  )
  return row!.events
}

it('keeps of each text as many made-up names as one call can say, and everybody of the texts before who is here', async () => {
  await ask(0, [...crowd(0, 199), `Ann <${ann.email}>`])
  let last!: DesiredResult
  for (let at = 1; at <= 6; at++) last = await ask(at, crowd(at))
  const ofEach = await namesByText()
  // The address of Ann is somebody's here, and what the commit calls her beside it is one name of nobody.
  expect(Math.max(...ofEach)).toBeLessThanOrEqual(NAMES_OF_A_CALL + 1)
  expect(ofEach).toHaveLength(7)
  expect([await approveStatus(ann, last), await approveStatus(bob, last)]).toEqual([409, 200])
})

it('keeps no more of what was asked for under further names of owners', async () => {
  for (let at = 0; at <= 6; at++) {
    await ask(at, crowd(at), `shop-${at}`)
    expect(await letGo(`shop-${at}`)).toBe(204)
  }
  expect(Math.max(...(await namesByText()))).toBeLessThanOrEqual(NAMES_OF_A_CALL)
})

it('keeps no more of them as the word of an heir, with everybody who is here', async () => {
  const [admin, heir] = [await signIn(ctx), await signIn(ctx, { groups: ['editor'] })]
  const ofHeir = (await makeApiToken(ctx, heir, ['config:create', 'config:request'])).token
  await ask(0, crowd(1), 'edge', ofHeir)
  expect(await letGo('edge', heir)).toBe(204)
  await ask(0, [...crowd(0, 199), `Ann <${ann.email}>`])
  const body = { owner: 'shop', to_account_id: heir.userId }
  const { status } = await invoke(ctx, 'POST /api/managed-configs/hand-over', { as: admin.token, body })
  expect(status).toBe(200)
  const told = await ask(0, crowd(2), 'shop', ofHeir)
  const kept = await database.pool.query(
    'select count(*)::int as names from commit_authors where by_id = $1 group by config_hash',
    [heir.userId],
  )
  expect(kept).toEqual([{ names: NAMES_OF_A_CALL + 1 }])
  expect(await approveStatus(ann, told)).toBe(409)
})

it('does nothing more where all is kept that is to be of what is asked for again, though somebody is left out', async () => {
  await ask(0, crowd(0))
  await ask(0, crowd(1))
  const before = await audited()
  await ask(0, crowd(2))
  expect([await audited(), await namesByText()]).toEqual([before, [NAMES_OF_A_CALL]])
  // But somebody who is here is noted, and counts.
  const told = await ask(0, [...crowd(2, 199), `Ann <${ann.email}>`])
  expect(await approveStatus(ann, told)).toBe(409)
})

it('forgets the names of a text whose request ended without being pushed when its time has come', async () => {
  await ask(0, crowd(0))
  await ask(1, crowd(1))
  const longAgo = async () => {
    for (const [table, column] of [
      ['commit_authors', 'noted_at'],
      ['commit_claims', 'since'],
      ['unseen_texts', 'noted_at'],
    ])
      await database.pool.execute(`update ${table} set ${column} = ${column} - interval '2 years'`)
  }
  await longAgo()
  await ctx.identity.trim()
  await ctx.identity.trim()
  // What is asked for stays, with whom its commit names.
  expect(await namesByText()).toEqual([NAMES_OF_A_CALL])
  expect(await letGo()).toBe(204)
  await ctx.identity.trim()
  await ctx.identity.trim()
  expect(await namesByText()).toEqual([])
})

it('takes of a fleet config with each of its names no more along than what was asked for last', async () => {
  const selector = { match_labels: { 'muster/nowhere': 'x' } }
  for (let at = 0; at < 30; at++) {
    const wish = { owner: 'shop', name: 'n0', selector, content: textOf(at), commit_author: 'Nobody' }
    expect((await invoke(ctx, 'POST /api/fleet-configs/desired', { as: token, body: wish })).status).toBe(200)
  }
  const all = (await invoke(ctx, 'GET /api/fleet-configs', { as: token })).json as { id: string }[]
  const of = `/api/fleet-configs/${all[0]!.id}`
  const letGone = await invoke(ctx, `DELETE ${of}/desired?owner=shop`, { as: pipeline.token })
  expect(letGone.status).toBe(204)
  const rename = async (name: string) =>
    (await invoke(ctx, `PUT ${of}`, { as: token, body: { name, selector } })).status
  expect([await rename('n1'), await rename('n2')]).toEqual([200, 200])
  const claims = await database.pool.query(
    `select place, count(*)::int as texts from commit_claims where starts_with(place, 'fleet:') group by 1 order by 1`,
  )
  expect(claims).toEqual([
    { place: 'fleet:n0', texts: 30 },
    { place: 'fleet:n1', texts: 1 },
    { place: 'fleet:n2', texts: 1 },
  ])
})
