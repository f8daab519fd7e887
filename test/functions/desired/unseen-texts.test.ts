import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { deleteOldUnseen } from '../../../lib/store/unseen-texts.ts'
import type { DesiredResult } from '../../../lib/wire/desired.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// Who made what Git asked for and nobody brought to run has a part in what is asked for next on top of it, whose last commit
// may be of anybody: whatever became of the wish, and whoever has the place by then.

const database = await useTestDatabase()
let ctx: FleetTestContext
let admin: SignedIn
/** The accounts of three pipelines. */
let [one, two, three]: SignedIn[] = []
let ann: SignedIn
let bob: SignedIn
let dora: SignedIn
let agent: FakeAgent
const RUNS = configYaml()
const TEXT = `${RUNS}# what Ann made\n`
const CORRECTED = `${TEXT}# a word corrected\n`

beforeAll(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  admin = await signIn(ctx)
  const people = await Promise.all(Array.from({ length: 6 }, () => signIn(ctx, { groups: ['editor'] })))
  ;[one, two, three] = people
  ;[ann, bob, dora] = people.slice(3) as [SignedIn, SignedIn, SignedIn]
})
beforeEach(async () => {
  const kept = ['managed_configs', 'git_wishes', 'unseen_texts', 'commit_authors', 'commit_claims']
  for (const table of ['approvals', ...kept]) await database.pool.execute(`delete from ${table}`)
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const path = () => `/api/workloads/${agent.workloadId}/config`
const by = (...people: SignedIn[]) => ({
  commit_author: 'Carl <carl@example.com>',
  commit_authors: people.map(({ email }) => `Somebody <${email}>`),
})

async function wish(as: SignedIn | undefined, owner: string, config: string, said: object = by()) {
  const body = { owner, config, ...said }
  const { status, json } = await invoke(ctx, `POST ${path()}/desired`, { as: as!.token, body })
  expect(status, JSON.stringify(json)).toBe(200)
  await ctx.advance(1)
  return json as DesiredResult
}

async function approve(as: SignedIn, id: string | undefined): Promise<unknown> {
  const way = `POST ${path()}/approvals/${id}/approve`
  const { status, json } = await invoke(ctx, way, { as: as.token, body: { comment: 'fine' } })
  return status === 200 ? 'approved' : (json as { reason?: string }).reason
}

async function run(as: SignedIn, { approval_id: id }: DesiredResult): Promise<void> {
  expect(await approve(as, id)).toBe('approved')
  const body = { comment: 'go', prod_double_confirmed: true }
  const pushed = await invoke(ctx, `POST ${path()}/approvals/${id}/push`, { as: as.token, body })
  expect(pushed.status, JSON.stringify(pushed.json)).toBe(202)
  await ctx.advance(300)
  agent.apply()
  await ctx.advance(5_000)
}

async function handOver(owner: string, to_owner: string, to: SignedIn | undefined, more = {}): Promise<void> {
  const body = { owner, to_owner, to_account_id: to!.userId, ...more }
  const { status, json } = await invoke(ctx, 'POST /api/managed-configs/hand-over', { as: admin.token, body })
  expect(status, JSON.stringify(json)).toBe(200)
  await ctx.advance(1)
}

async function release(as: SignedIn | undefined, owner: string): Promise<void> {
  const gone = `DELETE ${path()}/desired?owner=${owner}`
  expect((await invoke(ctx, gone, { as: as!.token })).status).toBe(204)
  await ctx.advance(1)
}

/** Expect these to be authors of the corrected text, and Dora none. */
async function expectAuthors(asked: DesiredResult, ...people: SignedIn[]): Promise<void> {
  for (const person of people) expect(await approve(person, asked.approval_id)).toBe('author')
  expect(await approve(dora, asked.approval_id)).toBe('approved')
}

describe('whoever made what waited is an author of what comes on top of it', () => {
  it('after it gave way to what its heir kept, and that was handed over to another account', async () => {
    await wish(one, 'platform', TEXT, by(ann))
    await run(bob, await wish(two, 'shop', RUNS))
    await handOver('platform', 'shop', two)
    await handOver('shop', 'shop', three)
    await expectAuthors(await wish(three, 'shop', CORRECTED), ann)
  })

  it('after two owners were handed over to one that kept the place already', async () => {
    await wish(one, 'platform', TEXT, by(ann))
    await wish(three, 'edge', `${TEXT}# more\n`, by(bob))
    await run(dora, await wish(two, 'shop', RUNS))
    await handOver('platform', 'shop', two)
    await handOver('edge', 'shop', two)
    await expectAuthors(await wish(two, 'shop', CORRECTED), ann, bob)
  })

  it('after it was held for what had failed, which asked nobody for anything, and was let go of', async () => {
    await pushConfig(ctx.fleet, agent.workloadId, RUNS)
    agent.apply()
    await ctx.advance(300)
    ctx.fleet.workload(agent.workloadId)!.quarantinedHashes.add(configHash(TEXT))
    expect(await wish(one, 'platform', TEXT, by(ann))).toMatchObject({ action: 'held', reason: 'failed' })
    await release(one, 'platform')
    await expectAuthors(await wish(one, 'platform', CORRECTED), ann)
  })

  it('after a person let go of it, and what its owner had besides was handed over to another name and account', async () => {
    await wish(one, 'platform', TEXT, by(ann))
    await release(admin, 'platform')
    const shop = agent
    agent = fakeAgent(ctx.fleet)
    await ctx.advance(300)
    await wish(one, 'platform', RUNS)
    await handOver('platform', 'shop', two)
    agent = shop
    await expectAuthors(await wish(two, 'shop', CORRECTED), ann)
  })

  it('after its heir let go of it without a word, and asks in another owner’s name', async () => {
    await wish(one, 'platform', TEXT, by(ann))
    await handOver('platform', 'shop', two)
    await release(two, 'shop')
    await expectAuthors(await wish(two, 'elsewhere', CORRECTED), ann)
  })

  it('after another account had named them, which spoke for the owner before it gave way', async () => {
    await wish(one, 'platform', TEXT)
    await handOver('platform', 'platform', three)
    await wish(three, 'platform', TEXT, by(ann))
    await run(bob, await wish(two, 'shop', RUNS))
    await handOver('platform', 'shop', two)
    await expectAuthors(await wish(two, 'shop', CORRECTED), ann)
  })

  it('until something of its owner that came in its place runs, or is taken back, with what ran before that', async () => {
    await wish(one, 'platform', TEXT, by(ann))
    await handOver('platform', 'shop', two)
    await run(dora, await wish(two, 'shop', CORRECTED))
    const next = `${RUNS}# something else\n`
    await run(ann, await wish(two, 'shop', next, by(bob)))
    expect((await wish(two, 'shop', `${next}# more\n`)).action).toBe('propose')
    const way = `/api/workloads/${agent.workloadId}/configs/${configHash(CORRECTED)}/rollback`
    expect((await invoke(ctx, `POST ${way}`, { as: dora.token, body: { comment: 'bad' } })).status).toBe(202)
    agent.apply()
    await ctx.advance(300)
    const last = await wish(two, 'shop', `${next}# yet more\n`)
    expect(await approve(bob, last.approval_id)).toBe('author')
    expect(await approve(ann, last.approval_id)).toBe('approved')
  })

  it('also where somebody else took the owner’s name meanwhile, and asked for something in it', async () => {
    await wish(one, 'platform', TEXT, by(ann))
    await release(one, 'platform')
    await wish(two, 'platform', `${RUNS}# of another\n`)
    await release(two, 'platform')
    await expectAuthors(await wish(one, 'elsewhere', CORRECTED), ann)
  })

  it('also where its folder went back to what runs, and on from there', async () => {
    await run(dora, await wish(one, 'platform', RUNS))
    await wish(one, 'platform', TEXT, by(ann))
    expect((await wish(one, 'platform', RUNS)).action).toBe('unchanged')
    await expectAuthors(await wish(one, 'platform', CORRECTED), ann)
  })

  it('also where somebody else asked in the owner’s name meanwhile for what runs, of which nobody hears', async () => {
    await run(dora, await wish(three, 'edge', RUNS))
    await release(three, 'edge')
    await wish(one, 'platform', TEXT, by(ann))
    await release(admin, 'platform')
    expect((await wish(two, 'platform', RUNS)).action).toBe('unchanged')
    await release(two, 'platform')
    await expectAuthors(await wish(one, 'platform', CORRECTED), ann)
  })

  it('also where the workload was removed meanwhile, and came back', async () => {
    agent = fakeAgent(ctx.fleet, { host: 'comes-back' })
    await ctx.advance(300)
    await wish(one, 'platform', TEXT, by(ann))
    const gone = await invoke(ctx, `DELETE /api/workloads/${agent.workloadId}`, { as: admin.token })
    expect(gone.status, JSON.stringify(gone.json)).toBe(204)
    await deleteOldUnseen(database.pool, new Date(ctx.clock.now().getTime() - 86_400_000))
    const { workloadId } = agent
    agent = fakeAgent(ctx.fleet, { host: 'comes-back' })
    await ctx.advance(300)
    expect(agent.workloadId).toBe(workloadId)
    await expectAuthors(await wish(one, 'platform', CORRECTED), ann)
  })

  it('also where the account that asked for it is gone, and what it kept was handed over', async () => {
    const spare = await signIn(ctx, { groups: ['editor'] })
    await wish(spare, 'platform', TEXT, by(ann))
    const gone = await invoke(ctx, `DELETE /api/users/${spare.userId}`, { as: admin.token })
    expect(gone.status, JSON.stringify(gone.json)).toBe(204)
    await handOver('platform', 'platform', two)
    await expectAuthors(await wish(two, 'platform', CORRECTED), ann)
  })

  it('where an older version of muster was asked for it', async () => {
    await wish(one, 'platform', TEXT, by(ann))
    await database.pool.execute('delete from unseen_texts')
    await database.pool.execute('update git_wishes set config_hash = config_hash')
    await expectAuthors(await wish(one, 'platform', CORRECTED), ann)
  })

  it('where an older version was asked for it again after something in its place ran', async () => {
    await run(dora, await wish(one, 'platform', TEXT, by(ann)))
    await run(dora, await wish(one, 'platform', `${RUNS}# next\n`))
    await database.pool.execute('update managed_configs set config_hash = $1', [configHash(TEXT)])
    await expectAuthors(await wish(one, 'platform', CORRECTED), ann)
  })

  it('where an older version handed it over', async () => {
    await wish(one, 'platform', TEXT, by(ann))
    for (const of of ['git_wishes', 'commit_claims'])
      await database.pool.execute(`update ${of} set owner = 'shop'`)
    await database.pool.execute(`update git_wishes set applied_by_id = $1`, [two!.userId])
    await expectAuthors(await wish(two, 'shop', CORRECTED), ann)
  })
})

describe('whoever asked in an owner’s name that nobody had makes nobody an author of what others ask for in it', () => {
  const squat = async () => {
    await wish(two, 'shop', `${RUNS}# of another\n`, by(bob, ann))
    await release(two, 'shop')
  }

  it('where somebody takes the name afterwards', async () => {
    await squat()
    await expectAuthors(await wish(one, 'shop', TEXT, by(ann)), ann)
    expect(await approve(bob, (await wish(one, 'shop', CORRECTED)).approval_id)).toBe('approved')
  })

  it('nor where it asks there for the very text that somebody had asked for before', async () => {
    await wish(one, 'platform', TEXT, by(ann))
    await release(one, 'platform')
    await wish(two, 'platform', TEXT, by(bob, dora))
    await release(two, 'platform')
    await expectAuthors(await wish(one, 'platform', CORRECTED), ann)
  })

  it('nor by whom it names of what was handed over to somebody else before', async () => {
    await wish(one, 'platform', TEXT, by(ann))
    await handOver('platform', 'shop', two)
    const place = agent
    agent = fakeAgent(ctx.fleet)
    await ctx.advance(300)
    await wish(one, 'elsewhere', TEXT, by(bob, dora))
    agent = place
    await expectAuthors(await wish(two, 'shop', CORRECTED), ann)
  })

  it('nor of the very request that waits since before it was handed over', async () => {
    const waits = await wish(one, 'platform', TEXT, by(ann))
    await handOver('platform', 'shop', two)
    const place = agent
    agent = fakeAgent(ctx.fleet)
    await ctx.advance(300)
    await wish(one, 'elsewhere', TEXT, by(bob, dora))
    agent = place
    await expectAuthors(waits, ann)
  })

  it('nor where all of that is handed over', async () => {
    await squat()
    const place = agent
    agent = fakeAgent(ctx.fleet)
    await ctx.advance(300)
    await wish(one, 'shop', RUNS)
    await handOver('shop', 'shop', three)
    agent = place
    expect(await approve(bob, (await wish(three, 'shop', TEXT)).approval_id)).toBe('approved')
  })
})

it('so many texts of one account are kept of a workload, for so long', async () => {
  for (let at = 0; at < 25; at++) {
    await wish(one, `owner-${at}`, `${RUNS}# ${at}\n`)
    await release(one, `owner-${at}`)
  }
  const count = async () => (await database.pool.query('select from unseen_texts')).length
  expect(await count()).toBe(20)
  const ago = (days: number) => new Date(ctx.clock.now().getTime() - days * 86_400_000)
  await deleteOldUnseen(database.pool, ago(1))
  expect(await count()).toBe(20)
  // Those that were asked for long ago go, but for what is asked for now.
  await wish(one, 'owner-24', `${RUNS}# 24\n`)
  await database.pool.execute('update unseen_texts set noted_at = $1', [ago(2)])
  await deleteOldUnseen(database.pool, ago(3))
  expect(await count()).toBe(20)
  await deleteOldUnseen(database.pool, ago(1))
  expect(await count()).toBe(1)
  await release(one, 'owner-24')
  await deleteOldUnseen(database.pool, ago(1))
  expect(await count()).toBe(0)
})

it('who asks for one again just as old ones are forgotten is not in the way of that, nor that in his', async () => {
  await wish(one, 'platform', TEXT, by(ann))
  await release(one, 'platform')
  await database.pool.execute(`update unseen_texts set noted_at = '2001-01-01'`)
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  const waits = (count: number) => expect.poll(() => database.pool.query(waiting)).toHaveLength(count)
  let asked: Promise<DesiredResult>
  let trimmed: Promise<number>
  await database.pool.transaction('test', async (tx) => {
    // Whoever asks waits for this name, and has noted by then that it asks.
    await tx.execute(
      `insert into commit_authors (config_hash, name, noted_at, by_id) values ($1, 'zoe@example.com', now(), $2)`,
      [configHash(TEXT), one!.userId],
    )
    asked = wish(one, 'platform', TEXT, { commit_author: 'Zoe <zoe@example.com>' })
    await waits(1)
    trimmed = ctx.identity.trim()
    await waits(2)
  })
  await trimmed!
  await expectAuthors(await asked!, ann)
})
