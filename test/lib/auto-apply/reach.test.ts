import { describe, expect, it } from 'vitest'
import { decideReach, type ReachFacts, type WantedVersion } from '../../../lib/auto-apply/reach.ts'
import type { BroughtVersion } from '../../../lib/store/fleet-config-history.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
const NEWCOMER: ReachFacts = {
  activeHash: null,
  firstSeenAt: at(20),
  cameAt: null,
  brought: [],
  isRolledBackHere: false,
}
const WANTED: WantedVersion = {
  autoApplyId: 'aa7',
  number: 7,
  since: at(10),
  hasOpenCampaign: false,
  rolledBackIn: [],
}
const brought = (more: Partial<BroughtVersion>): BroughtVersion => ({
  workloadId: 'w',
  autoApplyId: null,
  number: 6,
  resultHash: 'h6',
  verdict: 'changes' as const,
  state: 'applied' as const,
  isPushed: true,
  at: at(15),
  ...more,
})
const reach = (facts: Partial<ReachFacts>, wanted: Partial<WantedVersion> = {}) =>
  decideReach({ ...NEWCOMER, ...facts }, { ...WANTED, ...wanted })
const leftOut = (reason: string) => ({ kind: 'left_out', reason })

describe('a version that applies by itself', () => {
  it('reaches workloads that were first seen since it was asked for, and no older ones', () => {
    expect(reach({})).toEqual({ kind: 'reached', isNewcomer: true })
    expect(reach({ firstSeenAt: WANTED.since })).toEqual({ kind: 'reached', isNewcomer: true })
    expect(reach({ firstSeenAt: at(9) })).toEqual(leftOut('not_newcomer'))
  })

  it('reaches what runs an older version of the same fleet config, but not beside an open campaign', () => {
    const facts = { activeHash: 'h6', brought: [brought({})] }
    expect(reach(facts)).toEqual({ kind: 'reached', isNewcomer: false })
    expect(reach(facts, { hasOpenCampaign: true })).toEqual(leftOut('campaign_open'))
  })

  it('takes nothing back and repeats nothing', () => {
    const runs = (number: number) => ({ activeHash: 'h', brought: [brought({ number, resultHash: 'h' })] })
    expect(reach(runs(7))).toEqual({ kind: 'current' })
    expect(reach(runs(8))).toEqual(leftOut('newer_version'))
    const before = brought({ autoApplyId: 'aa7', number: 7, resultHash: 'h7', state: 'expired' })
    expect(
      reach({ activeHash: 'h6', firstSeenAt: at(5), brought: [before, brought({ at: at(12) })] }),
    ).toEqual(leftOut('pushed_before'))
  })

  it('leaves alone what runs a config from elsewhere, or came from another fleet config', () => {
    expect(reach({ activeHash: 'somebody’s' })).toEqual(leftOut('other_config'))
    expect(reach({ cameAt: at(30) })).toEqual(leftOut('other_config'))
    // What was done here before it went away and came back does not count.
    expect(reach({ activeHash: 'h6', cameAt: at(30), brought: [brought({})] })).toEqual(
      leftOut('other_config'),
    )
  })

  it.each([
    [{ state: 'failed' }, 'campaign_failed'],
    [{ state: 'no_answer' }, 'campaign_failed'],
    [{ state: 'rolled_back' }, 'campaign_rolled_back'],
    [{ state: 'cancelled' }, 'campaign_aborted'],
    [{ state: 'skipped' }, 'campaign_refused'],
    [{ state: 'waiting' }, 'campaign_waits'],
    [{ state: 'left_out', verdict: 'excluded' }, 'campaign_excluded'],
    [{ state: 'left_out', verdict: 'refused' }, 'campaign_refused'],
  ] as const)('does not go on where a campaign did not: %j', (last, reason) => {
    const running = brought({ at: at(12) })
    const newest = brought({ ...last, number: 7, isPushed: false })
    expect(reach({ activeHash: 'h6', brought: [newest, running] })).toEqual(leftOut(reason))
  })

  it.each([
    [{ state: 'left_out', verdict: 'held' }],
    [{ state: 'left_out', verdict: 'quarantined' }],
    [{ state: 'left_out', verdict: 'offline' }],
    [{ state: 'overtaken' }],
    [{ state: 'expired' }],
  ] as const)('does not forget a failure for a later campaign that brought nothing: %j', (last) => {
    const failed = brought({ state: 'failed', at: at(13), resultHash: 'h5', number: 5 })
    const newest = brought({ ...last, isPushed: false, resultHash: null })
    const running = brought({ at: at(12) })
    expect(reach({ activeHash: 'h6', brought: [newest, failed, running] })).toEqual(
      leftOut('campaign_failed'),
    )
  })

  it.each([[{ state: 'applied' }], [{ state: 'left_out', verdict: 'same' }]] as const)(
    'goes on where a later campaign found the workload well: %j',
    (last) => {
      const failed = brought({ state: 'failed', at: at(13), resultHash: 'h5', number: 5 })
      const facts = {
        activeHash: 'h6',
        brought: [brought({ ...last, at: at(16) }), failed, brought({ at: at(12) })],
      }
      expect(reach(facts)).toEqual({ kind: 'reached', isNewcomer: false })
    },
  )

  it('reaches one that was removed and came back, but where something failed of it', () => {
    const before = brought({ autoApplyId: 'aa7', number: 7, resultHash: 'h7', at: at(15) })
    expect(reach({ brought: [before] })).toEqual({ kind: 'reached', isNewcomer: true })
    expect(reach({ brought: [{ ...before, state: 'failed' }] })).toEqual(leftOut('campaign_failed'))
    expect(reach({ brought: [{ ...before, at: at(21) }] })).toEqual(leftOut('pushed_before'))
  })

  it('does not bring back what somebody took back by hand', () => {
    const took = [brought({ number: 7, resultHash: 'h7' }), brought({ at: at(12) })]
    expect(reach({ activeHash: 'h6', firstSeenAt: at(5), brought: took })).toEqual(leftOut('moved_on'))
  })
})
