import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { findFreePort } from '../../runtime/quickstart/ports.ts'
import { BUNDLE, type Service, startService } from '../e2e/support/service.ts'
import { eventually } from '../support/eventually.ts'
import { type Balancer, startBalancer } from './support/balancer.ts'
import { type Standby, startStandby } from './support/standby.ts'
import { runnableConfig, type SupervisedAgents, startSupervisedAgents } from './support/supervised-agents.ts'

const AGENTS = 20
const STILL_MS = 30_000
const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

interface Pair {
  owner: Service
  front: Standby
  agents: SupervisedAgents
  balancer: Balancer
  workloadId: string
  rows<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
}

const internal = async () => ({
  MUSTER_INTERNAL_ADDR: `127.0.0.1:${await findFreePort('127.0.0.1')}`,
  OPAMP_SHARED_SECRET: '',
})

/**
 * Start an owner and a front, with all agents connected to the front. Agents that are cut off reconnect to the front
 * or, when it does not take connections, to the owner.
 */
async function startPair(): Promise<Pair> {
  const owner = await startService({ args: [BUNDLE, '--edition', 'complete'], env: await internal() })
  cleanups.push(() => owner.stop())
  const frontPort = await findFreePort('127.0.0.1')
  const front = await startStandby(owner.dsn, frontPort, await internal())
  cleanups.push(() => front.process.stop())
  await eventually('the front is ready', async () => (await front.statusOf('/readyz')) === 200, {
    everyMs: 20,
  })
  const balancer = await startBalancer([frontPort, Number(new URL(owner.opampHttpUrl).port)])
  cleanups.push(() => balancer.close())
  const agents = startSupervisedAgents(`ws://127.0.0.1:${balancer.port}/v1/opamp`, AGENTS)
  cleanups.push(() => agents.end())
  const db = new pg.Client(owner.dsn)
  await db.connect()
  cleanups.push(() => db.end())
  const rows = async <Row extends object>(text: string, values: unknown[] = []) =>
    (await db.query<Row>(text, values)).rows
  const workloadId = await eventually('every agent is stored', async () => {
    const [found] = await rows<{ n: number; id: string }>(
      'select count(*)::int as n, min(workload_id) as id from agent_workloads',
    )
    return found!.n === AGENTS && found!.id
  })
  expect(balancer.open()).toEqual([AGENTS, 0])
  return { owner, front, agents, balancer, workloadId, rows }
}

/** Push a config, and call `disturb` as the fifth agent receives its offer. */
async function pushAnd(
  { owner, agents, workloadId }: Pair,
  mark: string,
  disturb: () => void,
): Promise<void> {
  const yaml = runnableConfig(mark)
  let left = 5
  agents.onOffer = (hash) => {
    if (hash === configHash(yaml) && --left === 0) disturb()
  }
  await owner.api.pushConfig(workloadId, yaml)
}

const untilApplied = ({ rows }: Pair, mark: string) =>
  eventually(
    'everybody has applied it',
    async () => {
      const [push] = await rows<{ status: string; applied: number }>(
        `select p.status, count(*) filter (where t.state = 'applied')::int as applied
         from pushes p join push_targets t on t.push_id = p.push_id where p.config_hash = $1 group by p.push_id, p.status`,
        [configHash(runnableConfig(mark))],
      )
      expect(push?.status).not.toBe('failed')
      return push?.status === 'applied' && push.applied === AGENTS
    },
    { withinMs: 90_000, everyMs: 100 },
  )

const noneLost = async ({ rows }: Pair) => {
  const [lost] = await rows<{ n: number }>(
    `select count(*)::int as n from push_targets where state = 'failed'`,
  )
  expect(lost!.n).toBe(0)
}

test('a front that is killed in the middle of a push fails nothing: its agents come back elsewhere and apply it', async () => {
  const pair = await startPair()
  await pushAnd(pair, 'killed front', () => process.kill(pair.front.process.pid, 'SIGKILL'))
  await untilApplied(pair, 'killed front')
  expect(pair.balancer.open()).toEqual([0, AGENTS])
  await noneLost(pair)
})

test('a front that stands still in the middle of a push fails nothing, and its agents apply it when it goes on', async () => {
  const pair = await startPair()
  const { pid } = pair.front.process
  await pushAnd(pair, 'still front', () => {
    process.kill(pid, 'SIGSTOP')
    setTimeout(() => process.kill(pid, 'SIGCONT'), STILL_MS)
  })
  await untilApplied(pair, 'still front')
  expect(pair.balancer.open()).toEqual([AGENTS, 0])
  await noneLost(pair)
})

for (const [name, signal] of [
  ['is killed', 'SIGKILL'],
  ['stands still', 'SIGSTOP'],
  ['hands over in order', 'SIGTERM'],
] as const)
  test(`an owner that ${name} in the middle of a push is followed, and no socket of the front is lost`, async () => {
    const pair = await startPair()
    const { pid } = pair.owner.process()
    const before = pair.agents.heard.length
    let goesOn = Promise.resolve()
    const disturb = () => {
      process.kill(pid, signal)
      if (signal === 'SIGSTOP')
        goesOn = new Promise((resolve) => setTimeout(resolve, STILL_MS)).then(() => {
          process.kill(pid, 'SIGCONT')
        })
    }
    await pushAnd(pair, name, disturb).catch(() => undefined)
    try {
      await untilApplied(pair, name)
      expect(pair.balancer.open()).toEqual([AGENTS, 0])
      // No agent that has reported APPLIED is offered the config again; one that had not may be offered it twice.
      expect(pair.agents.heard.length - before).toBeLessThanOrEqual(2 * AGENTS)
      await noneLost(pair)
      await goesOn
      // What it had in hand for half a minute takes no effect: it finds that another one owns, and ends.
      await eventually('the former owner has ended', async () => pair.owner.process().hasEnded())
      expect(pair.agents.heard.length - before).toBeLessThanOrEqual(2 * AGENTS)
      expect(pair.balancer.open()).toEqual([AGENTS, 0])
      await noneLost(pair)
    } finally {
      await goesOn
    }
  })
