import { describe, expect, it } from 'vitest'
import { type AuditEvent, chainEvent, hashRecord } from '../../../lib/audit/event.ts'
import { type AuditRecord, EMPTY_HEAD } from '../../../lib/store/audit.ts'

/** A record whose hash was computed by hand with sha256sum over the bytes that the definition asks for. */
const GOLDEN: AuditRecord = {
  seq: 2,
  id: '01980000-0000-7000-8000-000000000002',
  occurredAt: new Date('2026-07-01T08:00:00.120Z'),
  action: 'config.approval.push',
  userId: '01980000-0000-7000-8000-00000000000a',
  email: 'ops@example.com',
  resource: 'workload',
  resourceId: 'k8s:prod/"web"',
  workloadId: 'k8s:prod/"web"',
  configHash: '',
  detail: 'car_1f:née',
  prevHash: '00000000000000000000000000000000000000000000000000000000000000ff',
  eventHash: 'cb03732b55ba876b774ba5dc21d9eb501df00aec706f66b8cfabb8c9a018e43f',
}

const event: AuditEvent = { action: 'a', actor: null, resource: 'user', resourceId: 'u' }
const now = new Date('2026-07-01T08:00:00.000Z')

describe('canonical form audit.v1', () => {
  it('has the hash of the golden vector', () => {
    expect(hashRecord(GOLDEN)).toBe(GOLDEN.eventHash)
  })

  it('changes with every field', () => {
    const changes: Partial<AuditRecord>[] = [
      { seq: 3 },
      { id: 'x' },
      { occurredAt: new Date('2026-07-01T08:00:00.121Z') },
      { action: 'x' },
      { userId: 'x' },
      { email: 'x' },
      { resource: 'x' },
      { resourceId: 'x' },
      { workloadId: 'x' },
      { configHash: 'x' },
      { detail: 'x' },
      { prevHash: 'x' },
    ]
    expect(changes).toHaveLength(Object.keys(GOLDEN).length - 1)
    for (const change of changes) expect(hashRecord({ ...GOLDEN, ...change })).not.toBe(GOLDEN.eventHash)
  })
})

describe('chaining an event', () => {
  it('follows the head and carries its hash', () => {
    const first = chainEvent(event, EMPTY_HEAD, 'id-1', now)
    const second = chainEvent(event, { seq: first.seq, hash: first.eventHash }, 'id-2', now)
    expect(first).toMatchObject({ seq: 1, prevHash: '0'.repeat(64), userId: '', detail: '' })
    expect(second).toMatchObject({ seq: 2, prevHash: first.eventHash })
    expect(second.eventHash).toBe(hashRecord(second))
  })

  it('knows the workload of a workload event', () => {
    const record = chainEvent({ ...event, resource: 'workload', resourceId: 'w1' }, EMPTY_HEAD, 'id', now)
    expect(record.workloadId).toBe('w1')
  })

  it('replaces what the database cannot store and cuts what is too long', () => {
    const record = chainEvent(
      { ...event, resourceId: 'a\0b\ud800c', detail: 'x'.repeat(9_000) },
      EMPTY_HEAD,
      'id',
      now,
    )
    expect(record.resourceId).toBe('a\ufffdb\ufffdc')
    expect(record.detail).toHaveLength(8_192)
    expect(record.detail.endsWith('…')).toBe(true)
  })
})
