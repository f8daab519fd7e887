import { EventEmitter } from 'node:events'
import { afterEach, expect, it, vi } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { systemTimers } from '../../../lib/fleet/state/timers.ts'
import { BROWSER_SOCKET, STALLED_MAX_MS } from '../../../lib/hub/browser-queue.ts'
import { silentLog } from '../../../lib/log.ts'
import { createBrowserPipes } from '../../../runtime/fronts/browser-pipes.ts'
import { readProxyPolicy } from '../../../runtime/process-parts.ts'
import { SocketRoom } from '../../../runtime/socket-room.ts'
import { fakeClock } from '../../support/fakes.ts'
import { TEST_CONFIG } from '../../support/invoke.ts'
import { manualTimers } from '../../support/manual-timers.ts'

/** A socket to an owner, which tells of its end as soon as it is cut. */
class Upstream extends EventEmitter {
  readonly readyState = 1
  readonly epoch: number
  isTerminated = false
  bufferedAmount = 0

  constructor(epoch: number) {
    super()
    this.epoch = epoch
  }

  terminate(): void {
    if (this.isTerminated) return
    this.isTerminated = true
    setImmediate(() => this.emit('close', 1006, Buffer.from('')))
  }

  close(): void {
    this.terminate()
  }

  isPaused = true

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  /** The owner says something to the browser. */
  tell(text: string): void {
    this.emit('message', Buffer.from(text))
  }

  /** Nobody reads what is sent. */
  send(data: Uint8Array): void {
    this.bufferedAmount += data.length
  }
}

const HANDSHAKE = {
  path: '/ws',
  query: '',
  headers: () => [],
  header: () => '',
  remoteAddress: '127.0.0.1',
  isSecure: false,
}

it('leads a browser on to the owner where another one was replaced while it let the browser in', async () => {
  // The owner that each handshake reaches, and the newest one as this process knows it.
  const upstreams: Upstream[] = []
  const epochs = [1, 1, 2]
  let newest = 1
  const door = {
    lost() {},
    get epoch() {
      return newest
    },
    async connect() {
      const socket = new Upstream(epochs[upstreams.length]!)
      upstreams.push(socket)
      return { accepted: true, socket, epoch: socket.epoch }
    },
  }
  const pipes = createBrowserPipes({
    door: door as never,
    proxies: readProxyPolicy(TEST_CONFIG, silentLog),
    room: new SocketRoom({ inAll: 10, perAddress: 10 }),
    clock: systemClock,
    timers: systemTimers,
    log: silentLog,
  })
  const verdict = await pipes.route.admit(HANDSHAKE as never)
  if (!verdict.accept) throw new Error('the browser was refused')
  // The owner changes before the browser's socket is there: nobody could tell its pipe.
  newest = 2
  pipes.ownerChanged(2)
  const told: string[] = []
  let onTold = () => {}
  const isTold = new Promise<void>((resolve) => {
    onTold = resolve
  })
  const socket = {
    sendTexts(texts: readonly Uint8Array[]) {
      told.push(...texts.map(String))
      onTold()
      return texts.length
    },
    close: () => undefined,
  }
  pipes.route.open(socket as never, verdict.state)
  await isTold
  while (upstreams.length < 3) await new Promise((resolve) => setImmediate(resolve))
  expect(upstreams.map(({ epoch, isTerminated }) => [epoch, isTerminated])).toEqual([
    [1, true],
    [1, true],
    [2, false],
  ])
  expect(told.every((text) => text.includes('resync'))).toBe(true)
  pipes.route.close(socket as never, verdict.state)
})

/** A browser whose every connection to the owner is one of `upstreams`, with what becomes of its own socket. */
async function openBrowser(how: 'in real time' | 'by hand' = 'in real time') {
  const upstreams: Upstream[] = []
  const door = {
    lost() {},
    epoch: 1,
    async connect() {
      const socket = new Upstream(1)
      upstreams.push(socket)
      return { accepted: true, socket, epoch: 1 }
    },
  }
  const clock = fakeClock()
  const timers = manualTimers(clock)
  const pipes = createBrowserPipes({
    door: door as never,
    proxies: readProxyPolicy(TEST_CONFIG, silentLog),
    room: new SocketRoom({ inAll: 10, perAddress: 10 }),
    clock: how === 'in real time' ? systemClock : clock,
    timers: how === 'in real time' ? systemTimers : timers,
    log: silentLog,
  })
  const { route } = pipes
  const verdict = await route.admit(HANDSHAKE as never)
  if (!verdict.accept) throw new Error('the browser was refused')
  const { state } = verdict
  const told: string[] = []
  const socket = {
    isDropped: false,
    /** How many messages it takes until it has read some. */
    room: Number.POSITIVE_INFINITY,
    sendTexts(texts: readonly Uint8Array[]) {
      const taken = texts.slice(0, socket.room)
      socket.room -= taken.length
      told.push(...taken.map(String))
      return taken.length
    },
    close: () => undefined,
    drop() {
      socket.isDropped = true
    },
  }
  route.open(socket as never, state)
  return {
    pipes,
    timers,
    upstreams,
    socket,
    told,
    /** It reads all but the last `room` messages that it may be sent. */
    read(room: number) {
      socket.room = room
      route.drain(socket as never, state)
    },
    say: (data: Uint8Array) => route.message(socket as never, state, data, false),
    leave: () => route.close(socket as never, state),
  }
}

it('leads a browser on to the owner where the way there ended before its own socket was open', async () => {
  const { route, upstreams, isAgain } = openPipes(() => Object.assign(new Upstream(1), { readyState: 3 }))
  const verdict = await route.admit(HANDSHAKE as never)
  if (!verdict.accept) throw new Error('the browser was refused')
  route.open({ sendTexts: () => 1, close: () => undefined } as never, verdict.state)
  await isAgain
  expect(upstreams()).toBe(2)
  route.close({} as never, verdict.state)
})

