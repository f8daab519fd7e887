import { expect, it } from 'vitest'
import { statesThat } from '../../../lib/model/target-states.ts'

it('says of the states of a target what they have in common', () => {
  expect(statesThat('waits')).toEqual(['waiting', 'offline'])
  expect(statesThat('under-way')).toEqual(['started', 'rolling_back'])
  expect(statesThat('may-run')).toEqual(['applied', 'failed', 'no_answer', 'overtaken', 'skipped'])
  expect(statesThat('untried')).toEqual(['offline', 'no_answer', 'overtaken', 'skipped', 'expired'])
  expect(statesThat('counts-as-failed')).toEqual(['failed'])
  expect(statesThat('counts-as-silent')).toEqual(['no_answer', 'skipped'])
  expect(statesThat('went-wrong')).toEqual(['failed', 'no_answer', 'rollback_failed'])
})

it('counts as missed only who is not as the campaign would have it', () => {
  const missed = statesThat('missed')
  expect(missed).toEqual([
    'failed',
    'no_answer',
    'skipped',
    'expired',
    'rollback_failed',
    'left_scope',
    'no_way_back',
  ])
  expect(statesThat('astray')).toEqual(expect.arrayContaining([...missed]))
})
