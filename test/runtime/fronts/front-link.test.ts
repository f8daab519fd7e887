import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Owner } from '../../../lib/cluster/membership.ts'
import { type OwnerEntry, writeBatch } from '../../../lib/links/frames.ts'
import { FrontLink } from '../../../runtime/fronts/front-link.ts'
import { fakeClock, recordingLog } from '../../support/fakes.ts'
import { manualTimers } from '../../support/manual-timers.ts'

/** A socket as the `ws` package gives it, as far as a link uses it; its end is told when the test says so. */
class FakeSocket extends EventEmitter {
  readonly bufferedAmount = 0
  isTerminated = false

  terminate(): void {
    this.isTerminated = true
  }

  send(): void {}
  resume(): void {}
}

const ownerOf = (epoch: number, linkVersion = 5): Owner => ({
  id: `member ${epoch}`,
  address: '127.0.0.1:1',
  linkVersion,
  epoch,
  since: null,
})
const turns = () => new Promise((resolve) => setImmediate(resolve))

/** A front's link, which is opened when the test answers the front's handshake. */
function openLink() {
  const clock = fakeClock()
  const timers = manualTimers(clock)
  let owner = ownerOf(1)
  const log = recordingLog()
  const dials: { owner: Owner; version: number; answer(socket: FakeSocket | number): void }[] = []
  const linked: (number | null)[] = []
  const taken: number[] = []
  const agents = { hasToldAll: true }
  const link = new FrontLink({
    door: {
      open: (asked: Owner, _path: string, version: number) =>
        new Promise((resolve) => dials.push({ owner: asked, version, answer: resolve })),
    } as never,
    agents: () =>
      Object.assign(agents, {
        linked: () => undefined,
        unlinked: () => undefined,
        take: ({ epoch }: { epoch: number }) => taken.push(epoch),
      }) as never,
    owner: () => owner,
    versions: { least: 4, newest: 5 },
    lookAgain: () => undefined,
    onChange: (epoch) => void linked.push(epoch),
    onSilent: () => undefined,
    clock,
    timers,
    log,
  })
  link.start()
  return {
    link,
    timers,
    dials,
    linked,
    taken,
    agents,
    log,
    replaceOwner(epoch: number, linkVersion?: number) {
      owner = ownerOf(epoch, linkVersion)
      link.ownerChanged(epoch)
    },
    say: (socket: FakeSocket, epoch: number, entry: OwnerEntry = ['list']) =>
      socket.emit('message', writeBatch({ cell: 0, epoch, atMs: clock.monotonicMs(), entries: [entry] })),
  }
}

