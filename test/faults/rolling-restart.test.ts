import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { findFreePort } from '../../runtime/quickstart/ports.ts'
import { Load } from '../bench/load/load.ts'
import { type Api, startService } from '../e2e/support/service.ts'
import { openWire } from '../support/agent-wire.ts'
import { eventually } from '../support/eventually.ts'
import { keyValues, uidBytes } from '../support/opamp-messages.ts'
import { nextOffer, SUPERVISED, statusOf } from '../support/opamp-scene.ts'
import { configOf } from './support/fleet.ts'
import { startStandby } from './support/standby.ts'

const AGENTS = 50
const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** One process with agents of its own, which do not reconnect once they are cut off. */
interface Member {
  url: string
  opampPort: number
  api: Api
  load: Load
  stop(): Promise<void>
}

const internal = async () => ({
  MUSTER_INTERNAL_ADDR: `127.0.0.1:${await findFreePort('127.0.0.1')}`,
  OPAMP_SHARED_SECRET: '',
})

let loads = 0
async function withAgents(member: Omit<Member, 'load'>): Promise<Member> {
  const { opampPort: port } = member
  const first = loads++ * AGENTS
  const load = new Load({ host: '127.0.0.1', port, agents: AGENTS, workloads: 1, first })
  cleanups.push(() => load.end())
  await load.connect()
  load.beats({ intervalMs: 500 })
  return { ...member, load }
}

async function startFirst(): Promise<{ dsn: string; member: Member }> {
  const service = await startService({ env: await internal() })
  cleanups.push(() => service.stop())
  const opampPort = Number(new URL(service.opampHttpUrl).port)
  const { url, api, dsn } = service
  return { dsn, member: await withAgents({ url, opampPort, api, stop: () => service.process().stop() }) }
}

async function startNext(dsn: string): Promise<Member> {
  const opampPort = await findFreePort('127.0.0.1')
  const next = await startStandby(dsn, opampPort, await internal())
  cleanups.push(() => next.process.stop())
  await eventually('it is ready', async () => (await next.statusOf('/readyz')) === 200, { everyMs: 50 })
  await next.api.login()
  const { url, api, process } = next
  return withAgents({ url, opampPort, api, stop: () => process.stop() })
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

/** A browser that is connected to this process. */
async function openBrowser({ url, api }: Member) {
  const { body } = await api.call('POST', '/api/auth/login', {
    email: 'admin@example.com',
    password: 'correct horse battery',
  })
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws?token=${body.token}`)
  cleanups.push(() => socket.terminate())
  let resyncs = 0
  socket.on('message', (data) => {
    if (String(data).includes('resync')) resyncs++
  })
  await new Promise((resolve) => socket.once('open', resolve))
  return { isOpen: () => socket.readyState === WebSocket.OPEN, resyncs: () => resyncs }
}

/** An agent with a workload of its own at this process, which runs what it is offered when it is told to. */
async function startSlowAgent({ opampPort, api }: Member) {
  const wire = await openWire(`127.0.0.1:${opampPort}/v1/opamp`)
  cleanups.push(() => wire.cut())
  let sequenceNum = 0
  const say = (more = {}) =>
    wire.send({ instanceUid: uidBytes(900), sequenceNum: ++sequenceNum, capabilities: SUPERVISED, ...more })
  say({
    agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'slow' }) },
    ...statusOf('00'.repeat(32), 1),
  })
  const { id } = await eventually('it is known', async () => {
    const { body } = await api.call('GET', '/api/workloads')
    return (body as { id: string; display_name: string }[]).find(({ display_name: name }) => name === 'slow')
  })
  return {
    workloadId: id,
    offered: async () => (await nextOffer(wire)).hash,
    applies: (hash: string) => say(statusOf(hash, 2)),
    runs: (hash: string) => say(statusOf(hash, 1)),
    isOpen: () => wire.socket.readyState === WebSocket.OPEN,
  }
}

const clusterOf = async ({ api }: Member) =>
  (await api.get('/api/system/cluster')) as {
    epoch: number
    served_by: string
    members: { id: string; is_owner: boolean }[]
  }
const epochOf = async (member: Member): Promise<number> => (await clusterOf(member)).epoch
async function owns(member: Member): Promise<boolean> {
  const { served_by: id, members } = await clusterOf(member)
  return members.some((other) => other.id === id && other.is_owner)
}

test('all processes are replaced one by one under load: no request fails elsewhere, and no socket of another is lost', async () => {
  const { dsn, member } = await startFirst()
  const serving = new Set([member, await startNext(dsn), await startNext(dsn)])
  const asking = keepAsking(serving)
  const replace = async (old: Member) => {
    const next = await startNext(dsn)
    serving.add(next)
    const before = asking.asked()
    serving.delete(old)
    await old.stop()
    for (const { load } of serving) expect(load.stats().open).toBe(AGENTS)
    await eventually('they are asked on', async () => asking.asked() > before + 20)
    return next
  }
  for (const old of [...serving]) await replace(old)
  // Whoever was the quickest owns by now.
  const owner = await eventually('one of them owns', async () => {
    for (const one of serving) if (await owns(one)) return one
    return null
  })
  const newer = [...serving].filter((one) => one !== owner)
  // A push that is under way and a browser stay while the owner changes again.
  const [browser, slow] = [await openBrowser(newer[0]!), await startSlowAgent(newer[1]!)]
  const yaml = configOf('over a rolling restart')
  const pushedHash = newer[0]!.api.pushConfig(slow.workloadId, yaml)
  const hash = await slow.offered()
  slow.applies(hash)
  expect(await pushedHash).toBe(hash)
  const [resyncs, epoch] = [browser.resyncs(), await epochOf(newer[0]!)]
  await replace(owner)
  await eventually('another one owns', async () => (await epochOf(newer[0]!)) > epoch)
  await eventually('the browser is told to fetch again', async () => browser.resyncs() > resyncs)
  const statusOfPush = async () => {
    const [newest] = await newer[0]!.api.get(`/api/workloads/${slow.workloadId}/configs`)
    return newest.status as string
  }
  expect(await statusOfPush()).not.toBe('applied')
  slow.runs(hash)
  await eventually('the push has ended', async () => (await statusOfPush()) === 'applied')
  expect([browser.isOpen(), slow.isOpen()]).toEqual([true, true])
  expect(await asking.end()).toEqual([])
  for (const { load } of serving) expect(load.stats()).toMatchObject({ open: AGENTS, errors: 0 })
  const [one] = serving
  await eventually('the new owner knows the three that are left, and every agent where it is', async () => {
    const found: { agents: number }[] = (await one!.api.get('/api/system/cluster')).members
    // One of them has the slow one as well.
    return found.length === 3 && found.reduce((sum, { agents }) => sum + agents, 0) === 3 * AGENTS + 1
  })
})
