import { assert } from 'superstruct'
import { describe, expect, it } from 'vitest'
import {
  CAMPAIGN_STEP_NAMES,
  type CampaignStep,
  listSteps,
  needsComment,
  toStepBody,
  waitsForApproval,
} from '../../../lib/model/campaign-steps.ts'
import { CampaignContinueRequest, CampaignDecisionRequest } from '../../../lib/wire/campaigns.ts'

const tally = (given: number) => ({ given, needed: 1, discounted: 1 - given, own: 'counts' as const })
const said = { comment: 'c', plan_hash: 'p', prod_confirmation: true, limits: { failed: 1 } }

it.each(CAMPAIGN_STEP_NAMES)('%s sends what its endpoint takes', (step: CampaignStep) => {
  const body = toStepBody(step, said)
  if (step === 'continue') assert(body, CampaignContinueRequest)
  else assert({ plan_hash: '', prod_confirmation: false, ...body }, CampaignDecisionRequest)
  expect(body).toEqual(
    {
      request: { comment: 'c', plan_hash: 'p', prod_confirmation: true },
      approve: { comment: 'c', plan_hash: 'p' },
      continue: { comment: 'c', limits: { failed: 1 } },
    }[step as string] ?? { comment: 'c' },
  )
})

it('needs a comment to approve, to reject, and to raise a limit', () => {
  expect(CAMPAIGN_STEP_NAMES.filter((step) => needsComment(step))).toEqual(['approve', 'reject'])
  expect(needsComment('continue', { failed: 1 })).toBe(true)
})

describe('an approved plan', () => {
  it('can be started', () => {
    const approved = { status: 'approved', tally: tally(1), counts: {} } as const
    expect(listSteps(approved)).toEqual(['start', 'reject', 'withdraw'])
    expect(waitsForApproval({ status: 'approved', tally: tally(1) })).toBe(false)
  })

  it('waits for an approval again where one counts no more', () => {
    const approved = { status: 'approved', tally: tally(0), counts: {} } as const
    expect(listSteps(approved)).toEqual(['approve', 'reject', 'withdraw'])
    expect(waitsForApproval({ status: 'approved', tally: tally(0) })).toBe(true)
  })
})

describe('a campaign that is done', () => {
  it('can be paused and aborted as long as it has to do with workloads that were away', () => {
    const steps = (counts: Record<string, number>) => listSteps({ status: 'done', counts })
    expect(steps({ applied: 3 })).toEqual(['roll-back'])
    expect(steps({ applied: 3, offline: 1 })).toEqual(['pause', 'abort', 'roll-back'])
    expect(steps({ applied: 3, started: 1 })).toEqual(['pause', 'abort', 'roll-back'])
  })
})
