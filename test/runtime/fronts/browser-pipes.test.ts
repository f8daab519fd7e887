import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { silentLog } from '../../../lib/log.ts'
import { createBrowserPipes } from '../../../runtime/fronts/browser-pipes.ts'
import { readProxyPolicy } from '../../../runtime/process-parts.ts'
import { SocketRoom } from '../../../runtime/socket-room.ts'
import { TEST_CONFIG } from '../../support/invoke.ts'

/** A socket to an owner, which tells of its end as soon as it is cut. */
class Upstream extends EventEmitter {
  readonly readyState = 1
  readonly epoch: number
  isTerminated = false

  constructor(epoch: number) {
    super()
    this.epoch = epoch
  }

  terminate(): void {
    if (this.isTerminated) return
    this.isTerminated = true
    setImmediate(() => this.emit('close', 1006, Buffer.from('')))
  }

  resume(): void {}
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
    send(text: string) {
      told.push(text)
      onTold()
      return 'sent'
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
