import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Owner } from '../../../lib/cluster/membership.ts'
import { writeBatch } from '../../../lib/links/frames.ts'
import { silentLog } from '../../../lib/log.ts'
import { FrontLink } from '../../../runtime/fronts/front-link.ts'
import { fakeClock } from '../../support/fakes.ts'
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

const ownerOf = (epoch: number): Owner => ({
  id: `member ${epoch}`,
  address: '127.0.0.1:1',
  epoch,
  since: null,
})
const turns = () => new Promise((resolve) => setImmediate(resolve))

/** A front's link, which is opened when the test answers the front's handshake. */
function openLink() {
  const clock = fakeClock()
  const timers = manualTimers(clock)
  let owner = ownerOf(1)
  const dials: { owner: Owner; answer(socket: FakeSocket): void }[] = []
  const linked: number[] = []
  const taken: number[] = []
  const link = new FrontLink({
    door: {
      open: (asked: Owner) =>
        new Promise((resolve) =>
          dials.push({ owner: asked, answer: resolve as (socket: FakeSocket) => void }),
        ),
    } as never,
    agents: () =>
      ({
        linked: () => undefined,
        unlinked: () => undefined,
        take: ({ epoch }: { epoch: number }) => taken.push(epoch),
      }) as never,
    owner: () => owner,
    lookAgain: () => undefined,
    onChange: (epoch) => void (epoch !== null && linked.push(epoch)),
    onSilent: () => undefined,
    clock,
    timers,
    log: silentLog,
  })
  link.start()
  return {
    link,
    timers,
    dials,
    linked,
    taken,
    replaceOwner(epoch: number) {
      owner = ownerOf(epoch)
      link.ownerChanged(epoch)
    },
    say: (socket: FakeSocket, epoch: number) =>
      socket.emit('message', writeBatch({ cell: 0, epoch, atMs: clock.monotonicMs(), entries: [['list']] })),
  }
}

describe('a link of a front', () => {
  it('is not made to an owner that was replaced while it answered the handshake', async () => {
    const { link, timers, dials, linked, replaceOwner } = openLink()
    const late = new FakeSocket()
    replaceOwner(2)
    dials[0]!.answer(late)
    await turns()
    expect(late.isTerminated).toBe(true)
    expect(link.isUp).toBe(false)
    timers.advance(100)
    expect(dials.map(({ owner }) => owner.epoch)).toEqual([1, 2])
    dials[1]!.answer(new FakeSocket())
    await turns()
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
