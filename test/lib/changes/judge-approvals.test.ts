import { describe, expect, it } from 'vitest'
import {
  type ApprovalCase,
  isEnoughBeside,
  judgeApprovals,
  refuseUnapproved,
} from '../../../lib/changes/judge-approvals.ts'
import {
  approvalClassOf,
  DEFAULT_APPROVAL_POLICY,
  hasWaited,
  lowersBar,
  stricterRule,
} from '../../../lib/model/approval-policy.ts'

const NOW = new Date('2026-07-01T12:00:00Z')
const hoursAgo = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000)
const ANYBODY = { approvals: 1, authorCounts: true, validHours: null } as const
const ELSE = { approvals: 1, authorCounts: false, validHours: null } as const
const TWO = { approvals: 2, authorCounts: false, validHours: 24 } as const
const WELL = {
  mayApprove: true,
  isShapedByAuthor: false,
  hasShapedAuthor: false,
  isShapedSinceRequest: false,
  isAuthorToo: false,
  alsoIds: [],
}
const by = (userId: string, at = NOW, rule: ApprovalCase['rule'] | null = null) => ({ userId, at, rule })

const judge = (change: Partial<ApprovalCase>) =>
  judgeApprovals({
    rule: ELSE,
    given: [],
    authors: new Set(['author']),
    isSoleApprover: false,
    now: NOW,
    approvers: new Map(['author', 'ann', 'bob'].map((id) => [id, WELL])),
    ...change,
  })

describe('the approvals of a change', () => {
  it('are as many as the rule says, of people who may', () => {
    expect(judge({}).isEnough).toBe(false)
    expect(judge({ given: [by('ann')] })).toMatchObject({ isEnough: true, counted: ['ann'] })
    expect(judge({ rule: TWO, given: [by('ann')] })).toMatchObject({ isEnough: false, needed: 2 })
    expect(judge({ rule: TWO, given: [by('ann'), by('bob')] }).isEnough).toBe(true)
    const demoted = new Map([['ann', { ...WELL, mayApprove: false }]])
    expect(judge({ given: [by('ann')], approvers: demoted }).discounted).toEqual(
      new Map([['ann', 'no-right']]),
    )
    expect(judge({ given: [by('gone')] }).discounted.get('gone')).toBe('no-right')
  })

  it('are the author’s where the rule lets them, or where nobody else ever could', () => {
    expect(judge({ given: [by('author')] }).discounted.get('author')).toBe('author')
    expect(judge({ rule: ANYBODY, given: [by('author')] }).isEnough).toBe(true)
    expect(judge({ given: [by('author')], isSoleApprover: true }).isEnough).toBe(true)
    expect(judge({ rule: TWO, given: [by('author')], isSoleApprover: true }).isEnough).toBe(false)
  })

  it('are not those of an account that an author made, or that anybody changed since', () => {
    for (const [change, why] of [
      [{ isShapedByAuthor: true }, 'shaped-by-author'],
      [{ hasShapedAuthor: true }, 'shaped-an-author'],
      [{ isAuthorToo: true }, 'same-person'],
      [{ isShapedSinceRequest: true }, 'shaped-since-request'],
    ] as const) {
      const approvers = new Map([['ann', { ...WELL, ...change }]])
      const judged = judge({ given: [by('ann')], approvers })
      expect([judged.isEnough, judged.discounted.get('ann')]).toEqual([false, why])
      expect(refuseUnapproved(judged).code).toBe('approval-needs-another')
    }
  })

  it('get too old, and then only have to be given again', () => {
    const given = [by('ann', hoursAgo(25)), by('bob', hoursAgo(24))]
    const judged = judge({ rule: TWO, given })
    expect([judged.isEnough, judged.counted, refuseUnapproved(judged).code]).toEqual([
      false,
      ['bob'],
      'approval-expired',
    ])
    expect(refuseUnapproved(judge({ rule: TWO, given: [by('ann', hoursAgo(25))] })).code).toBe(
      'approval-needs-another',
    )
  })

  it('count under the stricter of the rules at the approval and now', () => {
    expect(judge({ rule: ANYBODY, given: [by('author', NOW, ELSE)] }).isEnough).toBe(false)
    expect(judge({ rule: ELSE, given: [by('author', NOW, ANYBODY)] }).isEnough).toBe(false)
    expect(judge({ rule: ANYBODY, given: [by('ann', NOW, TWO)] })).toMatchObject({
      isEnough: false,
      needed: 2,
    })
  })
})

