import { describe, expect, it } from 'vitest'
import {
  findClosedGate,
  PUSH_GATES,
  PUSH_PATHS,
  type PushFacts,
} from '../../../../lib/fleet/decide/push-gate.ts'

const OPEN: PushFacts = {
  ...{ isArchived: false, isHeld: false, isBusy: false, isQuarantined: false },
  ...{ frozenFor: null, managedBy: null },
}
const CLOSED: PushFacts = {
  ...{ isArchived: true, isHeld: true, isBusy: true, isQuarantined: true },
  ...{ frozenFor: 'end of the year', managedBy: 'platform' },
}

describe('whether a push may begin', () => {
  it.each(PUSH_PATHS)('%s begins where nothing stands against it', (path) => {
    expect(findClosedGate(path, OPEN)).toBeNull()
  })

  it.each(['auto-rollback', 'rollout-rollback'] as const)('%s begins whatever stands against it', (path) => {
    expect(findClosedGate(path, CLOSED)).toBeNull()
  })

  it.each(['request', 'break-glass', 'rollback', 'campaign', 'auto-apply', 'campaign-rollback'] as const)(
    '%s never begins where the workload is archived',
    (path) => {
      expect(findClosedGate(path, { ...OPEN, isArchived: true })).toMatchObject({ gate: 'archived' })
    },
  )

  it('in a freeze, only by breaking the glass or by going back; the reason is told', () => {
    const begins = PUSH_PATHS.filter((path) => findClosedGate(path, { ...OPEN, frozenFor: 'audit' }) === null)
    expect(begins.sort()).toEqual(
      ['auto-rollback', 'break-glass', 'campaign-rollback', 'rollback', 'rollout-rollback'].sort(),
    )
    expect(findClosedGate('request', { ...OPEN, frozenFor: 'audit' })).toMatchObject({
      gate: 'frozen',
      about: 'audit',
    })
  })

  it('of what is kept in Git, a request begins only for its own owner', () => {
    const facts = { ...OPEN, managedBy: 'platform' }
    expect(findClosedGate('request', facts)).toMatchObject({ gate: 'kept-in-git', about: 'platform' })
    expect(findClosedGate('request', facts, { gitOwner: 'somebody' })).not.toBeNull()
    expect(findClosedGate('request', facts, { gitOwner: 'platform' })).toBeNull()
  })

  it.each(['campaign', 'auto-apply'] as const)(
    '%s leaves alone what is held, busy or has failed it',
    (path) => {
      expect(findClosedGate(path, { ...OPEN, isHeld: true })).toMatchObject({ gate: 'held' })
      expect(findClosedGate(path, { ...OPEN, isBusy: true })).toMatchObject({ gate: 'busy' })
      const failed = { ...OPEN, isQuarantined: true }
      expect(findClosedGate(path, failed)).toMatchObject({ gate: 'quarantined' })
      expect(findClosedGate(path, failed, { retriesQuarantined: true })).toBeNull()
    },
  )

  it('tells the first of several in the order in which they are asked', () => {
    expect(findClosedGate('campaign', CLOSED)).toMatchObject({ gate: PUSH_GATES[0] })
    expect(findClosedGate('campaign', { ...CLOSED, isArchived: false })).toMatchObject({ gate: 'frozen' })
  })
})