it('asks the owner of no more handshakes at a time than there is room for here', async () => {
  const { route, upstreams } = openPipes(() => new Upstream(1), { inAll: 3, perAddress: 2 })
  const from = (remoteAddress: string) => route.admit({ ...HANDSHAKE, remoteAddress } as never)
  const verdicts = await Promise.all(
    ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3'].map(from),
  )
  expect(verdicts.map(({ accept }) => accept)).toEqual([true, true, false, true, false])
  expect(upstreams()).toBe(3)
  // Who goes away before its socket is open leaves its place to the next.
  for (const verdict of verdicts) if (verdict.accept) route.abandoned!(verdict.state)
  expect((await from('192.0.2.3')).accept).toBe(true)
})

/** Pipes whose every connection to the owner is one that `dial` makes. */
function openPipes(dial: () => Upstream, limits = { inAll: 10, perAddress: 10 }) {
  let upstreams = 0
  let onAgain = () => {}
  const isAgain = new Promise<void>((resolve) => {
    onAgain = resolve
  })
  const door = {
    lost() {},
    epoch: 1,
    async connect() {
      upstreams++
      if (upstreams === 2) onAgain()
      return { accepted: true, socket: dial(), epoch: 1 }
    },
  }
  const { route } = createBrowserPipes({
    door: door as never,
    proxies: readProxyPolicy(TEST_CONFIG, silentLog),
    room: new SocketRoom(limits),
    clock: systemClock,
    timers: systemTimers,
    log: silentLog,
  })
  return { route, isAgain, upstreams: () => upstreams }
}

afterEach(() => void vi.useRealTimers())

it('cuts a browser that says more than the owner reads, and keeps no more of it than may wait of one', async () => {
  const browser = await openBrowser()
  const message = new Uint8Array(BROWSER_SOCKET.messageBytesMax)
  for (let i = 0; i < 10_000 && !browser.socket.isDropped; i++) browser.say(message)
  expect(browser.socket.isDropped).toBe(true)
  expect(browser.upstreams[0]!.bufferedAmount).toBeLessThanOrEqual(BROWSER_SOCKET.waitingBytesMax)
  expect(browser.upstreams[0]!.bufferedAmount).toBeGreaterThan(0)
  browser.leave()
})

it('connects a browser again later and later, where the owner takes it and lets it go each time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  const browser = await openBrowser()
  const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  const connectionsAfter = async (ms: number): Promise<number> => {
    for (let passed = 0; passed < ms; passed += 50) {
      browser.upstreams.at(-1)!.terminate()
      await settled()
      await vi.advanceTimersByTimeAsync(50)
      await settled()
    }
    return browser.upstreams.length
  }
  browser.upstreams[0]!.terminate()
  await settled()
  expect(browser.upstreams).toHaveLength(1)
  const afterMinute = await connectionsAfter(60_000)
  expect(afterMinute).toBeGreaterThan(20)
  expect(afterMinute).toBeLessThan(45)
  // One that lasts is followed by a short wait again.
  await vi.advanceTimersByTimeAsync(12_000)
  const steady = browser.upstreams.length
  browser.upstreams.at(-1)!.terminate()
  await settled()
  await vi.advanceTimersByTimeAsync(150)
  expect(browser.upstreams.length).toBe(steady + 1)
  browser.leave()
})

it('reads no more of the owner than a browser reads, and loses nothing of what it had read', async () => {
  const browser = await openBrowser('by hand')
  const [upstream] = browser.upstreams
  browser.socket.room = 1
  for (const text of ['1', '2', '3']) upstream!.tell(text)
  expect(browser.told).toEqual(['1'])
  expect(upstream!.isPaused).toBe(true)
  browser.read(1)
  expect(browser.told).toEqual(['1', '2'])
  expect(upstream!.isPaused).toBe(true)
  browser.read(5)
  expect(browser.told).toEqual(['1', '2', '3'])
  expect(upstream!.isPaused).toBe(false)
  upstream!.tell('4')
  expect(browser.told.at(-1)).toBe('4')
  browser.leave()
})

it('cuts a browser that has read nothing for as long as one at the owner itself may', async () => {
  const browser = await openBrowser('by hand')
  browser.socket.room = 1
  const tell = () => browser.upstreams[0]!.tell('more')
  for (let n = 0; n < 4; n++) tell()
  // One that reads something now and then is slow, and stays.
  for (let n = 0; n < 3; n++) {
    browser.timers.advance(STALLED_MAX_MS - 1_000)
    browser.read(1)
    tell()
  }
  expect(browser.socket.isDropped).toBe(false)
  browser.timers.advance(STALLED_MAX_MS)
  expect(browser.socket.isDropped).toBe(true)
  expect(browser.pipes.stats.slowBrowsers).toBe(1)
  browser.leave()
})

it('lets the next owner wait for a browser as the former one did, and tells it to fetch again', async () => {
  const browser = await openBrowser('by hand')
  const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  browser.socket.room = 1
  for (const text of ['1', '2', '3']) browser.upstreams[0]!.tell(text)
  browser.upstreams[0]!.terminate()
  await settled()
  browser.timers.advance(100)
  await settled()
  expect(browser.upstreams[1]!.isPaused).toBe(true)
  browser.read(5)
  expect(browser.upstreams[1]!.isPaused).toBe(false)
  expect(browser.told).toEqual(['1', JSON.stringify({ type: 'resync' })])
  browser.leave()
})
