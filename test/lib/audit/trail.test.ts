import { describe, expect, it, vi } from 'vitest'
import { deliverAfterCommit } from '../../../lib/audit/after-commit.ts'
import type { AuditEvent } from '../../../lib/audit/event.ts'
import { type AuditSink, noAuditSink, openAuditTrail } from '../../../lib/audit/trail.ts'
import { verifyAuditChain } from '../../../lib/audit/verify.ts'
import { silentLog } from '../../../lib/log.ts'
import {
  type AuditRecord,
  countAuditRecords,
  listAuditRecords,
  readAuditHead,
} from '../../../lib/store/audit.ts'
import { fakeClock, seededRandom } from '../../support/fakes.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const { pool: db } = await useTestDatabase()
await db.execute('CREATE TABLE things (n integer)')
const clock = fakeClock()
const random = seededRandom()

const trailWith = (sink: AuditSink) =>
  openAuditTrail({ db, clock, random, log: silentLog, sink, checkEpoch: async () => {} })
const trail = trailWith(noAuditSink)
const brokenSink: AuditSink = { deliver: () => Promise.reject(new Error('archive is down')) }

const event = (more: Partial<AuditEvent> = {}): AuditEvent => ({
  action: 'thing.create',
  actor: { userId: 'u1', email: 'ops@example.com' },
  resource: 'thing',
  resourceId: 't1',
  ...more,
})

const insertThing = (n: number) => db.execute('INSERT INTO things VALUES ($1)', [n])
const hasThing = async (n: number) => (await db.query('SELECT 1 FROM things WHERE n = $1', [n])).length > 0

describe('audit trail', () => {
  it('writes the record in the transaction of the change', async () => {
    const before = await readAuditHead(db)
    const outcome = await trail.change(async (tx, record) => {
      await tx.execute('INSERT INTO things VALUES (1)')
      await record(event())
      return 'done'
    })
    expect(outcome).toEqual({ ok: true, value: 'done' })
    expect((await readAuditHead(db)).seq).toBe(before.seq + 1)
  })

  it('leaves no record of a change that failed', async () => {
    const before = await readAuditHead(db)
    const failing = trail.change(async (_, record) => {
      await record(event())
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await readAuditHead(db)).toEqual(before)
  })

  it('leaves no change whose record cannot be written, and says so', async () => {
    await db.execute('ALTER TABLE audit_events ADD CONSTRAINT full_disk CHECK (action <> $$no.room$$)')
    const outcome = await trail.change(async (tx, record) => {
      await tx.execute('INSERT INTO things VALUES (2)')
      await record(event({ action: 'no.room' }))
    })
    expect(outcome).toEqual({ ok: false, code: 'audit-unavailable', sideEffect: 'none' })
    expect(await hasThing(2)).toBe(false)
  })

  it('gives records that are written at once numbers without gaps, in one chain', async () => {
    const before = await readAuditHead(db)
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        trail.change(async (tx, record) => {
          await tx.execute('INSERT INTO things VALUES ($1)', [100 + n])
          await record(event({ resourceId: `t${n}` }))
        }),
      ),
    )
    expect(await verifyAuditChain(db)).toMatchObject({ isIntact: true, checked: before.seq + 20 })
  })

  it('keeps a change whose outside record failed after the commit, and says so', async () => {
    const outcome = await trailWith(brokenSink).change(async (tx, record) => {
      await tx.execute('INSERT INTO things VALUES (3)')
      await record(event())
    })
    expect(outcome).toEqual({ ok: false, code: 'audit-unavailable', sideEffect: 'applied' })
    expect(await hasThing(3)).toBe(true)
  })

  it('undoes a change that must not stand without its outside record', async () => {
    const before = await readAuditHead(db)
    const outcome = await trailWith(brokenSink).change(
      async (tx, record) => {
        await tx.execute('INSERT INTO things VALUES (4)')
        await record(event())
      },
      { sink: 'before-commit' },
    )
    expect(outcome).toEqual({ ok: false, code: 'audit-unavailable', sideEffect: 'none' })
    expect(await hasThing(4)).toBe(false)
    expect(await readAuditHead(db)).toEqual(before)
  })

  it('gives the outside sink the record as it is stored', async () => {
    const seen: AuditRecord[] = []
    await trailWith({ deliver: async (record) => void seen.push(record) }).observe(event({ detail: 'seen' }))
    const [stored] = await listAuditRecords(db, {}, { beforeSeq: null, limit: 1, offset: 0 })
    expect(seen).toEqual([stored])
  })

  it('refuses UPDATE, DELETE and TRUNCATE', async () => {
    await trail.observe(event())
    await expect(db.execute("UPDATE audit_events SET detail = 'x'")).rejects.toThrow('append-only: UPDATE')
    await expect(db.execute('DELETE FROM audit_events')).rejects.toThrow('append-only: DELETE')
    await expect(db.execute('TRUNCATE audit_events')).rejects.toThrow('append-only: TRUNCATE')
  })

  it('finds records by every filter, newest first', async () => {
    clock.advance(60_000)
    const from = clock.now()
    const actor = { userId: 'u9', email: 'nine@example.com' }
    await trail.observe(
      event({ actor, action: 'x.one', resource: 'workload', resourceId: 'w9', configHash: 'h9' }),
    )
    clock.advance(1_000)
    await trail.observe(event({ actor, action: 'x.two' }))
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
        const records = await listAuditRecords(db, filter, { beforeSeq: null, limit: 10, offset: 0 })
        expect(await countAuditRecords(db, filter)).toBe(records.length)
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
    await trail.observe(event())
    const head = await readAuditHead(db)
    expect(await verifyAuditChain(db, head)).toEqual({
      isIntact: true,
      checked: head.seq,
      head,
      broken: null,
    })
    await db.execute('ALTER TABLE audit_events DISABLE TRIGGER USER')

    await db.execute('DELETE FROM audit_events WHERE seq = $1', [head.seq])
    expect(await verifyAuditChain(db)).toMatchObject({ isIntact: true, checked: head.seq - 1 })
    expect(await verifyAuditChain(db, head)).toMatchObject({
      isIntact: false,
      broken: { seq: head.seq, reason: 'shorter-than-before' },
    })

    await db.execute("UPDATE audit_events SET detail = 'forged' WHERE seq = 3")
    expect(await verifyAuditChain(db)).toMatchObject({ checked: 2, broken: { seq: 3, reason: 'event-hash' } })
    await db.execute('DELETE FROM audit_events WHERE seq = 2')
    expect(await verifyAuditChain(db)).toMatchObject({ checked: 1, broken: { seq: 3, reason: 'gap' } })
  })
})

describe('a database that delivers after the commit', () => {
  it('tells the outside of what stands, once, and of nothing that was taken back', async () => {
    const told: string[] = []
    const sink: AuditSink = { deliver: async ({ resourceId }) => void told.push(resourceId) }
    const audited = deliverAfterCommit(db, trailWith(sink))
    await audited.db.transaction('test', (tx) => audited.record(tx, event({ resourceId: 'stands' })))
    const failing = audited.db.transaction('test', async (tx) => {
      await audited.record(tx, event({ resourceId: 'taken back' }))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await audited.db.transaction('test', (tx) => audited.record(tx, event({ resourceId: 'last' })))
    await vi.waitFor(() => expect(told).toContain('last'))
    expect(told).toEqual(['stands', 'last'])
  })
})
