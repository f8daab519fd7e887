import { beforeEach, describe, expect, it } from 'vitest'
import { type HubClient, QUEUE_BYTES_MAX, STALLED_MAX_MS } from '../../../lib/hub/browser-queue.ts'
import { BURST_MAX, BURST_QUIET_MS, COALESCE_MS, Hub, OCCURRENCES_MAX } from '../../../lib/hub/hub.ts'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import { type FakeClock, fakeClock } from '../../support/fakes.ts'
import { readFrame } from '../../support/frames.ts'
import { type ManualTimers, manualTimers } from '../../support/manual-timers.ts'

/** A browser's connection to the hub, as a test sees it. */
interface Browser {
  client: HubClient
  got: HubFrame[]
  writes: number
  closed: [number, string][]
  isCut: boolean
  /** How many frames its socket takes before the hub has to wait. */
  takes: number
}

let clock: FakeClock
let timers: ManualTimers
let hub: Hub
beforeEach(() => {
  clock = fakeClock()
  timers = manualTimers(clock)
  hub = new Hub({ clock, timers })
})

function connect(session: { sessionId?: string; lifeMs?: number } = {}): Browser {
  const browser: Browser = {
    got: [],
    writes: 0,
    closed: [],
    isCut: false,
    takes: Number.POSITIVE_INFINITY,
    client: {
      send(frames) {
        browser.writes++
        const taken = frames.slice(0, browser.takes)
        for (const frame of taken) browser.got.push(readFrame(frame))
        browser.takes -= taken.length
        return taken.length
      },
      close: (code, reason) => void browser.closed.push([code, reason]),
      drop() {
        browser.isCut = true
      },
    },
  }
  hub.add(browser.client, {
    sessionId: session.sessionId ?? 's',
    expiresAt: new Date(clock.now().getTime() + (session.lifeMs ?? 86_400_000)),
  })
  return browser
}

const removed = (id: string): HubFrame => ({ type: 'workload_removed', workload_id: id, reason: 'deleted' })
/** Send what the hub holds back; returns the workload ids or types of all frames that the browser got. */
function ids(browser: Browser): string[] {
  hub.flush()
  return browser.got.map((frame) => (frame.type === 'workload_removed' ? frame.workload_id : frame.type))
}

describe('the fan-out', () => {
  it('tells every browser the same', () => {
    const [one, two] = [connect(), connect()]
    hub.broadcast(removed('a'))
    expect([ids(one), ids(two)]).toEqual([['a'], ['a']])
  })
})

describe('a browser that is behind', () => {
  function fallBehind(browser: Browser, takes: number) {
    browser.takes = takes
  }
  function catchUp(browser: Browser, takes = Number.POSITIVE_INFINITY) {
    browser.takes = takes
    hub.drained(browser.client)
  }

  it('is sent the rest when it has read, in order', () => {
    const [slow, quick] = [connect(), connect()]
    fallBehind(slow, 1)
    for (const id of ['a', 'b', 'c']) hub.broadcast(removed(id))
    expect([ids(slow), ids(quick)]).toEqual([['a'], ['a', 'b', 'c']])
    hub.broadcast(removed('d'))
    expect(ids(slow)).toEqual(['a'])
    expect(hub.queuedBytes).toBeGreaterThan(0)
    catchUp(slow, 2)
    expect(ids(slow)).toEqual(['a', 'b', 'c'])
    catchUp(slow)
    expect(ids(slow)).toEqual(['a', 'b', 'c', 'd'])
    expect(hub.queuedBytes).toBe(0)
  })

  it('is told to fetch again when it is too far behind, and what follows', () => {
    const slow = connect()
    fallBehind(slow, 0)
    const long = 'x'.repeat(QUEUE_BYTES_MAX / 4)
    for (let n = 0; n < 5; n++) hub.broadcast(removed(long))
    hub.flush()
    expect(hub.queuedBytes).toBeLessThan(100)
    hub.broadcast(removed('after'))
    expect(ids(slow)).toEqual([])
    catchUp(slow)
    expect(ids(slow)).toEqual(['resync', 'after'])
  })

  it('is cut when it reads nothing for too long, and nobody else', () => {
    const [deaf, quick] = [connect(), connect()]
    fallBehind(deaf, 0)
    hub.broadcast(removed('a'))
    hub.flush()
    clock.advance(STALLED_MAX_MS)
    hub.broadcast(removed('b'))
    hub.flush()
    expect(deaf.isCut).toBe(false)
    clock.advance(1)
    hub.broadcast(removed('c'))
    expect(ids(quick)).toEqual(['a', 'b', 'c'])
    expect(deaf).toMatchObject({ isCut: true, closed: [], got: [] })
    expect(hub.stats).toMatchObject({ clients: 1, slowClients: 1 })
    expect(hub.queuedBytes).toBe(0)
  })

  it('is not cut for being slow while it reads', () => {
    const slow = connect()
    fallBehind(slow, 0)
    for (let n = 0; n < 10; n++) {
      hub.broadcast(removed(`${n}`))
      hub.flush()
      clock.advance(STALLED_MAX_MS)
      catchUp(slow, 1)
    }
    expect(slow.isCut).toBe(false)
    expect(ids(slow)).toHaveLength(10)
  })
})

