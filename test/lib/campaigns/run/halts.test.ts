import { describe, expect, it } from 'vitest'
import { haltOfLapse, haltOfLimit } from '../../../../lib/campaigns/run/find-halt.ts'
import { findPassedLimit, type LimitFacts } from '../../../../lib/campaigns/run/limits.ts'

const facts = (more: Partial<LimitFacts>): LimitFacts => ({
  wave: 1,
  targetCount: 100,
  counts: {},
  unhealthy: 0,
  drifted: 0,
  asked: {},
  raised: {},
  ...more,
})
const passed = (more: Partial<LimitFacts>) => findPassedLimit(facts(more))

describe('the limits', () => {
  it('allow no failure in the first wave, and then 3 or 1 %', () => {
    expect(passed({ wave: 0, counts: { failed: 1 } })).toEqual({ gate: 'failed', value: 1, limit: 0 })
    expect(passed({ counts: { failed: 3 } })).toBeNull()
    expect(passed({ counts: { failed: 4 } })).toEqual({ gate: 'failed', value: 4, limit: 3 })
    expect(passed({ targetCount: 1_000, counts: { failed: 10 } })).toBeNull()
    expect(passed({ targetCount: 1_000, counts: { failed: 11 } })).toMatchObject({ limit: 10 })
  })

  it('allow 5 % of targets that were skipped or gave no answer', () => {
    expect(passed({ counts: { skipped: 3, no_answer: 2 } })).toBeNull()
    expect(passed({ counts: { skipped: 3, no_answer: 3 } })).toEqual({ gate: 'silent', value: 6, limit: 5 })
  })

  it('hold those who got unwell to the limit of failures', () => {
    expect(passed({ wave: 0, unhealthy: 1 })).toEqual({ gate: 'unhealthy', value: 1, limit: 0 })
  })

  it('hold those who drifted to the limit of failures', () => {
    expect(passed({ wave: 0, drifted: 1 })).toEqual({ gate: 'drifted', value: 1, limit: 0 })
    expect(passed({ drifted: 3 })).toBeNull()
    expect(passed({ drifted: 3, asked: { drifted: 2 } })).toMatchObject({ gate: 'drifted', limit: 2 })
  })

  it('are what was asked for, and what an operator raised when he continued', () => {
    expect(passed({ counts: { failed: 2 }, asked: { failed: 1 } })).toMatchObject({ limit: 1 })
    expect(passed({ counts: { failed: 2 }, asked: { failed: 1 }, raised: { failed: 2 } })).toBeNull()
    // A limit from continuing that is lower than the requested one does not count.
    expect(passed({ counts: { failed: 2 }, asked: { failed: 2 }, raised: { failed: 0 } })).toBeNull()
  })

  it('that were raised in the first wave let no fewer fail in the next ones than if nobody had raised them', () => {
    const large = { wave: 2, targetCount: 10_000, counts: { failed: 2 } }
    expect(passed(large)).toBeNull()
    expect(passed({ ...large, raised: { failed: 1 } })).toBeNull()
    expect(passed({ ...large, wave: 0, raised: { failed: 1 } })).toMatchObject({ limit: 1 })
  })
})

describe('a halt', () => {
  it('says gate, value, limit, wave, whom it is about, and of what most of them failed', () => {
    const limit = { gate: 'failed', value: 4, limit: 3 } as const
    const worst = { cause: 'port_in_use', title: 'Port in use', count: 3 }
    const whom = ['a', 'b'].map((id) => ({ workload_id: id, workload_name: `vm-${id}` }))
    expect(haltOfLimit(limit, 2, whom, worst)).toEqual({
      gate: 'failed',
      value: 4,
      limit: 3,
      wave: 2,
      workload_ids: ['a', 'b'],
      workloads: whom,
      cause: 'port_in_use',
      title: 'Port in use',
    })
    expect(haltOfLimit(limit, 2, [], undefined)).not.toHaveProperty('cause')
  })

  it('names twenty of them', () => {
    const many = Array.from({ length: 25 }, (_, n) => ({ workload_id: `w${n}`, workload_name: `vm-${n}` }))
    const halt = haltOfLimit({ gate: 'silent', value: 25, limit: 5 }, 0, many, undefined)
    expect(halt.workload_ids).toHaveLength(20)
    expect(halt.workloads).toHaveLength(20)
  })

  it('says which part of the approval does not hold any more', () => {
    const gone = { gate: 'approver_gone', wave: 1, approvers: ['ann@example.com'] }
    expect(haltOfLapse('approver_gone', 1, ['ann@example.com'])).toMatchObject(gone)
  })
})
