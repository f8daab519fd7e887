import { expect, it } from 'vitest'
import { type AwaitedTarget, decideTargetEnd, errorOfEnd } from '../../../../lib/fleet/decide/target-end.ts'

const GRACE_MS = 120_000
const waiting: AwaitedTarget = {
  state: 'offered',
  awaitedMs: 0,
  waitedMs: 0,
  wasSent: true,
  hasLeft: true,
  isElsewhere: null,
  hasDeparted: false,
  awayMs: null,
  isCapable: true,
  isCompatible: true,
  isQuarantined: false,
  runsAnother: false,
}
const endOf = (change: Partial<AwaitedTarget>) => {
  const end = decideTargetEnd({ ...waiting, ...change }, GRACE_MS)
  return end && `${end.state}: ${end.cause}`
}

it.each<[string, Partial<AwaitedTarget>]>([
  ['gone: moved_away', { isElsewhere: 'workload' }],
  ['gone: joined_rollout', { isElsewhere: 'rollout' }],
  ['gone: left', { hasDeparted: true }],
  ['gone: disconnected', { awayMs: GRACE_MS }],
  ['gone: capability_lost', { isCapable: false }],
  ['gone: component_missing', { wasSent: false, isCompatible: false }],
  ['gone: failed_before', { wasSent: false, isQuarantined: true }],
])('a target ends as %s', (expected, change) => {
  expect(endOf(change)).toBe(expected)
})

it('is waited for while it may still answer: away within its grace, or offered the config before it lacked anything', () => {
  expect(endOf({})).toBeNull()
  expect(endOf({ awayMs: GRACE_MS - 1, isCapable: false })).toBeNull()
  expect(endOf({ isCompatible: false, isQuarantined: true })).toBeNull()
})

it('is a straggler when every repeat has had its time: eight minutes for an answer, fifteen for the end of applying', () => {
  expect(endOf({ awaitedMs: 479_999 })).toBeNull()
  expect(endOf({ awaitedMs: 480_000 })).toBe('straggler: no_answer')
  expect(endOf({ awaitedMs: 480_000, hasLeft: false })).toBe('straggler: not_sent')
  expect(endOf({ state: 'applying', awaitedMs: 899_999 })).toBeNull()
  expect(endOf({ state: 'applying', awaitedMs: 900_000 })).toBe('straggler: apply_timeout')
  expect(endOf({ state: 'applying', awaitedMs: 900_000, runsAnother: true })).toBe('straggler: runs_another')
})

it('ends in words that may be shown', () => {
  expect(errorOfEnd('no_answer')).toEqual({
    cause: 'no_answer',
    title: 'Did not answer any of the offers',
    parameters: {},
    text: '',
  })
})

it('is a straggler when it was waited for as long as both take together, however often it came back', () => {
  expect(endOf({ awaitedMs: 1_000, waitedMs: 1_378_999 })).toBeNull()
  expect(endOf({ awaitedMs: 1_000, waitedMs: 1_379_000 })).toBe('straggler: no_answer')
})
