import { afterEach, beforeEach, expect, it } from 'vitest'
import type { FleetStanding } from '../../../lib/wire/fleet-configs.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let as: string

beforeEach(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  as = (await signIn(ctx)).token
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const call = (route: string, body?: unknown) =>
  invoke(ctx, route, { as, ...(body === undefined ? {} : { body }) })

async function hosts(count: number): Promise<string[]> {
  const ids = Array.from(
    { length: count },
    (_, at) =>
      fakeAgent(ctx.fleet, { service: 'otelcol', attributes: { 'host.name': `web-${at}` } }).workloadId!,
  )
  await ctx.advance(1_000)
  return ids
}

const holdOf = async (id: string) =>
  ((await call(`GET /api/workloads/${id}/fleet-config`)).json as FleetStanding).hold

it('many are held at once, each with a record of its own, and released again', async () => {
  const ids = await hosts(120)
  const [last, ...held] = ids
  const sent = { workload_ids: [...held, held[0], 'gone'], reason: 'Being moved' }
  expect(await call('POST /api/holds', sent)).toMatchObject({ status: 200, json: { changed_count: 119 } })
  expect(await holdOf(held[0]!)).toMatchObject({ reason: 'Being moved', overdue: false })
  expect(await holdOf(held.at(-1)!)).toMatchObject({ reason: 'Being moved' })
  expect(await holdOf(last!)).toBeUndefined()
  const records = await database.pool.query<{ resource_id: string }>(
    `select resource_id from audit_events where action = 'workload.hold'`,
  )
  expect(records.map((row) => row.resource_id).sort()).toEqual([...held].sort())
  // The count of released workloads leaves out one that was not held.
  expect(await call('POST /api/holds/release', { workload_ids: ids })).toMatchObject({
    status: 200,
    json: { changed_count: 119 },
  })
  expect(await holdOf(held[0]!)).toBeUndefined()
})

it('where the right ends between two transactions, the refusal says how many are held by then', async () => {
  const ids = (await hosts(60)).sort()
  const editor = await signIn(ctx, { groups: ['editor'] })
  await database.pool.execute(
    `create function end_right() returns trigger language plpgsql as $$ begin
       if (select count(*) from workload_holds) = 50 then
         delete from user_groups where user_id = '${editor.userId}';
       end if;
       return null;
     end $$;
     create trigger end_right after insert on workload_holds for each statement execute function end_right()`,
  )
  try {
    const body = { workload_ids: ids, reason: 'Being moved' }
    expect(await invoke(ctx, 'POST /api/holds', { as: editor.token, body })).toMatchObject({
      status: 403,
      json: { code: 'out_of_scope', changed_count: 50 },
    })
    expect(await holdOf(ids[49]!)).toMatchObject({ reason: 'Being moved' })
    expect(await holdOf(ids[50]!)).toBeUndefined()
  } finally {
    await database.pool.execute('drop trigger end_right on workload_holds; drop function end_right()')
  }
})

it('so many at once and no more, with a reason and a time to come', async () => {
  const [id] = await hosts(1)
  const many = Array.from({ length: 501 }, (_, at) => `w${at}`)
  for (const [body, code] of [
    [{ workload_ids: many, reason: 'x' }, 'workload_ids_invalid'],
    [{ workload_ids: [], reason: 'x' }, 'workload_ids_invalid'],
    [{ workload_ids: [id], reason: ' ' }, 'reason_invalid'],
    [{ workload_ids: [id], reason: 'x', until: '2020-01-01T00:00:00Z' }, 'until_invalid'],
  ] as const)
    expect(await call('POST /api/holds', body)).toMatchObject({ status: 400, json: { code } })
  expect(await call('POST /api/holds/release', { workload_ids: many })).toMatchObject({ status: 400 })
  const viewer = (await signIn(ctx, { groups: ['viewer'] })).token
  expect(
    await invoke(ctx, 'POST /api/holds', { as: viewer, body: { workload_ids: [id], reason: 'x' } }),
  ).toMatchObject({ status: 403 })
})
