import { expect, it } from 'vitest'
import { openSaidRefusals, SAID_REFUSALS_MAX } from '../../../../lib/identity/oidc/said-refusals.ts'
import { fakeClock } from '../../../support/fakes.ts'

it('knows so many refusals that are recorded, for a minute each', () => {
  const clock = fakeClock()
  const said = openSaidRefusals(clock)
  const say = (subject: string) => said.say('no_group', 'https://id.example.com', subject)
  expect([say('first'), say('first')]).toEqual([false, true])
  said.forget('no_group', 'https://id.example.com', 'first')
  expect(say('first')).toBe(false)
  for (let n = 1; n < SAID_REFUSALS_MAX; n++) say(`person ${n}`)
  expect(say('first')).toBe(true)
  say('one more')
  expect([say('person 2'), say('first')]).toEqual([true, false])
  clock.advance(60_000)
  expect(say('one more')).toBe(false)
})
