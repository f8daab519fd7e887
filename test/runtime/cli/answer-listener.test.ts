import { once } from 'node:events'
import { get } from 'node:http'
import { connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { openAnswerListener } from '../../../runtime/cli/login/answer-listener.ts'

const QUESTION = 'http://127.0.0.1:9/command-line?challenge=c'
const pageOf = (end: string) => `http://127.0.0.1:9/command-line?end=${end}`
const close: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const one of close.splice(0)) await one()
})

/** Listen; a code counts so long after the address that leads to the question was called first. */
async function listen(leadSettlesMs: number) {
  const listener = await openAnswerListener('the-state', pageOf, leadSettlesMs)
  const bring = (code: string) =>
    call(`http://127.0.0.1:${listener.port}/?${new URLSearchParams({ state: 'the-state', code })}`)
  return { listener, address: listener.leadOnce(QUESTION), bring }
}

async function call(address: string) {
  const { status, headers } = await fetch(address, { redirect: 'manual' })
  return [status, headers.get('location')]
}

it('ends the sign-in where a second one opens the address that leads to the question', async () => {
  const { listener, address, bring } = await listen(60_000)
  expect(await call(address)).toEqual([303, QUESTION])
  // Whoever was first brings a code at once; the browser comes after that.
  const brought = bring('of-another-account')
  expect(await call(address)).toEqual([303, pageOf('failed')])
  expect(await listener.wait(60_000)).toEqual({ kind: 'overheard' })
  // The code may be on its way still.
  await Promise.all([brought, listener.close('failed')]).catch(() => undefined)
})

it('takes the code of the browser that opened it alone', async () => {
  const { listener, address, bring } = await listen(10)
  expect(await call(address)).toEqual([303, QUESTION])
  const brought = bring('mine')
  expect(await listener.wait(60_000)).toEqual({ kind: 'code', code: 'mine' })
  await listener.close('done')
  expect(await brought).toEqual([303, pageOf('done')])
})

it('ends where the browser that brought the code has given its request up', async () => {
  const { listener } = await listen(10)
  const request = get({
    port: listener.port,
    host: '127.0.0.1',
    path: '/?state=the-state&code=mine',
    agent: false,
  }).on('error', () => undefined)
  expect(await listener.wait(60_000)).toEqual({ kind: 'code', code: 'mine' })
  request.destroy()
  // Its second press of the button brings another code, which is not needed any more: the sign-in is done.
  const second = get({
    port: listener.port,
    host: '127.0.0.1',
    path: '/?state=the-state&code=again',
    agent: false,
  })
  const answered = once(second, 'response')
  await once(second, 'finish')
  // What is asked after that is answered after it was read.
  expect(await call(`http://127.0.0.1:${listener.port}/`)).toEqual([400, null])
  await listener.close('done')
  const [{ statusCode, headers }] = await answered
  expect([statusCode, headers.location]).toEqual([303, pageOf('done')])
})

it('lets the browser through past any number of connections that say nothing', async () => {
  const { listener, address } = await listen(10)
  const open = async () => {
    const socket = connect(listener.port, '127.0.0.1')
    close.push(async () => void socket.destroy())
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }
  const oldest = once(await open(), 'close')
  for (let more = 0; more < 16; more++) await open()
  await oldest
  // Also where the crowd comes right behind it.
  const own = connect(listener.port, '127.0.0.1')
  own.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${listener.port}\r\n\r\n`)
  const crowd = Array.from({ length: 40 }, open)
  expect(String((await once(own, 'data'))[0])).toMatch(/^HTTP\/1.1 400 /)
  await Promise.all(crowd)
  expect(await call(address)).toEqual([303, QUESTION])
  await listener.close('failed')
})
