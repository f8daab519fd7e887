import { describe, expect, it } from 'vitest'
import { type DesiredFacts, decideDesired } from '../../../lib/desired/decide.ts'
import { decideFleet } from '../../../lib/desired/decide-fleet.ts'
import type { Approval } from '../../../lib/store/approvals.ts'
import type { CampaignStatus } from '../../../lib/wire/campaigns.ts'

const request = (status: Approval['status']) => ({ id: status, status }) as Approval
const decide = (more: Partial<DesiredFacts>) =>
  decideDesired({
    hash: 'h',
    activeHash: 'other',
    rollout: null,
    hasFailed: false,
    newest: null,
    // A wish that stays has become the newest request for its text.
    own: more.newest ?? null,
    again: false,
    ...more,
  })

describe('a config that Git holds for a workload', () => {
  it('is requested once: while its request waits, applying again changes nothing', () => {
    expect(decide({})).toEqual({ action: 'propose' })
    for (const status of ['pending', 'approved'] as const)
      expect(decide({ newest: request(status), again: true })).toMatchObject({ action: 'waits' })
  })

  it('is left as it is where it is active', () => {
    expect(decide({ activeHash: 'h' })).toEqual({ action: 'unchanged' })
    expect(decide({ activeHash: 'h', again: true })).toEqual({ action: 'unchanged' })
  })

  it.each([
    ['it failed there', { hasFailed: true }, 'failed'],
    ['it failed there, and is still what is assigned', { hasFailed: true, activeHash: 'h' }, 'failed'],
    ['somebody rejected it', { newest: request('rejected') }, 'rejected'],
    ['something took its place', { newest: request('pushed') }, 'replaced'],
  ] as const)('is not requested again by itself where %s, until somebody says so', (_, facts, reason) => {
    expect(decide(facts)).toMatchObject({ action: 'held', reason })
    expect(decide({ ...facts, again: true })).toEqual({ action: 'propose' })
  })

  it('is requested when Git holds it anew after something else, whatever was decided before', () => {
    for (const status of ['rejected', 'pushed'] as const)
      expect(decide({ newest: request(status), own: null })).toEqual({ action: 'propose' })
  })

  it('waits while a rollout in stages could still make it right or wrong, also where somebody says again', () => {
    const [own, other] = ['h', 'b'].map((hash) => ({ hash, isStopped: false }))
    const pushed = request('pushed')
    for (const again of [false, true]) {
      expect(decide({ rollout: own!, newest: pushed, again })).toMatchObject({ reason: 'rolling_out' })
      expect(decide({ rollout: other!, activeHash: 'h', again })).toMatchObject({
        action: 'waits',
        reason: 'other_rolling_out',
      })
    }
    // A third text takes the place of what is on its way, once people push it.
    expect(decide({ rollout: other! })).toEqual({ action: 'propose' })
  })

  it('is requested where a rollout was stopped half-way that left some instances with something else', () => {
    const stopped = { hash: 'b', isStopped: true }
    expect(decide({ rollout: stopped, activeHash: 'h' })).toEqual({ action: 'propose' })
    expect(decide({ rollout: { ...stopped, hash: 'h' }, newest: request('pushed') })).toMatchObject({
      action: 'held',
      reason: 'replaced',
    })
  })

  it('is requested again after its request was withdrawn or expired', () => {
    for (const status of ['withdrawn', 'expired'] as Approval['status'][])
      expect(decide({ newest: request(status) })).toEqual({ action: 'propose' })
  })
})

describe('a fleet config that Git holds', () => {
  const fleet = (campaign: CampaignStatus | null, more = {}) =>
    decideFleet({
      isSameWish: true,
      campaign,
      isOtherUnderWay: false,
      hasOtherRules: false,
      hasUnreached: false,
      undone: null,
      again: false,
      ...more,
    })

  it('is proposed where Git holds something new, or nothing carried it yet', () => {
    expect(fleet(null)).toEqual({ action: 'propose' })
    expect(fleet('done', { isSameWish: false })).toEqual({ action: 'propose' })
    for (const status of ['withdrawn', 'expired'] as const)
      expect(fleet(status)).toEqual({ action: 'propose' })
  })

  it('is left as it is once its campaign is done, and waits while the campaign is under way', () => {
    expect(fleet('done')).toEqual({ action: 'unchanged' })
    for (const status of [
      'planned',
      'pending',
      'approved',
      'running',
      'paused',
      'halted',
    ] as CampaignStatus[])
      expect(fleet(status, { again: true })).toEqual({ action: 'waits', reason: null })
  })

  it('is held where a workload that got it does not run it any more, until somebody says so or others came under it', () => {
    for (const undone of ['failed', 'rolled_back', 'replaced'] as const) {
      expect(fleet('done', { undone })).toEqual({ action: 'held', reason: undone })
      expect(fleet('done', { undone, again: true })).toEqual({ action: 'propose' })
      expect(fleet('done', { undone, hasUnreached: true })).toEqual({ action: 'propose' })
      expect(fleet('running', { undone, again: true })).toEqual({ action: 'waits', reason: null })
    }
  })

  it('is proposed with the rules that Git says by now until its campaign was started, which goes on by its own', () => {
    const other = { hasOtherRules: true }
    for (const status of ['draft', 'planned', 'requested', 'approved'] as const)
      expect(fleet(status, other)).toEqual({ action: 'propose', campaignRules: 'new' })
    for (const status of ['running', 'paused', 'halted'] as const)
      expect(fleet(status, other)).toEqual({ action: 'waits', reason: null, campaignRules: 'former' })
    expect(fleet('done', other)).toEqual({ action: 'unchanged' })
    expect(fleet('rejected', other)).toEqual({ action: 'held', reason: 'rejected' })
    expect(fleet(null, other)).toEqual({ action: 'propose' })
  })

  it('waits while another campaign changes the same workloads, whatever it is to be then', () => {
    const waits = { action: 'waits', reason: 'other_under_way' }
    const other = { isOtherUnderWay: true }
    for (const status of [null, 'done', 'draft', 'withdrawn', 'expired'] as const)
      expect(fleet(status, other)).toEqual(waits)
    expect(fleet('done', { ...other, isSameWish: false })).toEqual(waits)
    expect(fleet('rejected', other)).toEqual({ action: 'held', reason: 'rejected' })
    expect(fleet('rejected', { ...other, again: true })).toEqual(waits)
    expect(fleet('rolling_back', { again: true })).toEqual(waits)
  })

  it('is proposed once more for workloads that came under it after its campaign was planned', () => {
    expect(fleet('done', { hasUnreached: true })).toEqual({ action: 'propose' })
  })

  it.each([
    ['rejected', 'rejected'],
    ['aborted', 'aborted'],
    ['rolled_back', 'rolled_back'],
  ] as const)('is not proposed again by itself after %s, until somebody says so', (status, reason) => {
    expect(fleet(status)).toEqual({ action: 'held', reason })
    expect(fleet(status, { again: true })).toEqual({ action: 'propose' })
  })
})
