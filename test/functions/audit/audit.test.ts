import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readAuditHead } from '../../../lib/store/audit.ts'
import type { AuditPage } from '../../../lib/wire/audit.ts'
import { createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
const { token, userId, email } = await signIn(ctx, { email: 'admin@example.com' })

const COUNT = 620
/** Texts that a program which opens a table could take for formulas, and an empty one. */
const DETAILS: Readonly<Record<number, string>> = {
  3: '=cmd|"x",\nnext',
  4: '',
  5: ' =1+1',
  6: 'a;@SUM(A1)',
  7: '\uff1d1+1',
}

beforeAll(async () => {
  const actor = { userId, email, askAgain: null }
  const record = (from: number, to: number, by: typeof actor | null) =>
    ctx.db.change('test', by, async (tx) => {
      for (let n = from; n <= to; n++) {
        const detail = DETAILS[n] ?? `detail ${n}`
        await tx.record({ action: `a.${n % 2}`, resource: 'workload', resourceId: `w${n}`, detail })
        ctx.clock.advance(1_000)
      }
      return { ok: true }
    })
  await record(1, 3, actor)
  await record(4, 4, null)
  await record(5, COUNT, actor)
})

const read = async (query: string) => invoke(ctx, `GET /api/audit/events${query}`, { as: token })
const seqsOf = (page: unknown) => (page as AuditPage).events.map((event) => event.seq)

describe('GET /api/audit/events', () => {
  it('is the newest fifty with the total, and leaves out what is empty', async () => {
    const answer = await read('')
    expect(answer).toMatchObject({
      status: 200,
      json: { available: true, total: COUNT, limit: 50, offset: 0 },
    })
    expect(seqsOf(answer.json)).toEqual(Array.from({ length: 50 }, (_, n) => COUNT - n))
    const { events } = (await read('?resource_id=w4')).json as AuditPage
    expect(events).toEqual([
      {
        id: expect.any(String),
        seq: 4,
        occurred_at: '2026-07-01T08:00:03.000Z',
        action: 'a.0',
        resource: 'workload',
        resource_id: 'w4',
        workload_id: 'w4',
        prev_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        event_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ])
  })

  it('pages by offset and by cursor', async () => {
    expect(seqsOf((await read('?limit=3&offset=600')).json)).toEqual([20, 19, 18])
    const first = await read('?limit=3&action=a.1')
    expect(seqsOf(first.json)).toEqual([619, 617, 615])
    const next = /<\/api\/audit\/events([^>]+)>; rel="next"/.exec(first.headers['Link'] ?? '')?.[1]
    expect(next).toContain(`cursor=${(first.json as AuditPage).next_cursor}`)
    expect(seqsOf((await read(next!)).json)).toEqual([613, 611, 609])
    const last = await read('?limit=500&offset=600')
    expect(last.json).not.toHaveProperty('next_cursor')
    expect(last.headers).not.toHaveProperty('Link')
  })

  it('finds what was done to a workload by its name, by a part of an e-mail, and by several actions', async () => {
    await database.pool.execute(
      `insert into workloads (id, fingerprint_source, fingerprint_keys, display_name, type, version, status,
         last_seen_at, labels, trusted_labels, accepts_remote_config, generation, push_seq, created_at)
       values ('w17', 'uid', '{}', 'Checkout_EU', 'collector', '', 'connected', now(), '{}', '{}', true, 0, 0, now())`,
    )
    for (const workload of ['checkout', 'OUT_eu', 'w17'])
      expect(seqsOf((await read(`?workload=${workload}`)).json)).toEqual([17])
    // Characters with a meaning in SQL patterns are searched as themselves.
    for (const workload of ['check%25', 'Checkout.EU', "'"])
      expect(seqsOf((await read(`?workload=${workload}`)).json)).toEqual([])
    expect((await read('?person=ADMIN')).json).toMatchObject({ total: COUNT - 1 })
    expect((await read('?person=nobody')).json).toMatchObject({ total: 0 })
    expect((await read('?actions=a.0,a.1,push')).json).toMatchObject({ total: COUNT })
    expect(seqsOf((await read('?actions=a.1,push&limit=2')).json)).toEqual([619, 617])
    expect((await read(`?actions=${'a,'.repeat(100)}`)).status).toBe(400)
    const csv = await invoke(ctx, 'GET /api/audit/events.csv?workload=checkout', { as: token })
    expect(csv.text.trim().split('\n')).toHaveLength(2)
  })

  it('filters exactly, and by time', async () => {
    const from = encodeURIComponent('2026-07-01T10:00:01.000+02:00')
    expect(seqsOf((await read(`?from=${from}&to=2026-07-01T08:00:03Z&user=admin@example.com`)).json)).toEqual(
      [3, 2],
    )
    expect((await read('?user_id=nobody')).json).toEqual({
      available: true,
      events: [],
      total: 0,
      limit: 50,
      offset: 0,
    })
  })

  it('cuts the limit to 500 and refuses parameters that are none', async () => {
    expect((await read('?limit=9999')).json).toMatchObject({ limit: 500 })
    for (const [query, error] of [
      ['limit=0', 'invalid limit'],
      ['limit=x', 'invalid limit'],
      ['offset=-1', 'invalid offset'],
      ['from=yesterday', 'invalid from'],
      ['to=2026-13-01T00:00:00Z', 'invalid to'],
      ['cursor=x', 'invalid cursor'],
    ]) {
      expect(await read(`?${query}`)).toMatchObject({ status: 400, json: { error } })
    }
  })
})

describe('GET /api/audit/events.csv', () => {
  it('streams every event that fits, newest first, and defuses formulas', async () => {
    const answer = await invoke(ctx, 'GET /api/audit/events.csv', { as: token })
    expect(answer.headers).toMatchObject({
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': 'attachment; filename="audit-events.csv"',
    })
    const lines = answer.text.split('\n')
    expect(lines[0]).toBe(
      'id,occurred_at,action,user_id,email,resource,resource_id,workload_id,config_hash,detail,prev_hash,event_hash,immutable_ref',
    )
    // One cell holds a line break, and the text ends with one.
    expect(lines).toHaveLength(1 + COUNT + 1 + 1)
    expect(answer.text).toContain(`,w3,w3,,"'=cmd|""x"",\nnext",`)
    // Formulas are defused as in reports: also after blanks, after a character that some programs take for the end of a
    // cell, and with full-width signs.
    expect(answer.text).toContain(`,w5,w5,,' '=1+1,`)
    expect(answer.text).toContain(`,w6,w6,,"a;'@SUM(A1)",`)
    expect(answer.text).toContain(`,w7,w7,,'\uff1d1+1,`)
    const one = await invoke(ctx, 'GET /api/audit/events.csv?resource_id=w1', { as: token })
    expect(one.text.split('\n')).toHaveLength(3)
    expect(one.text).toContain(
      `2026-07-01T08:00:00.000Z,a.1,${userId},admin@example.com,workload,w1,w1,,detail 1,`,
    )
  })

  it('refuses a time that is none', async () => {
    expect(await invoke(ctx, 'GET /api/audit/events.csv?to=x', { as: token })).toMatchObject({ status: 400 })
  })
})

describe('GET /api/audit/verify', () => {
  const verify = () => invoke(ctx, 'GET /api/audit/verify', { as: token })

  it('finds an intact chain intact, with its head', async () => {
    const head = await readAuditHead(database.pool)
    expect((await verify()).json).toEqual({
      valid: true,
      checked_count: COUNT,
      head_seq: COUNT,
      head_hash: head.hash,
      checked_at: ctx.clock.now().toISOString(),
    })
  })

  it('says whether it still holds a head that was seen before', async () => {
    const against = (head: string) =>
      invoke(ctx, `GET /api/audit/verify?head=${head}` as 'GET /api/audit/verify', { as: token })
    const { hash } = await readAuditHead(database.pool)
    expect((await against(`${COUNT}:${hash}`)).json).toMatchObject({ valid: true, checked_count: COUNT })
    expect((await against(`${COUNT + 1}:${hash}`)).json).toMatchObject({
      valid: false,
      checked_count: COUNT,
      head_seq: COUNT,
      first_bad_seq: COUNT + 1,
      reason: 'shorter_than_before',
    })
    expect((await against(`600:${hash}`)).json).toMatchObject({
      valid: false,
      first_bad_seq: 600,
      reason: 'other_than_before',
    })
    for (const bad of ['12', `0:${hash}`, `x:${hash}`, '12:beef', `-1:${hash}`])
      expect(await against(bad)).toMatchObject({
        status: 400,
        json: { error: 'head must be seq:hash, as in 12:<64 hexadecimal digits>' },
      })
  })

  it('names the first record that does not fit', async () => {
    await database.pool.execute('ALTER TABLE audit_events DISABLE TRIGGER USER')
    await database.pool.execute("UPDATE audit_events SET email = 'x' WHERE seq = 611")
    expect((await verify()).json).toMatchObject({
      valid: false,
      checked_count: 610,
      head_seq: 610,
      first_bad_seq: 611,
      reason: 'event_hash',
    })
  })
})

describe('what an event is about', () => {
  it('has the name that users, campaigns and the like have now, and none once they are gone', async () => {
    const made = async (path: string, body: object) =>
      ((await invoke(ctx, `POST ${path}`, { as: token, body })).json as { id: string }).id
    const user = await made('/api/users', {
      email: 'nora@example.com',
      password: 'correct horse battery',
      groups: ['viewer'],
    })
    const group = await made('/api/push-groups', { name: 'Tills', selector: { types: ['collector'] } })
    const nameOf = async (id: string) =>
      ((await read(`?resource_id=${id}`)).json as AuditPage).events.map((event) => event.resource_name)
    expect(await nameOf(user)).toEqual(['nora@example.com'])
    expect(await nameOf(group)).toEqual(['Tills'])
    expect((await invoke(ctx, `DELETE /api/users/${user}`, { as: token })).status).toBe(204)
    expect(await nameOf(user)).toEqual([undefined, undefined])
  })
})
