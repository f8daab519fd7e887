import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { configHash } from '../../lib/model/config-hash.ts'
import { eventually } from '../support/eventually.ts'
import { type Balancer, startBalancer } from './support/balancer.ts'
import { type OneOfSeveral, type Several, startSeveral } from './support/several.ts'
import { type StallingProxy, startStallingProxy } from './support/stalling-proxy.ts'
import { runnableConfig, type SupervisedAgents, startSupervisedAgents } from './support/supervised-agents.ts'

const AGENTS = 20
const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

interface Scene {
  several: Several
  owner: OneOfSeveral
  front: OneOfSeveral
  link: StallingProxy
  /** The way by which others reach the front. */
  toFront: StallingProxy
  balancer: Balancer
  agents: SupervisedAgents
  workloadId: string
}

/** An owner and a front that reach each other only through proxies, and agents that are all connected to the front. */
async function start(): Promise<Scene> {
  const ways: StallingProxy[] = []
  const several = await startSeveral(2, {
    async advertise(index, port) {
      const way = await startStallingProxy(port)
      ways[index] = way
      cleanups.push(() => way.close())
      return way.port
    },
  })
  const [link, toFront] = ways as [StallingProxy, StallingProxy]
  cleanups.push(() => several.end())
  const [owner, front] = several.all as [OneOfSeveral, OneOfSeveral]
  const balancer = await startBalancer([front.opampPort, owner.opampPort])
  cleanups.push(() => balancer.close())
  const agents = startSupervisedAgents(`ws://127.0.0.1:${balancer.port}/v1/opamp`, AGENTS)
  cleanups.push(() => agents.end())
  const workloadId = await eventually('every agent is stored', async () => {
    const [found] = await several.rows<{ n: number; id: string }>(
      'select count(*)::int as n, min(workload_id) as id from agent_workloads',
    )
    return found!.n === AGENTS && found!.id
  })
  return { several, owner, front, link, toFront, balancer, agents, workloadId }
}

/** Push a config through the owner, and stop the front's link as the fifth agent receives its offer. */
async function pushAndStall(
  { owner, front, link, agents, workloadId }: Scene,
  mark: string,
): Promise<string> {
  const yaml = runnableConfig(mark)
  let left = 5
  agents.onOffer = (hash) => {
    if (hash === configHash(yaml) && --left === 0) link.stall(front.memberId())
  }
  await owner.api.pushConfig(workloadId, yaml)
  return configHash(yaml)
}

async function expectApplied({ several, agents }: Scene, hash: string): Promise<void> {
  await eventually(
    'everybody has applied it',
    async () => {
      const [push] = await several.rows<{ status: string; applied: number; failed: number }>(
        `select p.status, count(*) filter (where t.state = 'applied')::int as applied,
           count(*) filter (where t.state = 'failed')::int as failed
         from pushes p join push_targets t using (push_id) where p.config_hash = $1 group by p.status`,
        [hash],
      )
      expect(push?.failed).toBe(0)
      return push?.status === 'applied' && push.applied === AGENTS
    },
    { withinMs: 60_000, everyMs: 100 },
  )
  const most = Math.max(
    ...agents.agents.map(
      (agent) => agents.heard.filter((offer) => offer.uid === agent.uidHex() && offer.hash === hash).length,
    ),
  )
  expect(most).toBeLessThanOrEqual(2)
}

test('a link that passes nothing on for a while costs no agent and no push, and those who ask are answered', async () => {
  const scene = await start()
  const { front, link, balancer } = scene
  const heard: string[] = []
  const { body } = await front.api.call('POST', '/api/auth/login', {
    email: 'admin@example.com',
    password: 'correct horse battery',
  })
  const browser = new WebSocket(`${front.url.replace('http', 'ws')}/ws?token=${body.token}`)
  cleanups.push(() => browser.terminate())
  browser.on('message', (data) => heard.push(String(data)))
  await new Promise((resolve) => browser.once('open', resolve))
  const hash = await pushAndStall(scene, 'a link that stalls')

  // Whatever is asked meanwhile is answered in time, also what was delivered to a link that has just fallen silent.
  const read = front.api.call('GET', '/api/workloads')
  const write = front.api.call('PUT', '/api/me/preferences', { theme: 'dark', language: 'en' })
  const answers = await Promise.all([read, write])
  expect(answers.map(({ status }) => status)).toEqual([503, 503])
  expect(answers.map(({ body: { code } }) => code)).toEqual(['no_owner', 'outcome_unknown'])
  const later = await front.api.call('GET', '/api/workloads')
  expect([later.status, later.body.code]).toEqual([503, 'no_owner'])
  expect(balancer.open()).toEqual([AGENTS, 0])
  const before = heard.length
  link.goOn()

  await expectApplied(scene, hash)
  expect(balancer.open()).toEqual([AGENTS, 0])
  await eventually('the browser is told to fetch again', async () =>
    heard.slice(before).some((text) => text.includes('resync')),
  )
  expect(browser.readyState).toBe(WebSocket.OPEN)
  await eventually(
    'the front serves',
    async () => (await front.api.call('GET', '/api/workloads')).status === 200,
  )
})

test('a front that stays cut off from the owner sends its agents elsewhere, and they apply what was pushed', async () => {
  const scene = await start()
  const { front, toFront, balancer } = scene
  const hash = await pushAndStall(scene, 'a link that stays away')
  // Else the owner would leave the fleet to the front, which it could follow.
  await toFront.close()
  await eventually('the front is not ready', async () => (await front.statusOf('/readyz')) === 503)
  expect(balancer.open()).toEqual([AGENTS, 0])
  balancer.skip(0)
  await eventually('its agents are at the owner', async () => balancer.open()[1] === AGENTS)
  expect(balancer.open()).toEqual([0, AGENTS])
  await expectApplied(scene, hash)
})