describe('the approval policy', () => {
  const facts = { targetEnv: '', targetGroup: '', labels: {}, trustedLabels: {} }

  it('takes anybody’s word for production, and only a trusted label for anything else', () => {
    expect(approvalClassOf(facts)).toBe('unlabelled')
    expect(approvalClassOf({ ...facts, targetEnv: 'staging' })).toBe('unlabelled')
    expect(approvalClassOf({ ...facts, labels: { 'deployment.environment': 'dev' } })).toBe('unlabelled')
    expect(approvalClassOf({ ...facts, trustedLabels: { env: 'dev' } })).toBe('other')
    for (const more of [
      { targetEnv: 'prod' },
      { targetGroup: 'prod-eu' },
      { labels: { env: 'production' } },
      { trustedLabels: { env: 'prod' } },
    ])
      expect(approvalClassOf({ ...facts, trustedLabels: { env: 'dev' }, ...more })).toBe('production')
  })

  it('knows which of two asks less', () => {
    const from = { ...DEFAULT_APPROVAL_POLICY, other: TWO }
    expect(lowersBar(from, from)).toBe(false)
    for (const change of [
      { approvals: 1 },
      { authorCounts: true },
      { validHours: 25 },
      { validHours: null },
    ] as const)
      expect([change, lowersBar(from, { ...from, other: { ...TWO, ...change } })]).toEqual([change, true])
    expect(lowersBar(from, { ...from, other: { ...TWO, validHours: 1 }, production: TWO })).toBe(false)
    expect(stricterRule(TWO, ANYBODY)).toEqual(TWO)
    expect(stricterRule({ ...ANYBODY, validHours: 3 }, TWO)).toEqual({ ...TWO, validHours: 3 })
  })

  it('that asks less counts after a day', () => {
    const pending = { policy: DEFAULT_APPROVAL_POLICY, by: 'a@x', byId: 'a', at: hoursAgo(24) }
    expect(hasWaited(pending, new Date(NOW.getTime() - 1))).toBe(false)
    expect(hasWaited(pending, NOW)).toBe(true)
  })
})

describe('the approvals of a change of many workloads, for one of them', () => {
  const beside = (
    approvers: string[],
    valueAuthors: string[],
    more: Partial<Parameters<typeof isEnoughBeside>[1]> = {},
  ) =>
    isEnoughBeside(approvers, {
      rule: ELSE,
      valueAuthors: new Set(valueAuthors),
      isSoleApprover: false,
      ...more,
    })

  it('are enough where enough of those who approved neither set nor chose a value of it', () => {
    expect(beside(['ann'], [])).toBe(true)
    expect(beside(['ann'], ['bob'])).toBe(true)
    expect(beside(['ann'], ['ann'])).toBe(false)
    expect(beside(['ann', 'bob'], ['ann'])).toBe(true)
    expect(beside(['ann', 'bob'], ['ann'], { rule: TWO })).toBe(false)
    expect(beside(['ann', 'bob', 'cid'], ['ann'], { rule: TWO })).toBe(true)
  })

  it('are, whoever set its values, where an author counts, and where no more are asked for since', () => {
    expect(beside(['ann'], ['ann'], { rule: ANYBODY })).toBe(true)
    expect(beside(['ann'], ['ann'], { isSoleApprover: true })).toBe(true)
    expect(beside(['ann'], ['bob'], { rule: TWO })).toBe(true)
  })
})
