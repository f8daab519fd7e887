import { describe, expect, it } from 'vitest'
import {
  type ObstacleFacts,
  obstacleOf,
  PUSH_OBSTACLES,
  PUSH_PATHS,
} from '../../../../lib/fleet/decide/push-obstacle.ts'

const OPEN: ObstacleFacts = {
  isArchived: false,
  isHeld: false,
  isBusy: false,
  isQuarantined: false,
  frozenFor: null,
  keeper: null,
}
const OBSTRUCTED: ObstacleFacts = {
  isArchived: true,
  isHeld: true,
  isBusy: true,
  isQuarantined: true,
  frozenFor: 'end of the year',
  keeper: { owner: 'platform', by: 'workload' },
}

describe('whether a push may begin', () => {
  it.each(PUSH_PATHS)('%s begins where nothing stands against it', (path) => {
    expect(obstacleOf(path, OPEN)).toBeNull()
  })

  it.each(['auto-rollback', 'rollout-rollback'] as const)('%s begins whatever stands against it', (path) => {
    expect(obstacleOf(path, OBSTRUCTED)).toBeNull()
  })

  it.each(['request', 'break-glass', 'rollback', 'campaign', 'auto-apply', 'campaign-rollback'] as const)(
    '%s never begins where the workload is archived',
    (path) => {
      expect(obstacleOf(path, { ...OPEN, isArchived: true })).toMatchObject({ obstacle: 'archived' })
    },
  )

  it('in a freeze, only by breaking the glass or by going back; the reason is told', () => {
    const begins = PUSH_PATHS.filter((path) => obstacleOf(path, { ...OPEN, frozenFor: 'audit' }) === null)
    expect(begins.sort()).toEqual(
      ['auto-rollback', 'break-glass', 'campaign-rollback', 'rollback', 'rollout-rollback'].sort(),
    )
    expect(obstacleOf('request', { ...OPEN, frozenFor: 'audit' })).toMatchObject({
      obstacle: 'frozen',
      about: 'audit',
    })
  })

  it('of what is kept in Git, a request begins only for its own owner', () => {
    const facts: ObstacleFacts = { ...OPEN, keeper: { owner: 'platform', by: 'workload' } }
    expect(obstacleOf('request', facts)).toMatchObject({ obstacle: 'kept-in-git', about: 'platform' })
    expect(obstacleOf('request', facts, { gitOwner: 'somebody' })).not.toBeNull()
    expect(obstacleOf('request', facts, { gitOwner: 'platform' })).toBeNull()
  })

  it('a request goes nowhere that Git keeps by a fleet config, but from its owner; what the fleet config brings does', () => {
    const facts: ObstacleFacts = { ...OPEN, keeper: { owner: 'fleets', by: 'fleet-config' } }
    expect(obstacleOf('request', facts)).toMatchObject({ obstacle: 'kept-in-git', about: 'fleets' })
    expect(obstacleOf('request', facts, { gitOwner: 'fleets' })).toBeNull()
    for (const path of PUSH_PATHS) if (path !== 'request') expect(obstacleOf(path, facts)).toBeNull()
  })

  it.each(['campaign', 'auto-apply'] as const)(
    '%s leaves alone what is held, busy or has failed it',
    (path) => {
      expect(obstacleOf(path, { ...OPEN, isHeld: true })).toMatchObject({ obstacle: 'held' })
      expect(obstacleOf(path, { ...OPEN, isBusy: true })).toMatchObject({ obstacle: 'busy' })
      const failed = { ...OPEN, isQuarantined: true }
      expect(obstacleOf(path, failed)).toMatchObject({ obstacle: 'quarantined' })
      expect(obstacleOf(path, failed, { retriesQuarantined: true })).toBeNull()
    },
  )

  it.each(['campaign', 'auto-apply'] as const)(
    '%s that is under way goes no further into what is held or kept in Git, whatever failed or is pushed beside it',
    (path) => {
      const under = { isUnderWay: true }
      expect(obstacleOf(path, { ...OPEN, isHeld: true }, under)).toMatchObject({ obstacle: 'held' })
      const kept: ObstacleFacts = { ...OPEN, keeper: { owner: 'a', by: 'workload' } }
      expect(obstacleOf(path, kept, under)).toMatchObject({ obstacle: 'kept-in-git' })
      expect(obstacleOf(path, { ...OPEN, isBusy: true, isQuarantined: true }, under)).toBeNull()
    },
  )

  it('tells the first of several in the order in which they are asked', () => {
    expect(obstacleOf('campaign', OBSTRUCTED)).toMatchObject({ obstacle: PUSH_OBSTACLES[0] })
    expect(obstacleOf('campaign', { ...OBSTRUCTED, isArchived: false })).toMatchObject({ obstacle: 'frozen' })
  })
})