describe('a delivery', () => {
  it('carries what happened within a moment in one write for each browser', () => {
    const browser = connect()
    for (const id of ['a', 'b', 'c']) hub.broadcast(removed(id))
    expect(browser.got).toEqual([])
    timers.advance(20)
    expect(browser.writes).toBe(1)
    expect(ids(browser)).toEqual(['a', 'b', 'c'])
  })

  it('serves many browsers in turns, each of them everything in order', () => {
    const browsers = Array.from({ length: 120 }, () => connect())
    hub.broadcast(removed('a'))
    timers.advance(19)
    hub.broadcast(removed('b'))
    timers.advance(1)
    // A frame that comes while only some browsers were served waits until all are.
    hub.broadcast(removed('c'))
    timers.advance(100)
    expect(new Set(browsers.map((browser) => browser.got.length))).toEqual(new Set([3]))
    expect(ids(browsers[119]!)).toEqual(['a', 'b', 'c'])
  })

  it('passes over a browser that left meanwhile, and one that came is told what follows', () => {
    const leaving = connect({ sessionId: 'leaving' })
    hub.broadcast(removed('a'))
    hub.endSessions(['leaving'])
    const late = connect()
    hub.broadcast(removed('b'))
    timers.advance(100)
    expect(leaving.got).toEqual([])
    expect(ids(late).at(-1)).toBe('b')
  })
})

describe('states that change often', () => {
  it('are told at once, then once a second with the last one winning', () => {
    const browser = connect()
    for (let n = 1; n <= 5; n++) hub.update('key', () => removed(`${n}`))
    expect(ids(browser)).toEqual(['1'])
    timers.advance(COALESCE_MS + 300)
    expect(ids(browser)).toEqual(['1', '5'])
    hub.update('key', () => removed('6'))
    hub.update('other', () => removed('x'))
    expect(ids(browser)).toEqual(['1', '5', 'x'])
    timers.advance(COALESCE_MS + 300)
    expect(ids(browser)).toEqual(['1', '5', 'x', '6'])
  })

  it('are built when they are sent, not when they begin to wait', () => {
    const browser = connect()
    let state = 'old'
    hub.update('key', () => removed(state))
    hub.update('key', () => removed(state))
    state = 'new'
    timers.advance(COALESCE_MS + 300)
    expect(ids(browser)).toEqual(['old', 'new'])
  })

  it('cost nothing while nobody listens', () => {
    let built = 0
    hub.update('key', () => {
      built++
      return removed('a')
    })
    expect(built).toBe(0)
  })
})

describe('what happens to thousands at once', () => {
  const occur = (key: string, id: string) => hub.occur(key, () => removed(id))

  it('is told each time while it is seldom', () => {
    const browser = connect()
    for (let n = 0; n < 5; n++) occur('same', `${n}`)
    expect(ids(browser)).toEqual(['0', '1', '2', '3', '4'])
  })

  it('is told once a second a key when it is not, the last one winning, and never as a resync', () => {
    const browser = connect()
    for (let n = 0; n < OCCURRENCES_MAX; n++) occur('early', `early ${n}`)
    hub.flush()
    browser.got.length = 0
    for (let n = 0; n < 10 * BURST_MAX; n++) occur(`key-${n % 3}`, `${n}`)
    expect(ids(browser)).toEqual(['0', '1', '2'])
    timers.advance(COALESCE_MS + 300)
    const last = 10 * BURST_MAX - 1
    expect(ids(browser).slice(3).sort()).toEqual([`${last - 2}`, `${last - 1}`, `${last}`])
  })

  it('leaves the states their turn', () => {
    const browser = connect()
    for (let n = 0; n < 10 * BURST_MAX; n++) occur('same', `${n}`)
    hub.update('state', () => removed('state'))
    expect(ids(browser).at(-1)).toBe('state')
  })

  it('is never told in the wrong order', () => {
    const browser = connect()
    for (let n = 0; n <= OCCURRENCES_MAX + 1; n++) occur('same', `${n}`)
    clock.advance(COALESCE_MS)
    occur('same', 'newest')
    timers.advance(2 * COALESCE_MS)
    expect(ids(browser).at(-1)).toBe('newest')
  })
})

