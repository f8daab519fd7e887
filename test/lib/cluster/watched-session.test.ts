import { beforeEach, expect, it } from 'vitest'
import { WatchedSession } from '../../../lib/cluster/watched-session.ts'
import type { Connection } from '../../../lib/store/connection.ts'
import { DatabaseUnavailable } from '../../../lib/store/db.ts'
import { nextTurn } from '../../../lib/turns.ts'
import { fakeClock } from '../../support/fakes.ts'
import { manualTimers } from '../../support/manual-timers.ts'

// A database that answers nothing: neither to questions, nor to who opens a session.

const GIVE_UP_MS = 3_000
type Opened = Connection & { isBroken: boolean }

function open() {
  const clock = fakeClock()
  const timers = manualTimers(clock)
  const waiting: ((connection: Opened) => void)[] = []
  const heardAgain: number[] = []
  const session = new WatchedSession({
    connect: () => new Promise((resolve) => waiting.push(resolve)),
    giveUpMs: GIVE_UP_MS,
    clock,
    timers,
    onHeardAgain: (sinceMs) => void heardAgain.push(sinceMs),
  })
  let fail: (error: Error) => void = () => undefined
  const connectionOf = (): Opened => {
    const connection = {
      isBroken: false,
      async close() {
        connection.isBroken = true
        fail(new DatabaseUnavailable('closed'))
      },
    }
    return connection as never
  }
  const ask = (answer: () => Promise<string>) => {
    const told = { said: 'nothing yet' }
    session.ask(answer).then(
      (said) => Object.assign(told, { said }),
      (error: Error) => Object.assign(told, { said: error.constructor.name }),
    )
    return told
  }
  const never = () => new Promise<string>((_, reject) => (fail = reject))
  const pass = async (ms: number) => {
    await nextTurn()
    timers.advance(ms)
    await nextTurn()
  }
  return { clock, session, waiting, heardAgain, connectionOf, ask, never, pass }
}
let at: ReturnType<typeof open>
beforeEach(() => {
  at = open()
})

it('a question is given up where no session is opened for it in time, and is not asked on one that comes later', async () => {
  const beganMs = at.clock.monotonicMs()
  let asked = 0
  const first = at.ask(async () => `answer ${++asked}`)
  await at.pass(GIVE_UP_MS - 1)
  expect(first.said).toBe('nothing yet')
  await at.pass(1)
  expect(first.said).toBe(DatabaseUnavailable.name)
  const second = at.ask(async () => `answer ${++asked}`)
  // What is opened still is for the next question: a place of the pool's for each that hangs would leave none.
  expect(at.waiting).toHaveLength(1)
  at.waiting[0]!(at.connectionOf())
  await at.pass(0)
  expect(second.said).toBe('answer 1')
  expect(at.heardAgain).toEqual([beganMs])
})

it('a question has its whole time also where the session was long in opening, and no more', async () => {
  const told = at.ask(at.never)
  await at.pass(GIVE_UP_MS - 100)
  at.waiting[0]!(at.connectionOf())
  await at.pass(GIVE_UP_MS - 100)
  expect(told.said).toBe('nothing yet')
  await at.pass(100)
  expect(told.said).toBe(DatabaseUnavailable.name)
  expect(at.session.isOpen).toBe(false)
})

it('a session that comes after the end is closed', async () => {
  at.ask(at.never)
  await at.pass(GIVE_UP_MS)
  await at.session.close()
  const late = at.connectionOf()
  at.waiting[0]!(late)
  await at.pass(0)
  expect(late.isBroken).toBe(true)
  await expect(at.session.ask(at.never)).rejects.toThrow(DatabaseUnavailable)
})
