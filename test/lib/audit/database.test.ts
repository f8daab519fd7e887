import { describe, expect, it } from 'vitest'
import type { AuditedDatabase } from '../../../lib/audit/database.ts'
import { AuditDelivery, type AuditSink, DOUBTED_MAX, noAuditSink } from '../../../lib/audit/delivery.ts'
import type { AuditEvent } from '../../../lib/audit/event.ts'
import { verifyAuditChain } from '../../../lib/audit/verify.ts'
import {
  type AuditRecord,
  countAuditRecords,
  listAuditRecords,
  readAuditHead,
} from '../../../lib/store/audit.ts'
import { CommitInDoubt, type Database, type Db } from '../../../lib/store/db.ts'
import { fenced } from '../../../lib/store/fenced.ts'
import { auditedDatabase } from '../../support/audited-database.ts'
import { fakeClock, recordingLog } from '../../support/fakes.ts'
import { faultyDatabase, through } from '../../support/faulty-database.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { commitSlowly, untilAwaited } from '../../support/slow-commit.ts'

const database = await useTestDatabase()
const { pool } = database
await pool.execute('CREATE TABLE things (n integer)')
const clock = fakeClock()
const withSink = (sink: AuditSink) => auditedDatabase(pool, { clock, sink })
const db = auditedDatabase(pool, { clock })
const brokenSink: AuditSink = { deliver: () => Promise.reject(new Error('archive is down')) }

const actor = { userId: 'u1', email: 'ops@example.com', askAgain: null }
const event = (more: Partial<AuditEvent> = {}): AuditEvent => ({
  action: 'thing.create',
  actor,
  resource: 'thing',
  resourceId: 't1',
  ...more,
})
const recorded = (more: Partial<Omit<AuditEvent, 'actor'>> = {}) => {
  const { actor: _, ...rest } = event(more)
  return rest
}

const insertThing = (n: number, tx: Db = pool) => tx.execute('INSERT INTO things VALUES ($1)', [n])
const hasThing = async (n: number) => (await pool.query('SELECT 1 FROM things WHERE n = $1', [n])).length > 0

/** Make a thing and record it. */
const makeThing = (to: AuditedDatabase, n: number, sink?: 'before-commit') =>
  to.change(
    'thing.create',
    actor,
    async (tx) => {
      await insertThing(n, tx)
      await tx.record(recorded({ resourceId: `t${n}` }))
      return { ok: true, made: n }
    },
    sink && { sink },
  )

