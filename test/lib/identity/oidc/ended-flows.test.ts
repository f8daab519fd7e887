import { expect, it } from 'vitest'
import { ENDED_FLOWS_MAX, openEndedFlows } from '../../../../lib/identity/oidc/ended-flows.ts'
import { fakeClock } from '../../../support/fakes.ts'

it('knows so many flows that have ended, for as long as their cookies are valid', () => {
  const clock = fakeClock()
  const flows = openEndedFlows(clock, 900_000)
  expect([flows.end('first'), flows.end('first')]).toEqual([true, false])
  for (let n = 1; n < ENDED_FLOWS_MAX; n++) flows.end(`flow ${n}`)
  expect(flows.end('first')).toBe(false)
  flows.end('one more')
  expect([flows.end('flow 2'), flows.end('first')]).toEqual([false, true])
  clock.advance(900_000)
  expect(flows.end('one more')).toBe(true)
})
