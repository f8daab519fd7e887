import { afterEach, expect, test } from 'vitest'
import { findFreePort } from '../../runtime/quickstart/ports.ts'
import { type Service, startService } from '../e2e/support/service.ts'
import { eventually } from '../support/eventually.ts'
import { type Standby, startStandby } from './support/standby.ts'

let owner: Service
let front: Standby

let alone: Standby | null = null

afterEach(async () => {
  await alone?.process.stop()
  alone = null
  await front?.process.stop()
  await owner?.stop()
})

const internal = async () => ({ MUSTER_INTERNAL_ADDR: `127.0.0.1:${await findFreePort('127.0.0.1')}` })

async function startTwo(): Promise<void> {
  owner = await startService({ env: await internal() })
  front = await startStandby(owner.dsn, await findFreePort('127.0.0.1'), await internal())
  await eventually('the front is ready', async () => (await front.statusOf('/readyz')) === 200, {
    everyMs: 20,
  })
  await front.api.login()
}

/**
 * How many ms it takes until the front answers with the new owner's data. Every answer before that must be `no_owner`.
 */
async function msUntilAnswered(): Promise<number> {
  const startedAt = performance.now()
  await eventually(
    'the front answers',
    async () => {
      const { status, body } = await front.api.call('GET', '/api/workloads')
      expect([status, body?.code]).toEqual(status === 200 ? [200, undefined] : [503, 'no_owner'])
      return status === 200
    },
    { everyMs: 20 },
  )
  return performance.now() - startedAt
}

test('a killed owner is replaced within three seconds, and the front serves on', async () => {
  await startTwo()
  const dead = owner.process().stop('SIGKILL')
  expect(await msUntilAnswered()).toBeLessThan(3_000)
  await dead
})

test('an owner that stands still is replaced within eight seconds, and stops when it goes on', async () => {
  await startTwo()
  const { pid } = owner.process()
  process.kill(pid, 'SIGSTOP')
  try {
    expect(await msUntilAnswered()).toBeLessThan(8_000)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  await eventually('the former owner has stopped', async () => owner.process().hasEnded(), {
    everyMs: 50,
  })
  expect(await msUntilAnswered()).toBeLessThan(1_000)
})

test('a process that is not one of several stands by while they serve, and decides once none is left', async () => {
  await startTwo()
  alone = await startStandby(owner.dsn, await findFreePort('127.0.0.1'))
  await eventually('it stands by', async () => (await alone!.statusOf('/healthz')) === 200, { everyMs: 20 })
  await owner.process().stop('SIGKILL')
  await msUntilAnswered()
  expect(await alone.statusOf('/readyz')).toBe(503)
  expect(alone.process.output()).toContain('MUSTER_INTERNAL_ADDR is not set here')
  await front.process.stop()
  await eventually('it decides', async () => (await alone!.statusOf('/readyz')) === 200, { everyMs: 50 })
})
