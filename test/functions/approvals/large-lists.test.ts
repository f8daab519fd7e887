import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const MIB = 1_048_576
const COUNT = 12

const database = await useTestDatabase()
let ctx: FleetTestContext
let editor: SignedIn
let ofWorkload: string
let ids: string[]

beforeAll(async () => {
  ctx = await createFleetContext(database)
  editor = await signIn(ctx, { groups: ['editor'] })
  const agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
  ofWorkload = `/api/workloads/${agent.workloadId}/config/approvals`
  ids = []
  for (let n = 0; n < COUNT; n++) {
    ctx.clock.advance(1_000)
    const body = { draft_yaml: configYaml(n), target_group: `g${n}`, comment: 'please' }
    const made = await invoke(ctx, `POST ${ofWorkload}`, { as: editor.token, body })
    ids.unshift((made.json as ApprovalRecord).id)
  }
  await database.pool.execute(`update approvals set draft_yaml = draft_yaml || repeat('#', $1)`, [MIB])
})
afterAll(() => ctx.close())

const get = (path: string) => invoke(ctx, `GET ${path}`, { as: editor.token })

/** The pages of a list, each as it came, until none is named any more. */
async function pagesOf(path: string): Promise<{ ids: string[]; bytes: number }[]> {
  const pages = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const { json, text, headers } = await get(next)
    pages.push({ ids: (json as ApprovalRecord[]).map(({ id }) => id), bytes: Buffer.byteLength(text) })
    next = /<([^>]+)>/.exec(headers['Link'] ?? '')?.[1]
  }
  return pages
}

describe('lists of large requests', () => {
  it('of all workloads are without the drafts, which are in the single request', async () => {
    const { json, text } = await get('/api/approvals')
    expect((json as ApprovalRecord[]).map(({ id }) => id)).toEqual(ids)
    expect(json).toMatchObject([
      { draft_hash: expect.any(String), request_comment: 'please' },
      ...ids.slice(1).map(() => ({})),
    ])
    for (const one of json as object[]) expect(one).not.toHaveProperty('draft_yaml')
    expect(text.length).toBeLessThan(MIB)
    const one = (await get(`${ofWorkload}/${ids[0]}`)).json as ApprovalRecord
    expect(one.draft_yaml.length).toBeGreaterThan(MIB)
  })

  it('of one workload end a page early rather than hold all drafts at one time, and leave none out', async () => {
    const pages = await pagesOf(`${ofWorkload}?limit=1000`)
    expect(pages.flatMap((page) => page.ids)).toEqual(ids)
    for (const { bytes } of pages) expect(bytes).toBeLessThan(6 * MIB)
    expect(pages.length).toBeGreaterThan(1)
    const small = await pagesOf(`${ofWorkload}?limit=2`)
    expect(small.map((page) => page.ids.length)).toEqual(Array(COUNT / 2).fill(2))
    const whole = (await get(ofWorkload)).json as ApprovalRecord[]
    expect(whole.map(({ id }) => id)).toEqual(ids)
    expect(whole.every(({ draft_yaml }) => draft_yaml.length > MIB)).toBe(true)
  })

  it('end a page early as well where much was said about the requests', async () => {
    await database.pool.execute(
      `insert into approval_comments (approval_id, author, author_id, body, created_at)
       select id, requester, requester_id, repeat('x', 4000), created_at from approvals, generate_series(1, 200)`,
    )
    const pages = await pagesOf('/api/approvals?limit=1000')
    expect(pages.flatMap((page) => page.ids)).toEqual(ids)
    for (const { bytes } of pages) expect(bytes).toBeLessThan(6 * MIB)
  })

  it('are paged by what a draft takes that was forgotten and that runs somewhere', async () => {
    const sizes = async () => (await pagesOf(`${ofWorkload}?limit=1000`)).map((page) => page.ids.length)
    const before = await sizes()
    await database.pool.execute(
      `insert into config_contents (hash, body, components, created_at)
       select draft_hash, draft_yaml, '[]', now() from approvals on conflict (hash) do update set body = excluded.body`,
    )
    await database.pool.execute(`update approvals set draft_yaml = '', draft_forgotten = true`)
    expect(await sizes()).toEqual(before)
    expect(before.length).toBeGreaterThan(1)
  })
})
