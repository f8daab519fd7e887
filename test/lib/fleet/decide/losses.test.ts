import { describe, expect, it } from 'vitest'
import {
  DOING_MS,
  decideLoss,
  diedTooOften,
  hasSurvived,
  type LeavingTarget,
  lossesOfLeaver,
} from '../../../../lib/fleet/decide/losses.ts'
import { NO_STATUS_MS } from '../../../../lib/fleet/decide/offer.ts'

const offered: LeavingTarget = {
  state: 'offered',
  losses: 0,
  appliedAgoMs: null,
  sentAgoMs: 1_000,
  standing: 'other',
  isUnderWay: true,
  isQuarantined: false,
}
const unsent: LeavingTarget = { ...offered, isUnderWay: false }
const applied: LeavingTarget = {
  ...unsent,
  state: 'applied',
  appliedAgoMs: 20_000,
  standing: 'agrees',
}
const mute: LeavingTarget = { ...offered, state: 'cannot_report', standing: 'unknown' }
const failed: LeavingTarget = { ...offered, state: 'failed', losses: 3 }

describe('a loss', () => {
  it.each<[string, LeavingTarget, { losses: number; isCounted: boolean; isOut: boolean }]>([
    ['counts while the config is under way', offered, { losses: 1, isCounted: true, isOut: false }],
    ['says nothing before the config has left', unsent, { losses: 0, isCounted: false, isOut: false }],
    [
      'counts where the agent says that it applies it, also where it was not sent on this connection',
      { ...unsent, state: 'applying', standing: 'applying' },
      { losses: 1, isCounted: true, isOut: false },
    ],
    [
      'counts of one that was waited for in vain',
      { ...offered, state: 'straggler', losses: 1 },
      { losses: 2, isCounted: true, isOut: false },
    ],
    ['is the last one at three', { ...offered, losses: 2 }, { losses: 3, isCounted: true, isOut: true }],
    ['counts soon after it was applied', applied, { losses: 1, isCounted: true, isOut: false }],
    [
      'says nothing a while after, and forgives what was lost before',
      { ...applied, losses: 2, appliedAgoMs: DOING_MS },
      { losses: 0, isCounted: false, isOut: false },
    ],
    [
      'counts where it was applied a moment from now, by the clock of a process before this one',
      { ...applied, appliedAgoMs: -2_000 },
      { losses: 1, isCounted: true, isOut: false },
    ],
    [
      'says nothing where that lies far ahead: the clock was put back, and nobody knows when it was applied',
      { ...applied, losses: 2, appliedAgoMs: -86_400_000 },
      { losses: 0, isCounted: false, isOut: false },
    ],
    [
      'says nothing of one that applied it and runs another by now',
      { ...applied, losses: 1, standing: 'other' },
      { losses: 1, isCounted: false, isOut: false },
    ],
    [
      'is not the last one of one that has applied it: it may come back with it',
      { ...applied, losses: 2 },
      { losses: 3, isCounted: true, isOut: false },
    ],
    [
      'is the first one anew where the config was pushed again',
      failed,
      { losses: 1, isCounted: true, isOut: false },
    ],
    [
      'says nothing of one that has failed it, and that it is kept from',
      { ...failed, isQuarantined: true },
      { losses: 3, isCounted: false, isOut: false },
    ],
    [
      'says nothing of one that another push was made for',
      { ...offered, state: 'superseded' },
      { losses: 0, isCounted: false, isOut: false },
    ],
    [
      'counts of one that cannot report soon after it was sent',
      mute,
      { losses: 1, isCounted: true, isOut: false },
    ],
    ['is the last one of it at three', { ...mute, losses: 2 }, { losses: 3, isCounted: true, isOut: true }],
    [
      'says nothing a while after, and forgives it what was lost before',
      { ...mute, losses: 2, sentAgoMs: NO_STATUS_MS },
      { losses: 0, isCounted: false, isOut: false },
    ],
    [
      'says nothing of it where this process sent it nothing',
      { ...mute, losses: 2, sentAgoMs: null, isUnderWay: false },
      { losses: 2, isCounted: false, isOut: false },
    ],
  ])('%s', (_, target, verdict) => {
    expect(decideLoss(target)).toEqual(verdict)
  })
})

describe('the losses of one that says goodbye', () => {
  it.each<[string, LeavingTarget, number]>([
    ['stay while it has just applied the config', { ...applied, losses: 2 }, 2],
    ['are forgiven once it has lived with it', { ...applied, losses: 2, appliedAgoMs: DOING_MS }, 0],
    ['stay where it never applied it', { ...offered, losses: 2 }, 2],
    [
      'are forgiven of one that cannot report, once it was sent a while ago',
      { ...mute, losses: 2, sentAgoMs: NO_STATUS_MS },
      0,
    ],
  ])('%s', (_, target, losses) => {
    expect(lossesOfLeaver(target)).toBe(losses)
  })
})

describe('one that is back', () => {
  it.each<[string, Parameters<typeof hasSurvived>[0], boolean]>([
    [
      'has survived where it has the config still',
      { state: 'applied', standing: 'agrees', wasSentHere: false },
      true,
    ],
    [
      'has not where it was sent it again',
      { state: 'applied', standing: 'agrees', wasSentHere: true },
      false,
    ],
    [
      'may not have while it says nothing',
      { state: 'applied', standing: 'unknown', wasSentHere: false },
      false,
    ],
    ['has not where it has another', { state: 'applied', standing: 'other', wasSentHere: false }, false],
    [
      'has nothing to survive before it has applied it',
      { state: 'offered', standing: 'agrees', wasSentHere: false },
      false,
    ],
  ])('%s', (_, back, survived) => {
    expect(hasSurvived(back)).toBe(survived)
  })
})

it('one that has applied a config fails it at the next offer once it was lost three times, and not before', () => {
  expect(diedTooOften({ state: 'applied', losses: 3 })).toBe(true)
  expect(diedTooOften({ state: 'applied', losses: 2 })).toBe(false)
  expect(diedTooOften({ state: 'offered', losses: 3 })).toBe(false)
  expect(diedTooOften(undefined)).toBe(false)
})
