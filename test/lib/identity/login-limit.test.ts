import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openLoginLimit, toNetwork } from '../../../lib/identity/login-limit.ts'
import { fakeClock } from '../../support/fakes.ts'

function open(options: { entriesMax?: number } = {}) {
  const clock = fakeClock()
  const limit = openLoginLimit({ clock, ...options })
  /** Make a failed attempt; false when the limit did not even allow the attempt. */
  const fail = (address: string, email: string): boolean => {
    const begun = limit.begin(address, email)
    if (begun.ok) begun.attempt.fail()
    return begun.ok
  }
  return { clock, limit, fail }
}

/** Bytes of the heap in use after a garbage collection. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

const countAllowed = (attempts: boolean[]) => attempts.filter(Boolean).length
const times = <T>(count: number, act: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => act(n))

describe('login limit', () => {
  it('lets five failures through for one address and e-mail, and thirty for an address', () => {
    const { fail } = open()
    expect(countAllowed(times(8, () => fail('192.0.2.1', 'a@x')))).toBe(5)
    expect(countAllowed(times(40, (n) => fail('192.0.2.1', `${n}@x`)))).toBe(25)
    expect(fail('192.0.2.2', 'a@x')).toBe(true)
  })

  it('says how long to wait, and forgets after a minute', () => {
    const { clock, limit, fail } = open()
    times(5, () => fail('192.0.2.1', 'a@x'))
    clock.advance(20_500)
    expect(limit.begin('192.0.2.1', 'a@x')).toEqual({ ok: false, retryAfterS: 40 })
    clock.advance(39_500)
    expect(fail('192.0.2.1', 'a@x')).toBe(true)
  })

  it('counts what is in flight, and takes back what could not be judged', () => {
    const { limit } = open()
    const begun = times(5, () => limit.begin('192.0.2.1', 'a@x'))
    expect(limit.begin('192.0.2.1', 'a@x')).toEqual({ ok: false, retryAfterS: 1 })
    for (const attempt of begun) if (attempt.ok) attempt.attempt.cancel()
    expect(limit.begin('192.0.2.1', 'a@x')).toMatchObject({ ok: true })
  })

  it('forgets the failures of an account with the right password, not those of the address', () => {
    const { limit, fail } = open()
    times(4, () => fail('192.0.2.1', 'a@x'))
    const right = limit.begin('192.0.2.1', 'a@x')
    if (right.ok) right.attempt.succeed()
    expect(countAllowed(times(8, () => fail('192.0.2.1', 'a@x')))).toBe(5)
    expect(countAllowed(times(40, (n) => fail('192.0.2.1', `${n}@x`)))).toBe(30 - 4 - 5)
  })

  it('counts an IPv6 customer as one, by /64', () => {
    expect(toNetwork('2001:db8:1:2:3:4:5:6')).toBe(toNetwork('2001:db8:1:2::9'))
    expect(toNetwork('2001:db8:1:2::1')).not.toBe(toNetwork('2001:db8:1:3::1'))
    expect(toNetwork('2001:0DB8::1')).toBe(toNetwork('2001:db8:0:0:ffff::'))
    expect(toNetwork('::1')).toBe('0:0:0:0::/64')
    expect(toNetwork('::ffff:192.0.2.1')).toBe('192.0.2.1')
    expect(toNetwork('192.0.2.1')).toBe('192.0.2.1')
  })

  it('never lets more than five failures of an account through in a minute, whatever the order of events', () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 30_000 }),
      outcome: fc.constantFrom('fail', 'cancel'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { clock, limit } = open()
        // Each window starts with a failure: count the failures since the first one of the window.
        let windowMs = Number.NEGATIVE_INFINITY
        let failures = 0
        for (const { waitMs, outcome } of steps) {
          clock.advance(waitMs)
          const nowMs = clock.monotonicMs()
          if (nowMs - windowMs >= 60_000) failures = 0
          const begun = limit.begin('192.0.2.1', 'a@x')
          expect(begun.ok).toBe(failures < 5)
          if (!begun.ok) continue
          if (outcome === 'cancel') begun.attempt.cancel()
          else {
            begun.attempt.fail()
            if (failures++ === 0) windowMs = nowMs
          }
        }
      }),
      { seed: 11 },
    )
  })

  it('keeps nothing once the window is over, also of those that never come again', () => {
    const { clock, limit, fail } = open()
    times(500, (n) => fail(`10.0.${n >> 8}.${n & 255}`, `${n}@x`))
    expect(limit.trim()).toBe(1_000)
    clock.advance(59_999)
    expect(limit.trim()).toBe(1_000)
    clock.advance(1)
    expect(limit.trim()).toBe(0)
  })

  it('keeps a window that is open while it forgets those that began before it', () => {
    const { clock, limit, fail } = open()
    times(5, () => fail('192.0.2.1', 'a@x'))
    clock.advance(30_000)
    times(5, () => fail('192.0.2.2', 'a@x'))
    clock.advance(30_000)
    expect(limit.trim()).toBe(2)
    expect(fail('192.0.2.1', 'a@x')).toBe(true)
    expect(fail('192.0.2.2', 'a@x')).toBe(false)
  })

  it('refuses when every place of the table is taken by an attempt in flight', () => {
    const { limit } = open({ entriesMax: 10 })
    const begun = times(8, (n) => limit.begin(`10.0.0.${n}`, 'a@x'))
    expect(begun.filter(({ ok }) => ok)).toHaveLength(5)
    expect(begun[7]).toEqual({ ok: false, retryAfterS: 1 })
    for (const attempt of begun) if (attempt.ok) attempt.attempt.cancel()
    expect(limit.trim()).toBe(0)
  })

  it('keeps of a name only its hash', () => {
    const { limit } = open({ entriesMax: 2_000 })
    const before = heapBytes()
    times(800, (n) => {
      const begun = limit.begin(`10.0.${n >> 8}.${n & 255}`, `${n}${'\u20ac'.repeat(100_000)}@x`)
      if (begun.ok) begun.attempt.fail()
    })
    expect(heapBytes() - before).toBeLessThan(20 * 1_048_576)
    expect(limit.trim()).toBe(1_600)
  })

  it('keeps its table bounded', () => {
    const { fail } = open({ entriesMax: 10 })
    expect(countAllowed(times(100, (n) => fail(`10.0.0.${n}`, 'a@x')))).toBe(100)
    expect(fail('10.0.0.0', 'a@x')).toBe(true)
  })
})