describe('a link of a front', () => {
  it('is not made to an owner that was replaced while it answered the handshake', async () => {
    const { link, timers, dials, linked, say, replaceOwner } = openLink()
    const late = new FakeSocket()
    replaceOwner(2)
    dials[0]!.answer(late)
    await turns()
    expect(late.isTerminated).toBe(true)
    expect(link.isUp).toBe(false)
    timers.advance(100)
    expect(dials.map(({ owner }) => owner.epoch)).toEqual([1, 2])
    const socket = new FakeSocket()
    dials[1]!.answer(socket)
    await turns()
    say(socket, 2)
    expect(linked).toEqual([2])
    link.stop()
  })

  it('gives out nothing more of what a replaced owner has sent, also where that had arrived before', async () => {
    const { link, dials, taken, replaceOwner, say } = openLink()
    const socket = new FakeSocket()
    dials[0]!.answer(socket)
    await turns()
    say(socket, 1)
    replaceOwner(2)
    expect(socket.isTerminated).toBe(true)
    say(socket, 1)
    expect(taken).toEqual([1])
    link.stop()
  })

  it('counts for how long there was none, over all of its ends', async () => {
    const { link, timers, dials, say } = openLink()
    timers.advance(700)
    const socket = new FakeSocket()
    dials.at(-1)!.answer(socket)
    await turns()
    say(socket, 1)
    timers.advance(1_000)
    expect(link.downSumMs).toBe(700)
    socket.emit('close')
    timers.advance(300)
    expect(link.downSumMs).toBe(1_000)
    link.stop()
  })

  it('does not count as none while the front itself waits between links that end soon', async () => {
    const { link, timers, dials, say } = openLink()
    for (let n = 0; n < 5; n++) {
      const socket = new FakeSocket()
      dials.at(-1)!.answer(socket)
      await turns()
      say(socket, 1)
      timers.advance(10)
      socket.emit('close')
      for (let count = 0; dials.length === n + 1; count++) {
        expect(count).toBeLessThan(200)
        expect(link.downMs).toBeLessThan(200)
        timers.advance(100)
      }
    }
    timers.advance(5_000)
    expect(link.downMs).toBeGreaterThanOrEqual(5_000)
    link.stop()
  })

  it('counts as none where it ends without an answer, however often it is opened', async () => {
    const { link, timers, dials, linked, agents, say } = openLink()
    agents.hasToldAll = false
    for (let n = 0; n < 5; n++) {
      const socket = new FakeSocket()
      dials.at(-1)!.answer(socket)
      await turns()
      expect(link.isUp).toBe(false)
      // The owner lives, and answers nothing of what it is told.
      say(socket, 1)
      timers.advance(1_000)
      socket.emit('close')
      timers.advance(10_000)
      await turns()
    }
    expect(link.downMs).toBeGreaterThan(50_000)
    expect(link.downSumMs).toBe(link.downMs)
    expect(linked.filter((epoch) => epoch !== null)).toEqual([])
    const socket = new FakeSocket()
    dials.at(-1)!.answer(socket)
    await turns()
    say(socket, 1, ['answer', 1, null])
    expect([link.isUp, link.downMs, linked.at(-1)]).toEqual([true, 0, 1])
    link.stop()
  })

  it('speaks the lower of the newest versions of both builds', async () => {
    for (const [theirs, spoken] of [
      [5, 5],
      [4, 4],
      [6, 5],
    ] as const) {
      const { link, dials, timers, replaceOwner } = openLink()
      replaceOwner(2, theirs)
      dials[0]!.answer(new FakeSocket())
      await turns()
      timers.advance(100)
      expect(dials[1]).toMatchObject({ owner: { epoch: 2 }, version: spoken })
      link.stop()
    }
  })

  it('is not asked for again of an owner that speaks no version of this build, but of the next one', async () => {
    for (const learn of ['by its row', 'by its refusal']) {
      const { link, dials, timers, log, replaceOwner } = openLink()
      if (learn === 'by its row') replaceOwner(2, 3)
      dials[0]!.answer(learn === 'by its row' ? new FakeSocket() : 426)
      await turns()
      for (let n = 0; n < 50; n++) {
        timers.advance(100)
        await turns()
      }
      expect(link.isForeign, learn).toBe(true)
      expect(dials, learn).toHaveLength(1)
      expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
      replaceOwner(3, 5)
      expect(link.isForeign, learn).toBe(false)
      timers.advance(100)
      expect(dials[1], learn).toMatchObject({ owner: { epoch: 3 }, version: 5 })
      link.stop()
    }
  })

  it('that ends soon each time is opened ever more rarely, until there is another owner', async () => {
    const { link, dials, timers, say, replaceOwner } = openLink()
    const misreads = async (ms: number) => {
      const before = dials.length
      for (let n = 0; n < ms / 100; n++) {
        const socket = new FakeSocket()
        dials.at(-1)!.answer(socket)
        await turns()
        socket.emit('message', '{"cell":0,"epoch":1,"atMs":1,"entries":[["unheard-of"]]}')
        if (socket.isTerminated) socket.emit('close')
        timers.advance(100)
        await turns()
      }
      return dials.length - before
    }
    expect(await misreads(20_000)).toBeLessThan(12)
    expect(await misreads(20_000)).toBeLessThan(4)
    replaceOwner(2)
    timers.advance(10_000)
    const socket = new FakeSocket()
    dials.at(-1)!.answer(socket)
    await turns()
    say(socket, 2)
    expect(link.isUp).toBe(true)
    link.stop()
  })

  it('is asked of a new owner at once, also while the front waits between links that end soon', async () => {
    const { link, timers, dials, say, replaceOwner } = openLink()
    for (let n = 0; n < 8; n++) {
      const socket = new FakeSocket()
      dials.at(-1)!.answer(socket)
      await turns()
      say(socket, 1)
      timers.advance(10)
      socket.emit('close')
      for (let count = 0; dials.length === n + 1 && n < 7; count++) {
        expect(count).toBeLessThan(200)
        timers.advance(100)
      }
    }
    const before = dials.length
    const downBefore = link.downSumMs
    timers.advance(3_000)
    expect(link.downSumMs - downBefore).toBe(3_000)
    expect(dials).toHaveLength(before)
    replaceOwner(2)
    expect(dials.slice(before).map(({ owner }) => owner.epoch)).toEqual([2])
    timers.advance(2_000)
    expect(link.downMs).toBeGreaterThanOrEqual(2_000)
    // The wait that was over then opens no other link later.
    timers.advance(20_000)
    expect(dials).toHaveLength(before + 1)
    link.stop()
  })

  it('is cut by a message of another epoch or another cell', async () => {
    const { link, dials, taken, say } = openLink()
    const socket = new FakeSocket()
    dials[0]!.answer(socket)
    await turns()
    say(socket, 2)
    expect(socket.isTerminated).toBe(true)
    expect(taken).toEqual([])
    link.stop()
  })
})