describe('a change', () => {
  it('appends many records as one, in their order, and says how long it held the lock of the chain', async () => {
    const before = await readAuditHead(pool)
    const said: string[] = []
    const watching = (tx: Db): Db => ({
      query: (text, params) => {
        said.push(text)
        return tx.query(text, params)
      },
      execute: (text, params) => {
        said.push(text)
        return tx.execute(text, params)
      },
    })
    const watched = auditedDatabase(
      { ...through(pool), transaction: (name, work) => pool.transaction(name, (tx) => work(watching(tx))) },
      { clock },
    )
    const names = Array.from({ length: 50 }, (_, n) => `many "${n}", {\\}`)
    await watched.change('campaign.push', actor, async (tx) => {
      await tx.recordAll(names.map((resourceId) => recorded({ resourceId, detail: resourceId })))
      clock.advance(7)
      return { ok: true }
    })
    const stored = await listAuditRecords(pool, {}, { beforeSeq: null, limit: 50, offset: 0 })
    expect(stored.map(({ resourceId }) => resourceId).reverse()).toEqual(names)
    expect(stored.map(({ detail }) => detail).reverse()).toEqual(names)
    expect(stored.at(-1)?.prevHash).toBe(before.hash)
    expect(await verifyAuditChain(pool)).toMatchObject({ isIntact: true, checked: before.seq + 50 })
    expect(said.filter((text) => /audit_events|pg_advisory/i.test(text))).toHaveLength(3)
    const holds = new Map(watched.auditLock.take())
    expect(holds.get('campaign.push')).toEqual({ count: 1, totalMs: 7, longestMs: 7 })
    expect(new Map(watched.auditLock.take()).get('campaign.push')?.longestMs).toBe(0)
  })

  it('stands with its record, in the name of whoever made it', async () => {
    const before = await readAuditHead(pool)
    expect(await makeThing(db, 1)).toEqual({ ok: true, made: 1 })
    const [stored] = await listAuditRecords(pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
    const { userId, email } = actor
    expect(stored).toMatchObject({
      seq: before.seq + 1,
      userId,
      email,
      action: 'thing.create',
      resourceId: 't1',
    })
  })

  it('that fails leaves no record', async () => {
    const before = await readAuditHead(pool)
    const failing = db.change('thing.create', actor, async (tx) => {
      await tx.record(recorded())
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await readAuditHead(pool)).toEqual(before)
  })

  it('that is refused leaves nothing behind, tells nobody, and says why', async () => {
    const before = await readAuditHead(pool)
    const told: string[] = []
    const sink: AuditSink = { deliver: async ({ resourceId }) => void told.push(resourceId) }
    const outcome = await withSink(sink).change('thing.create', actor, async (tx) => {
      await insertThing(7, tx)
      await tx.record(recorded())
      tx.afterCommit(() => told.push('a browser'))
      return { ok: false, code: 'too-many' }
    })
    expect(outcome).toEqual({ ok: false, code: 'too-many' })
    expect([await hasThing(7), await readAuditHead(pool), told]).toEqual([false, before, []])
  })

  it('whose record cannot be written does not stand, and says so', async () => {
    await pool.execute('ALTER TABLE audit_events ADD CONSTRAINT full_disk CHECK (action <> $$no.room$$)')
    const outcome = await db.change('thing.create', actor, async (tx) => {
      await insertThing(2, tx)
      await tx.record(recorded({ action: 'no.room' }))
      return { ok: true }
    })
    expect(outcome).toEqual({ ok: false, code: 'audit-unavailable', sideEffect: 'none' })
    expect(await hasThing(2)).toBe(false)
  })

  it('gives records that are written at once numbers without gaps, in one chain', async () => {
    const before = await readAuditHead(pool)
    await Promise.all(Array.from({ length: 20 }, (_, n) => makeThing(db, 100 + n)))
    expect(await verifyAuditChain(pool)).toMatchObject({ isIntact: true, checked: before.seq + 20 })
  })

  it('stands where the outside does not listen to its record, says so, and is told of all the same', async () => {
    let hasHeard = false
    const outcome = await withSink(brokenSink).change('thing.create', actor, async (tx) => {
      await insertThing(3, tx)
      await tx.record(recorded())
      tx.afterCommit(() => {
        hasHeard = true
      })
      return { ok: true }
    })
    expect(outcome).toEqual({ ok: false, code: 'audit-unavailable', sideEffect: 'applied' })
    expect([await hasThing(3), hasHeard]).toEqual([true, true])
  })

  it('that must not stand without its record outside is undone', async () => {
    const before = await readAuditHead(pool)
    const outcome = await makeThing(withSink(brokenSink), 4, 'before-commit')
    expect(outcome).toEqual({ ok: false, code: 'audit-unavailable', sideEffect: 'none' })
    expect(await hasThing(4)).toBe(false)
    expect(await readAuditHead(pool)).toEqual(before)
  })

  it('gives the outside sink the record as it is stored', async () => {
    const seen: AuditRecord[] = []
    await withSink({ deliver: async (record) => void seen.push(record) }).observe(event({ detail: 'seen' }))
    const [stored] = await listAuditRecords(pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
    expect(seen).toEqual([stored])
  })

  it('comes after what agents have reported, and finds it written', async () => {
    const waiting = auditedDatabase(pool, { writeReports: async () => void (await insertThing(5)) })
    const found = await waiting.change('thing.find', null, async (tx) => ({
      ok: true,
      things: (await tx.query('SELECT 1 FROM things WHERE n = 5')).length,
    }))
    expect(found).toEqual({ ok: true, things: 1 })
  })

  it('of a process that another one has taken over from does not stand, recorded or not', async () => {
    const lost = auditedDatabase(fenced(pool, () => Promise.reject(new Error('another one is active'))))
    const unrecorded = lost.change('thing.create', null, async (tx) => {
      await insertThing(6, tx)
      return { ok: true }
    })
    await expect(unrecorded).rejects.toThrow('another one is active')
    await expect(makeThing(lost, 6)).rejects.toThrow('another one is active')
    await expect(lost.observe(event())).rejects.toThrow('another one is active')
    expect(await hasThing(6)).toBe(false)
  })
})

describe('an act', () => {
  it('is told of when whoever made it is done: nobody waits for the outside under a lock of its own', async () => {
    const order: string[] = []
    const sink: AuditSink = { deliver: async () => void order.push('the archive') }
    await withSink(sink).act('thing.create', actor, async (act) => {
      const outcome = await act.commit(async (tx) => {
        await tx.record(recorded())
        tx.afterCommit(() => order.push('a browser'))
        return { ok: true }
      })
      order.push('memory')
      return outcome
    })
    expect(order).toEqual(['memory', 'a browser', 'the archive'])
  })

  it('that breaks after its commit is told of to the outside, for it stands', async () => {
    const told: string[] = []
    const sink: AuditSink = { deliver: async ({ resourceId }) => void told.push(resourceId) }
    const breaking = withSink(sink).act('thing.create', actor, async (act) => {
      await act.commit(async (tx) => {
        await tx.record(recorded({ resourceId: 'stands' }))
        return { ok: true }
      })
      throw new Error('a fault in memory')
    })
    await expect(breaking).rejects.toThrow('a fault in memory')
    expect(told).toEqual(['stands'])
  })

  it('has one transaction', async () => {
    const twice = db.act('thing.create', actor, async (act) => {
      await act.commit(async () => ({ ok: true }))
      return act.commit(async () => ({ ok: true }))
    })
    await expect(twice).rejects.toThrow('Cannot begin a second transaction in the act "thing.create"')
  })
})

describe('a commit that got no answer', () => {
  const open = () => {
    const told: string[] = []
    let doubts = 0
    const faulty = faultyDatabase(pool)
    const audited = auditedDatabase(faulty, {
      sink: { deliver: async ({ resourceId }) => void told.push(resourceId) },
      standsUnheard: () => doubts++,
    })
    return { faulty, audited, told, doubts: () => doubts }
  }

  it('is told of to the outside once the database says that it stands, and once only', async () => {
    const { faulty, audited, told, doubts } = open()
    faulty.loseAnswer('thing.create')
    await expect(makeThing(audited, 8)).rejects.toThrow(CommitInDoubt)
    expect([await hasThing(8), told, doubts()]).toEqual([true, [], 1])
    await audited.settleDoubts()
    await audited.settleDoubts()
    expect(told).toEqual(['t8'])
  })

  it('is told of to nobody where the database says that it was taken back', async () => {
    const { faulty, audited, told, doubts } = open()
    faulty.loseCommit('thing.create')
    await expect(makeThing(audited, 9)).rejects.toThrow(CommitInDoubt)
    await audited.settleDoubts()
    expect([await hasThing(9), told, doubts()]).toEqual([false, [], 1])
  })

  it('is asked about again where the database does not answer that either', async () => {
    const { faulty, audited, told } = open()
    faulty.loseAnswer('thing.create')
    await expect(makeThing(audited, 10)).rejects.toThrow(CommitInDoubt)
    faulty.loseAnswer('audit.settle')
    await expect(audited.settleDoubts()).rejects.toThrow(CommitInDoubt)
    expect(told).toEqual([])
    await audited.settleDoubts()
    expect(told).toEqual(['t10'])
  })

  it('is not judged before the database has come to its end with it', async () => {
    const slow = through(pool)
    const { finish } = commitSlowly(slow, (name) => name !== 'audit.settle')
    const told: string[] = []
    const sink: AuditSink = { deliver: async ({ resourceId }) => void told.push(resourceId) }
    const audited = auditedDatabase(slow, { sink })
    await expect(makeThing(audited, 11)).rejects.toThrow(CommitInDoubt)
    const settled = audited.settleDoubts()
    await untilAwaited(database)
    finish()
    await settled
    expect(told).toEqual(['t11'])
  })
})

it('tells of the newest of so many records as wait for the word of the database, and says how many it dropped', async () => {
  const log = recordingLog()
  const delivery = new AuditDelivery(noAuditSink, log)
  const record = (n: number) => ({ id: `r${n}` }) as AuditRecord
  delivery.doubt(Array.from({ length: DOUBTED_MAX + 3 }, (_, n) => record(n)))
  let asked: unknown = null
  const find: Database['transaction'] = (_, work) =>
    work({
      execute: async () => 0,
      query: async (_text, params) => {
        asked = params?.[0] ?? asked
        return []
      },
    })
  await delivery.settle({ ...through(pool), transaction: find })
  expect(asked).toEqual(Array.from({ length: DOUBTED_MAX }, (_, n) => `r${n + 3}`))
  expect(log.lines).toMatchObject([{ level: 'error', fields: { records: 3 } }])
})

it('asks the database later about a record whose answer is lost while others are asked about', async () => {
  const delivery = new AuditDelivery(noAuditSink, recordingLog())
  const record = (n: number) => ({ id: `r${n}` }) as AuditRecord
  const asked: unknown[] = []
  const find: Database['transaction'] = (_, work) =>
    work({
      execute: async () => 0,
      query: async (_text, params) => {
        // The lock is taken before, by a statement without values.
        if (params === undefined) return []
        asked.push(params[0])
        if (asked.length === 1) delivery.doubt([record(2)])
        return []
      },
    })
  delivery.doubt([record(1)])
  for (let round = 0; round < 3; round++) await delivery.settle({ ...through(pool), transaction: find })
  expect(asked).toEqual([['r1'], ['r2']])
})

describe('the log', () => {
  it('refuses UPDATE, DELETE and TRUNCATE', async () => {
    await db.observe(event())
    await expect(pool.execute("UPDATE audit_events SET detail = 'x'")).rejects.toThrow('append-only: UPDATE')
    await expect(pool.execute('DELETE FROM audit_events')).rejects.toThrow('append-only: DELETE')
    await expect(pool.execute('TRUNCATE audit_events')).rejects.toThrow('append-only: TRUNCATE')
  })

  it('finds records by every filter, newest first', async () => {
    clock.advance(60_000)
    const from = clock.now()
    const actor = { userId: 'u9', email: 'nine@example.com', askAgain: null }
    await db.observe(
      event({ actor, action: 'x.one', resource: 'workload', resourceId: 'w9', configHash: 'h9' }),
    )
    clock.advance(1_000)
    await db.observe(event({ actor, action: 'x.two' }))
    const filters = [
      { user: 'u9' },
      { user: 'nine@example.com' },
      { userId: 'u9' },
      { email: 'nine@example.com' },
      { action: 'x.one' },
      { resourceId: 'w9' },
      { workloadId: 'w9' },
      { configHash: 'h9' },
      { from },
      { from, to: from },
    ]
    const found = await Promise.all(
      filters.map(async (filter) => {
        const records = await listAuditRecords(pool, filter, { beforeSeq: null, limit: 10, offset: 0 })
        expect(await countAuditRecords(pool, filter)).toBe(records.length)
        return records.map((record) => record.action).join(' ')
      }),
    )
    const both = 'x.two x.one'
    expect(found).toEqual([both, both, both, both, 'x.one', 'x.one', 'x.one', 'x.one', both, 'x.one'])
  })
})

describe('checking the chain', () => {
  it('finds a changed record, a missing one, and a cut tail', async () => {
    await insertThing(5)
    await db.observe(event())
    const head = await readAuditHead(pool)
    expect(await verifyAuditChain(pool, head)).toEqual({
      isIntact: true,
      checked: head.seq,
      head,
      broken: null,
    })
    await pool.execute('ALTER TABLE audit_events DISABLE TRIGGER USER')

    await pool.execute('DELETE FROM audit_events WHERE seq = $1', [head.seq])
    expect(await verifyAuditChain(pool)).toMatchObject({ isIntact: true, checked: head.seq - 1 })
    expect(await verifyAuditChain(pool, head)).toMatchObject({
      isIntact: false,
      broken: { seq: head.seq, reason: 'shorter-than-before' },
    })

    await pool.execute("UPDATE audit_events SET detail = 'forged' WHERE seq = 3")
    expect(await verifyAuditChain(pool)).toMatchObject({
      checked: 2,
      broken: { seq: 3, reason: 'event-hash' },
    })
    await pool.execute('DELETE FROM audit_events WHERE seq = 2')
    expect(await verifyAuditChain(pool)).toMatchObject({ checked: 1, broken: { seq: 3, reason: 'gap' } })
  })
})
