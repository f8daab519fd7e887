import { afterAll, beforeAll, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { eventually } from '../support/eventually.ts'
import { type Balancer, startBalancer } from './support/balancer.ts'
import { type OneOfSeveral, type Several, startSeveral } from './support/several.ts'
import {
  FAILS,
  runnableConfig,
  type SupervisedAgents,
  startSupervisedAgents,
} from './support/supervised-agents.ts'

const PROCESSES = 3
const AGENTS_EACH = 4
const AGENTS = PROCESSES * AGENTS_EACH
let several: Several
const balancers: Balancer[] = []
/** The agents behind each balancer, which prefers another process than the others do. */
const groups: SupervisedAgents[] = []
let workloadId: string
/** The process that owned when it was last looked at. */
let owner: OneOfSeveral
let looking: NodeJS.Timeout

beforeAll(async () => {
  several = await startSeveral(PROCESSES)
  const ports = several.all.map(({ opampPort }) => opampPort)
  for (const index of ports.keys()) {
    const balancer = await startBalancer([...ports.slice(index), ...ports.slice(0, index)])
    balancers.push(balancer)
    groups.push(startSupervisedAgents(`ws://127.0.0.1:${balancer.port}/v1/opamp`, AGENTS_EACH))
  }
  workloadId = await eventually('every agent is stored', async () => {
    const [found] = await several.rows<{ n: number; id: string }>(
      'select count(*)::int as n, min(workload_id) as id from agent_workloads',
    )
    return found!.n === AGENTS && found!.id
  })
  owner = (await several.owner())!
  looking = setInterval(() => {
    void several.owner().then((found) => {
      owner = found ?? owner
    })
  }, 100)
})
afterAll(async () => {
  clearInterval(looking)
  for (const group of groups) group.end()
  for (const balancer of balancers) await balancer.close()
  await several?.end()
})

const allAgents = () => groups.flatMap(({ agents }) => agents)

/** The hashes of the configs that were offered to each agent, by its uid, the first offer first. */
function offersByAgent(): Map<string, string[]> {
  const offers = new Map<string, string[]>(allAgents().map((agent) => [agent.uidHex(), []]))
  for (const { heard } of groups) for (const { uid, hash } of heard) offers.get(uid)!.push(hash)
  return offers
}

const running = (hash: string) =>
  allAgents().filter(
    ({ collector: { storage } }) => storage.remoteConfigHash === hash && storage.status === 'applied',
  ).length

/** Kill this process, and start it again once it has ended. */
function replace(one: OneOfSeveral): void {
  const dying = one.running()
  process.kill(dying.pid, 'SIGKILL')
  void dying.ended.then(() => one.start())
}

/** Call each of these once, when so many offers of this config have arrived. */
function atOffers(hash: string, acts: Readonly<Record<number, () => void>>): void {
  let arrived = 0
  for (const group of groups)
    group.onOffer = (offered) => {
      if (offered === hash) acts[++arrived]?.()
    }
}

/** Ask a process that runs, and then another, until the answer is one that tells. */
const call = (method: string, path: string, body?: unknown) =>
  eventually(`${method} ${path}`, async () => {
    const one = several.all.find((each) => !each.running().hasEnded())!
    const answer = await one.api.call(method, path, body)
    return answer.status !== 503 && answer
  })

/** Request and approve a config and push it in these stages, or to all. */
async function push(yaml: string, stages?: readonly object[]): Promise<string> {
  const approvals = `/api/workloads/${workloadId}/config/approvals`
  const draft = { draft_yaml: yaml, target_group: 'single', target_env: 'test', comment: 'in stages' }
  const { id } = (await call('POST', approvals, draft)).body
  await call('POST', `${approvals}/${id}/approve`, { comment: 'yes' })
  const pushed = await call('POST', `${approvals}/${id}/push`, { comment: 'go', ...(stages && { stages }) })
  // Where the owner dies between the push and its answer, the second attempt finds it done.
  expect([202, 409]).toContain(pushed.status)
  return configHash(yaml)
}

const rolloutOf = async (hash: string) =>
  (
    await several.rows<{ status: string; members: number }>(
      `select r.status, (select count(*)::int from rollout_members m where m.rollout_id = r.id) as members
       from rollouts r join pushes p using (push_id) where p.config_hash = $1`,
      [hash],
    )
  )[0]

const untilAllRun = (hash: string) =>
  eventually('everybody runs it, and it is stored', async () => {
    const [row] = await several.rows<{ hash: string; status: string; applied: number }>(
      `select w.active_config_hash as hash, p.status, (select count(*)::int from push_targets t
         where t.push_id = p.push_id and t.state = 'applied') as applied
       from workloads w join pushes p on p.push_id = w.active_push_id`,
    )
    return (
      running(hash) === AGENTS && row?.hash === hash && row.status === 'applied' && row.applied === AGENTS
    )
  })

async function expectNothingBroken(): Promise<void> {
  const offered = [...offersByAgent()].flatMap(([uid, hashes]) => hashes.map((hash) => `${uid}/${hash}`))
  const [broken] = await several.rows<Record<string, number>>(
    `select (select count(*)::int from unnest($1::text[]) o where not exists (select from push_targets t
       join pushes p using (push_id) where t.instance_uid || '/' || p.config_hash = o)) as offers_without_a_row,
     (select count(*)::int from push_targets t join rollouts r using (push_id) where t.is_target and not exists
       (select from rollout_members m where m.rollout_id = r.id and m.instance_uid = t.instance_uid)) as no_members,
     (select count(*)::int from push_targets where state = 'failed' and push_id not in
       (select push_id from pushes where status = 'failed')) as given_up`,
    [offered],
  )
  expect(broken).toEqual({ offers_without_a_row: 0, no_members: 0, given_up: 0 })
  expect((await call('GET', '/api/audit/verify')).body).toMatchObject({ valid: true })
}

test('a rollout in stages ends while its owner is killed twice and a front once, and nobody is offered two configs', async () => {
  const before = await push(runnableConfig('before the stages'))
  await untilAllRun(before)
  const yaml = runnableConfig('in stages')
  const next = configHash(yaml)
  atOffers(next, {
    1: () => replace(owner),
    4: () => replace(several.all.find((one) => one !== owner && !one.running().hasEnded())!),
    9: () => replace(owner),
  })
  await push(yaml, [{ count: 2 }, { percentage: 50 }, { percentage: 100 }])
  await untilAllRun(next)
  await eventually('the rollout has succeeded', async () => (await rolloutOf(next))?.status === 'succeeded')
  expect((await rolloutOf(next))!.members).toBe(AGENTS)
  for (const hashes of offersByAgent().values()) {
    // First only the one, then only the other: nobody was led back and forth.
    expect([...new Set(hashes)]).toEqual([before, next])
    expect(hashes.slice(hashes.indexOf(next)).every((hash) => hash === next)).toBe(true)
  }
  await expectNothingBroken()
  await Promise.all(several.all.map((one) => one.untilReady()))
})

test('a first stage that fails while a front and the owner are killed is taken back, and nobody else is offered it', async () => {
  const good = [...offersByAgent().values()][0]!.at(-1)!
  const yaml = runnableConfig(`fails\n${FAILS}`)
  const bad = configHash(yaml)
  atOffers(bad, {
    1: () => replace(several.all.find((one) => one !== owner)!),
    2: () => replace(owner),
  })
  await push(yaml, [{ count: 2 }, { percentage: 100 }])
  await eventually('the rollout has failed', async () => (await rolloutOf(bad))?.status === 'failed')
  await eventually('its members are back', async () => running(good) === AGENTS)
  expect([...offersByAgent().values()].filter((hashes) => hashes.includes(bad)).length).toBe(2)
  await expectNothingBroken()
})
