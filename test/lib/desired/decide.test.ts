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
    hasFailed: false,
    isSameWish: true,
    newest: null,
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
      expect(decide({ newest: request(status), isSameWish: false })).toEqual({ action: 'propose' })
  })

  it('is requested again after its request was withdrawn or expired', () => {
    for (const status of ['withdrawn', 'expired'] as Approval['status'][])
      expect(decide({ newest: request(status) })).toEqual({ action: 'propose' })
  })
})

describe('a fleet config that Git holds', () => {
  const fleet = (campaign: CampaignStatus | null, more = {}) =>
    decideFleet({ isSameWish: true, campaign, again: false, ...more })

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
      expect(fleet(status, { again: true })).toEqual({ action: 'waits' })
  })

  it.each([
    ['rejected', 'rejected'],
    ['aborted', 'aborted'],
    ['rolling_back', 'rolled_back'],
    ['rolled_back', 'rolled_back'],
  ] as const)('is not proposed again by itself after %s, until somebody says so', (status, reason) => {
    expect(fleet(status)).toEqual({ action: 'held', reason })
    expect(fleet(status, { again: true })).toEqual({ action: 'propose' })
  })
})
