import { describe, expect, it } from 'vitest'
import type { Workload } from '../../../lib/fleet/state/model.ts'
import { groupUnmanaged, isAdoptable } from '../../../lib/fleet-configs/adopt.ts'

const workload = (id: string, reports = 'h', more: Partial<Workload> = {}): Workload =>
  ({
    id,
    pushSeq: 0,
    activeHash: null,
    archivedAt: null,
    type: 'collector',
    acceptsRemoteConfig: true,
    live: { commonReportedHash: () => reports },
    ...more,
  }) as unknown as Workload

describe('a workload', () => {
  it('can be adopted when it takes configs and has no base, as a plan says of it', () => {
    expect(isAdoptable(workload('w'))).toBe(true)
    // What was pushed failed, and there was nothing to go back to: a campaign leaves it out as unmanaged, too.
    expect(isAdoptable(workload('w', 'h', { pushSeq: 1 }))).toBe(true)
  })

  it.each<[string, Partial<Workload>]>([
    ['has a base', { activeHash: 'base' }],
    ['is archived', { archivedAt: new Date(0) }],
    ['is no collector', { type: 'sdk' }],
    ['takes no config', { acceptsRemoteConfig: false }],
  ])('that %s is not', async (_, more) => {
    expect(isAdoptable(workload('w', 'h', more))).toBe(false)
    expect(await groupUnmanaged([workload('w', 'h', more)])).toEqual([])
  })
})

it('unmanaged workloads are grouped by what they report to run, the largest group first', async () => {
  const few = ['b1', 'b2'].map((id) => workload(id, 'b'))
  const many = ['c1', 'c2', 'c3'].map((id) => workload(id, 'c'))
  const alike = ['a1', 'a2'].map((id) => workload(id, 'a'))
  const differing = [workload('d1', '')]
  const groups = await groupUnmanaged([...few, ...differing, ...many, ...alike])
  expect(
    groups.map(({ reportedConfigHash: hash, workloads }) => [hash, workloads.map(({ id }) => id)]),
  ).toEqual([
    ['c', ['c1', 'c2', 'c3']],
    ['a', ['a1', 'a2']],
    ['b', ['b1', 'b2']],
    ['', ['d1']],
  ])
})

it('a fleet of more workloads than are looked at in one turn is grouped as a whole', async () => {
  const all = Array.from({ length: 1_201 }, (_, n) => workload(`w${n}`))
  expect((await groupUnmanaged(all)).map(({ workloads }) => workloads.length)).toEqual([1_201])
})
