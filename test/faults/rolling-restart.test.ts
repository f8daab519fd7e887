import { afterEach, expect, test } from 'vitest'
import { findFreePort } from '../../runtime/quickstart/ports.ts'
import { Load } from '../bench/load/load.ts'
import { type Api, startService } from '../e2e/support/service.ts'
import { eventually } from '../support/eventually.ts'
import { startStandby } from './support/standby.ts'

const AGENTS = 50
const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** One process with agents of its own, which do not reconnect once they are cut off. */
interface Member {
  api: Api
  load: Load
  stop(): Promise<void>
}

const internal = async () => ({
  MUSTER_INTERNAL_ADDR: `127.0.0.1:${await findFreePort('127.0.0.1')}`,
  OPAMP_SHARED_SECRET: '',
})

let loads = 0
async function withAgents(port: number, api: Api, stop: () => Promise<void>): Promise<Member> {
  const first = loads++ * AGENTS
  const load = new Load({ host: '127.0.0.1', port, agents: AGENTS, workloads: 1, first })
  cleanups.push(() => load.end())
  await load.connect()
  load.beats({ intervalMs: 500 })
  return { api, load, stop }
}

async function startFirst(): Promise<{ dsn: string; member: Member }> {
  const service = await startService({ env: await internal() })
  cleanups.push(() => service.stop())
  const port = Number(new URL(service.opampHttpUrl).port)
  return { dsn: service.dsn, member: await withAgents(port, service.api, () => service.process().stop()) }
}

async function startNext(dsn: string): Promise<Member> {
  const port = await findFreePort('127.0.0.1')
  const next = await startStandby(dsn, port, await internal())
  cleanups.push(() => next.process.stop())
  await eventually('it is ready', async () => (await next.statusOf('/readyz')) === 200, { everyMs: 50 })
  await next.api.login()
  return withAgents(port, next.api, () => next.process.stop())
}

/**
 * Read from and write to every serving member over and over. `end` returns every wrong answer that one of them gave.
 */
function keepAsking(serving: Set<Member>) {
  const wrong: string[] = []
  let asked = 0
  let isOver = false
  const ask = async (member: Member, method: string, path: string, body?: unknown) => {
    // No request is sent to a member that is about to stop; one that is under way there may fail.
    if (!serving.has(member)) return
    const said = await member.api.call(method, path, body).then(
      ({ status, body: answer }) => (status < 300 ? '' : `${status} ${JSON.stringify(answer)}`),
      (error) => String((error as Error).cause ?? error),
    )
    asked++
    if (said !== '' && serving.has(member)) wrong.push(`${method} ${path}: ${said}`)
  }
  const run = async () => {
    for (let turn = 0; !isOver; turn++) {
      const theme = turn % 2 === 0 ? 'dark' : 'light'
      await Promise.all(
        [...serving].flatMap((member) => [
          ask(member, 'GET', '/api/workloads'),
          ask(member, 'PUT', '/api/me/preferences', { theme, language: 'en' }),
        ]),
      )
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const running = run()
  return {
    asked: () => asked,
    async end() {
      isOver = true
      await running
      return wrong
    },
  }
}

test('all processes are replaced one by one under load: no request fails elsewhere, and no socket of another is lost', async () => {
  const { dsn, member } = await startFirst()
  const serving = new Set([member, await startNext(dsn), await startNext(dsn)])
  const asking = keepAsking(serving)
  // The first member is the owner. When it stops, the member that started last takes over, which is not stopped here.
  for (const old of [...serving]) {
    serving.add(await startNext(dsn))
    const before = asking.asked()
    serving.delete(old)
    await old.stop()
    for (const { load } of serving) expect(load.stats().open).toBe(AGENTS)
    await eventually('they are asked on', async () => asking.asked() > before + 20)
  }
  expect(await asking.end()).toEqual([])
  for (const { load } of serving) expect(load.stats()).toMatchObject({ open: AGENTS, errors: 0 })
  const [one] = serving
  await eventually('the new owner knows the three that are left, and every agent where it is', async () => {
    const found: { agents: number }[] = (await one!.api.get('/api/system/cluster')).members
    return found.length === 3 && found.every(({ agents }) => agents === AGENTS)
  })
})
