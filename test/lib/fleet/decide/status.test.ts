import { expect, it } from 'vitest'
import { isDegrading, judgeHealth } from '../../../../lib/fleet/decide/status.ts'
import { HEALTHY } from '../../../support/agent-report.ts'

const ill = { ...HEALTHY, healthy: false }

it('no report is no outage, and a start or a stop is none either', () => {
  expect(judgeHealth(null)).toBe('healthy')
  expect(judgeHealth(HEALTHY)).toBe('healthy')
  expect(judgeHealth({ ...ill, status: 'StatusStarting' })).toBe('starting')
  expect(judgeHealth({ ...ill, status: 'StatusStopping' })).toBe('starting')
  expect(judgeHealth({ ...ill, status: '' })).toBe('starting')
  expect(judgeHealth({ ...ill, status: '', lastError: 'exited' })).toBe('unhealthy')
  expect(judgeHealth({ ...ill, status: 'StatusRecoverableError' })).toBe('unhealthy')
})

it('an unhealthy instance degrades its workload after its last words, or a minute where it may be starting', () => {
  const unhealthy = { verdict: 'unhealthy', unhealthySinceMs: 0, hasOutstandingOffer: false } as const
  expect(isDegrading(unhealthy, 999)).toBe(false)
  expect(isDegrading(unhealthy, 1_000)).toBe(true)
  for (const slow of [
    { ...unhealthy, hasOutstandingOffer: true },
    { ...unhealthy, verdict: 'starting' as const },
  ]) {
    expect(isDegrading(slow, 59_999)).toBe(false)
    expect(isDegrading(slow, 60_000)).toBe(true)
  }
  expect(isDegrading({ ...unhealthy, verdict: 'healthy' }, 1e9)).toBe(false)
  expect(isDegrading({ ...unhealthy, unhealthySinceMs: null }, 1e9)).toBe(false)
})