describe('many states at once', () => {
  it('are told a few at a time, each of them, the first at once', () => {
    const browser = connect()
    for (let n = 0; n < 200; n++) hub.update(`key-${n}`, () => removed(`${n}`))
    const first = ids(browser).length
    expect(first).toBeGreaterThan(0)
    expect(first).toBeLessThan(20)
    timers.advance(20)
    expect(ids(browser).length).toBeLessThan(40)
    timers.advance(COALESCE_MS)
    expect(ids(browser)).toEqual(Array.from({ length: 200 }, (_, n) => `${n}`))
  })
})

describe('a burst', () => {
  it('of frames that are told at once becomes one resync, too', () => {
    const browser = connect()
    for (let n = 0; n < BURST_MAX * 3; n++) hub.broadcast(removed(`${n}`))
    expect(ids(browser)).toHaveLength(BURST_MAX)
    timers.advance(BURST_QUIET_MS)
    expect(ids(browser).slice(BURST_MAX)).toEqual(['resync'])
  })

  it('ends although its timer is early by a little', () => {
    hub = new Hub({
      clock,
      timers: { ...timers, after: (ms, run) => timers.after(ms > 1 ? ms - 0.5 : ms, run) },
    })
    const browser = connect()
    for (let n = 0; n < BURST_MAX * 3; n++) hub.broadcast(removed(`${n}`))
    timers.advance(BURST_QUIET_MS - 0.5)
    timers.advance(5)
    expect(ids(browser).at(-1)).toBe('resync')
    hub.broadcast(removed('after'))
    expect(ids(browser).at(-1)).toBe('after')
  })

  it('after one that nobody saw the end of lasts as long as any', () => {
    const gone = connect()
    for (let n = 0; n < BURST_MAX * 3; n++) hub.broadcast(removed(`${n}`))
    hub.remove(gone.client)
    const browser = connect()
    timers.advance(BURST_QUIET_MS / 2)
    for (let n = 0; n < BURST_MAX * 3; n++) hub.broadcast(removed(`${n}`))
    timers.advance(BURST_QUIET_MS / 2)
    expect(ids(browser)).not.toContain('resync')
    timers.advance(BURST_QUIET_MS / 2)
    expect(ids(browser).filter((id) => id === 'resync')).toHaveLength(1)
  })

  it('becomes one resync, and only a rollback is told meanwhile', () => {
    const browser = connect()
    for (let n = 0; n < BURST_MAX * 3; n++) hub.update(`key-${n}`, () => removed(`${n}`))
    timers.advance(1_000)
    expect(ids(browser).length).toBeLessThan(BURST_MAX)
    hub.announce(removed('told anyway'))
    expect(ids(browser).at(-1)).toBe('told anyway')
    timers.advance(BURST_QUIET_MS + 300)
    expect(ids(browser).at(-1)).toBe('resync')
    expect(ids(browser).filter((id) => id === 'resync')).toHaveLength(1)
    hub.broadcast(removed('after'))
    expect(ids(browser).at(-1)).toBe('after')
  })
})

describe('sessions', () => {
  it('close their sockets with 1008 when the token ends', () => {
    const browser = connect({ lifeMs: 60_000 })
    timers.advance(59_000)
    expect(browser.closed).toEqual([])
    timers.advance(1_000)
    expect(browser.closed).toEqual([[1008, 'token expired']])
    hub.broadcast(removed('a'))
    expect(ids(browser)).toEqual([])
  })

  it('close theirs and no others when they are ended', () => {
    const [ended, other] = [connect({ sessionId: 'a' }), connect({ sessionId: 'b' })]
    hub.endSessions(['a'])
    expect(ended.closed).toEqual([[1008, 'token expired']])
    expect(other.closed).toEqual([])
  })
})
