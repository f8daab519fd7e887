import { describe, expect, it } from 'vitest'
import { chooseRollbackTarget, decidePush, type PushFacts } from '../../../../lib/fleet/decide/push.ts'

const COUNTS = {
  targets: 4,
  applying: 0,
  applied: 0,
  failed: 0,
  lostOut: 0,
  straggler: 0,
  gone: 0,
  lost: 0,
  losses: 0,
}
const decide = (counts: Partial<typeof COUNTS>, facts: Partial<PushFacts> = {}) => {
  const { status, phase, cause } = decidePush({
    status: 'pending',
    isSuperseded: false,
    isStaged: false,
    bringsBack: false,
    isScoped: false,
    open: 'none',
    hasSent: true,
    counts: { ...COUNTS, ...counts },
    hasReturned: false,
    hasEveryoneFailed: false,
    ...facts,
  })
  return cause === null ? `${status}/${phase}` : `${status}/${phase} (${cause})`
}

describe('a pending push', () => {
  it('is submitted, sent and applying before it is applied', () => {
    expect(decide({}, { hasSent: false })).toBe('pending/submitted')
    expect(decide({})).toBe('pending/sent')
    expect(decide({ applying: 1 })).toBe('pending/applying')
    expect(decide({ applied: 3 })).toBe('pending/applying')
    expect(decide({ applied: 4 })).toBe('applied/applied')
  })

  it('is applied when all that can still answer have, and one at least did', () => {
    expect(decide({ applied: 1, straggler: 2, gone: 1 })).toBe('applied/applied')
    expect(decide({ applied: 0, straggler: 2, gone: 2 })).toBe('pending/no_status')
    expect(decide({ applied: 0, targets: 0 })).toBe('pending/no_status')
  })

  it('waits for all its targets where it brings back what ran there, and fails only when nobody took it', () => {
    const back = { bringsBack: true } as const
    expect(decide({ failed: 1, applying: 3 }, { ...back, open: 'planned' })).toBe('pending/applying')
    expect(decide({ failed: 3, applied: 1 }, back)).toBe('applied/applied')
    expect(decide({ failed: 1, gone: 3 }, back)).toBe('failed/failed')
    expect(decide({ failed: 1, lostOut: 1, gone: 3 }, back)).toBe('failed/failed (lost_while_applying)')
    expect(decide({ gone: 4 }, back)).toBe('pending/no_status')
  })

  it('waits for who joins what is brought back while few have failed it, and not for ever', () => {
    const back = { bringsBack: true, open: 'joined' } as const
    expect(decide({ targets: 3, failed: 1, applying: 2 }, back)).toBe('pending/applying')
    expect(decide({ targets: 5, failed: 3, applying: 2 }, back)).toBe('failed/failed')
    expect(decide({ targets: 5, applied: 1, failed: 1, applying: 3 }, back)).toBe('applied/applied')
  })

  it('fails where what is brought back is lost with each instance, also where each returns as another one', () => {
    const lost = { targets: 3, gone: 3, lost: 3, losses: 3 }
    expect(decide(lost, { bringsBack: true, hasReturned: true })).toBe('failed/failed (lost_while_applying)')
    expect(decide(lost, { bringsBack: true, isScoped: true, hasReturned: true })).toBe('pending/no_status')
  })

  it('fails with its first failed target', () => {
    expect(decide({ applied: 3, failed: 1 })).toBe('failed/failed')
  })

  it('fails when every target was lost, three times in all, and one came back', () => {
    const lost = { targets: 2, lost: 2, losses: 3 }
    expect(decide(lost, { hasReturned: true })).toBe('failed/failed (lost_while_applying)')
    expect(decide(lost)).toBe('pending/sent')
    expect(decide({ ...lost, losses: 2 }, { hasReturned: true })).toBe('pending/sent')
    expect(decide({ ...lost, lost: 1 }, { hasReturned: true })).toBe('pending/sent')
    expect(decide({ ...lost, applied: 1 }, { hasReturned: true })).toBe('pending/applying')
  })

  it('is not failed by a target that was lost too often, unless nobody runs it', () => {
    expect(decide({ applied: 3, failed: 1, lostOut: 1 })).toBe('applied/applied')
    expect(decide({ applied: 2, failed: 1, lostOut: 1 })).toBe('pending/applying')
    expect(decide({ applied: 2, failed: 2, lostOut: 1 })).toBe('failed/failed')
    const nobody = { straggler: 1, gone: 2, failed: 1, lostOut: 1 }
    expect(decide(nobody)).toBe('failed/failed (lost_while_applying)')
  })

  it('stays pending until its last stage when it is staged', () => {
    expect(decide({ applied: 4 }, { isStaged: true })).toBe('pending/applying')
  })

  it('stays pending for ever once another took its place', () => {
    expect(decide({ applied: 4, failed: 1 }, { isSuperseded: true })).toBe('pending/superseded')
  })
})

describe('an applied push', () => {
  it('is not moved by one failure, and fails when everyone that was assigned it has failed it', () => {
    expect(decide({ applied: 3, failed: 1 }, { status: 'applied' })).toBe('applied/applied')
    expect(decide({ failed: 4 }, { status: 'applied', hasEveryoneFailed: true })).toBe('failed/failed')
    // What was brought back ran somewhere: that it failed on those that are left says something of these.
    const back = { status: 'applied', hasEveryoneFailed: true, bringsBack: true } as const
    expect(decide({ failed: 1, gone: 1 }, back)).toBe('applied/applied')
  })
})

it('never lets a failed push become anything else', () => {
  expect(decide({ applied: 4 }, { status: 'failed' })).toBe('failed/failed')
})

describe('the target of a rollback', () => {
  const revision = (hash: string, more: { isQuarantined?: boolean; isInvalid?: boolean } = {}) => ({
    hash,
    isQuarantined: false,
    isInvalid: false,
    ...more,
  })

  it('is the pinned revision where it fits, else the newest applied one that does', () => {
    const applied = [revision('new'), revision('old')]
    expect(chooseRollbackTarget('bad', revision('pin'), applied)).toEqual({
      hash: 'pin',
      kind: 'last_known_good',
    })
    for (const pin of [
      revision('bad'),
      revision('pin', { isQuarantined: true }),
      revision('pin', { isInvalid: true }),
    ])
      expect(chooseRollbackTarget('bad', pin, applied)).toEqual({ hash: 'new', kind: 'previous' })
    expect(
      chooseRollbackTarget('bad', null, [
        revision('bad'),
        revision('new', { isQuarantined: true }),
        revision('old'),
      ]),
    ).toEqual({
      hash: 'old',
      kind: 'previous',
    })
  })

  it('is nothing when nothing fits', () => {
    expect(chooseRollbackTarget('bad', null, [revision('bad')])).toBeNull()
  })
})
