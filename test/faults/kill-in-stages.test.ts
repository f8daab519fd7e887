import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { eventually } from '../support/eventually.ts'
import { COMMITS, expectNoneOf, KillableFleet } from './support/killable-fleet.ts'
import { FAILS, runnableConfig } from './support/supervised-agents.ts'

const AGENTS = 4
/** A first stage of one member and a second of all, without a time to watch. */
const STAGES = [{ count: 1 }, { percentage: 100 }]
/** A first stage of one member that is watched for longer than a test takes, then all. */
const WATCHED = [{ count: 1, dwell_seconds: 3_600 }, { percentage: 100 }]
/** A first stage of two members, then all. */
const TWO_FIRST = [{ count: 2 }, { percentage: 100 }]

let fleet: KillableFleet
/** The hash of the config that all agents run between the tests. */
let good: string

beforeAll(async () => {
  fleet = await KillableFleet.start(AGENTS)
  good = fleet.firstHash
})
afterAll(() => fleet?.end())

interface StoredRollout {
  id: string
  status: string
  stage_index: number
  members: number
  phase: string
}

async function rolloutOf(hash: string): Promise<StoredRollout | null> {
  const [found] = await fleet.rows<StoredRollout>(
    `select r.id, r.status, r.stage_index, p.phase,
       (select count(*)::int from rollout_members m where m.rollout_id = r.id) as members
     from rollouts r join pushes p using (push_id) where p.config_hash = $1`,
    [hash],
  )
  return found ?? null
}

const untilRollout = (hash: string, status: string) =>
  eventually(`the rollout is ${status}`, async () => {
    const found = await rolloutOf(hash)
    return found?.status === status && found
  })

/** The uids of the agents that were ever offered a config. */
const offeredTo = (hash: string) =>
  new Set(fleet.agents.heard.filter((heard) => heard.hash === hash).map(({ uid }) => uid))

const decide = async (hash: string, what: 'promote' | 'abort' | 'rollback') =>
  fleet.post(`/config/canary/${(await rolloutOf(hash))!.id}/${what}`)

/** Wait until the rollout of this config has succeeded: all agents run it, and each was a member once. */
async function untilSucceeded(hash: string): Promise<void> {
  await fleet.untilSettled(hash)
  expect(await untilRollout(hash, 'succeeded')).toMatchObject({ members: AGENTS, phase: 'applied' })
  await expectNothingBroken()
  good = hash
}

async function expectNothingBroken(): Promise<void> {
  expectNoneOf({
    ...(await fleet.countBroken()),
    'targets of a rollout that are no members': await fleet.count(
      `push_targets t join rollouts r using (push_id) where t.is_target and not exists
         (select from rollout_members m where m.rollout_id = r.id and m.instance_uid = t.instance_uid)`,
    ),
    'members that are no targets': await fleet.count(
      `rollout_members m join rollouts r on r.id = m.rollout_id where not exists
         (select from push_targets t where t.push_id = r.push_id and t.instance_uid = m.instance_uid)`,
    ),
    'rollouts that ended and are still assigned': await fleet.count(
      `workloads w join rollouts r on r.push_id = w.rollout_push_id
         where r.status not in ('running', 'halted', 'aborted')`,
    ),
    'rollouts that did not end and are not assigned': await fleet.count(
      `rollouts r where r.status in ('running', 'halted') and not exists
         (select from workloads w where w.rollout_push_id = r.push_id)`,
    ),
  })
}

/** Wait until a member runs this config and the service knows it, then let the member report that it is unhealthy. */
async function sickenMember(hash: string): Promise<void> {
  const uid = await eventually('the member runs it', async () => fleet.running(hash)[0])
  const member = fleet.agents.agents.find((agent) => agent.uidHex() === uid)!
  const applied = `push_targets t join pushes p using (push_id) where p.config_hash = $1 and t.state = 'applied'`
  await eventually('it is known that it does', async () => (await fleet.count(applied, [hash])) > 0)
  member.collector.setHealthy(false)
}

/** Start a rollout whose first stage is halted because its only member becomes unhealthy; returns the config's hash. */
async function halted(mark: string): Promise<string> {
  const yaml = runnableConfig(mark)
  const hash = configHash(yaml)
  expect((await fleet.push(await fleet.approved(yaml), WATCHED)).status).toBe(202)
  await sickenMember(hash)
  await untilRollout(hash, 'halted')
  return hash
}

/** Let all agents be healthy again and push a new config to them, which is `good` from then on. */
async function recover(): Promise<void> {
  for (const { collector } of fleet.agents.agents) collector.setHealthy(true)
  const yaml = runnableConfig(`after ${good}`)
  expect((await fleet.push(await fleet.approved(yaml))).status).toBe(202)
  good = configHash(yaml)
  await fleet.untilSettled(good)
}

describe.each(COMMITS)('killed %s the commit', (when, verdict) => {
  const isDone = verdict === 'kill-after'

  test('of the start: it is there with its first stage, or not at all', async () => {
    const yaml = runnableConfig(`start, ${when}`)
    const hash = configHash(yaml)
    const id = await fleet.approved(yaml)
    fleet.killAtCommit('push', verdict)
    expect(await fleet.afterTheKill(fleet.push(id, STAGES))).toBeNull()
    expect(fleet.offeredUntilDeath).toEqual([])
    expect((await rolloutOf(hash)) !== null).toBe(isDone)
    if (!isDone) expect((await fleet.push(id, STAGES)).status).toBe(202)
    await untilSucceeded(hash)
  })

  test('of the word that a stage has converged', async () => {
    const yaml = runnableConfig(`converged, ${when}`)
    const hash = configHash(yaml)
    const id = await fleet.approved(yaml)
    fleet.killAtCommit('rollout.converge', verdict)
    await fleet.afterTheKill(fleet.push(id, STAGES))
    expect(fleet.offeredUntilDeath).toEqual([hash])
    await untilSucceeded(hash)
  })

  test('of the next stage: nobody is offered it whose membership is not stored', async () => {
    const yaml = runnableConfig(`next stage, ${when}`)
    const hash = configHash(yaml)
    const id = await fleet.approved(yaml)
    fleet.killAtCommit('rollout.advance', verdict)
    await fleet.afterTheKill(fleet.push(id, STAGES))
    expect(fleet.offeredUntilDeath).toEqual([hash])
    await untilSucceeded(hash)
  })

  test('of the end: the config becomes the active one once', async () => {
    const yaml = runnableConfig(`end, ${when}`)
    const hash = configHash(yaml)
    const id = await fleet.approved(yaml)
    fleet.killAtCommit('rollout.complete', verdict)
    await fleet.afterTheKill(fleet.push(id, STAGES))
    await untilSucceeded(hash)
    expect(
      await fleet.count(`audit_events where action = 'config.canary.promote' and config_hash = $1`, [hash]),
    ).toBe(1)
  })

  test('of a failure in the first stage: its members go back, and nobody else ever had it', async () => {
    const yaml = runnableConfig(`fails, ${when}\n${FAILS}`)
    const hash = configHash(yaml)
    const id = await fleet.approved(yaml)
    fleet.killAtCommit('rollback.automatic', verdict)
    await fleet.afterTheKill(fleet.push(id, TWO_FIRST))
    await eventually('its members are back', async () => fleet.running(good).length === AGENTS)
    expect(await untilRollout(hash, 'failed')).toMatchObject({ members: 2, phase: 'failed' })
    expect(offeredTo(hash).size).toBe(2)
    expect(await fleet.count('workloads where active_config_hash = $1', [good])).toBe(1)
    await expectNothingBroken()
  })

  test('of a halt: it is halted all the same, and goes no further', async () => {
    const yaml = runnableConfig(`halt, ${when}`)
    const hash = configHash(yaml)
    expect((await fleet.push(await fleet.approved(yaml), WATCHED)).status).toBe(202)
    const watched = `rollouts r join pushes p using (push_id)
      where p.config_hash = $1 and r.progress -> 0 ->> 'convergedAt' is not null`
    await eventually('its stage is watched', async () => (await fleet.count(watched, [hash])) > 0)
    fleet.killAtCommit('rollout.halt', verdict)
    const dying = fleet.afterTheKill(null)
    await sickenMember(hash)
    await dying
    expect(await untilRollout(hash, 'halted')).toMatchObject({ members: 1, stage_index: 0 })
    expect(offeredTo(hash).size).toBe(1)
    await expectNothingBroken()
    await recover()
  })

  test('of an operator’s word to go on', async () => {
    const hash = await halted(`go on, ${when}`)
    fleet.killAtCommit('rollout.continue', verdict)
    expect(await fleet.afterTheKill(decide(hash, 'promote'))).toBeNull()
    expect(await rolloutOf(hash)).toMatchObject({ status: isDone ? 'running' : 'halted', members: 1 })
    await expectNothingBroken()
    await recover()
  })

  test('of an operator’s word to stop there: its members keep it, nobody else gets it', async () => {
    const hash = await halted(`abort, ${when}`)
    fleet.killAtCommit('rollout.abort', verdict)
    expect(await fleet.afterTheKill(decide(hash, 'abort'))).toBeNull()
    expect((await rolloutOf(hash))!.status).toBe(isDone ? 'aborted' : 'halted')
    if (!isDone) expect((await decide(hash, 'abort')).status).toBe(200)
    expect(await untilRollout(hash, 'aborted')).toMatchObject({ members: 1, phase: 'aborted' })
    expect([offeredTo(hash).size, fleet.running(hash).length]).toEqual([1, 1])
    await expectNothingBroken()
    await recover()
  })

  test('of an operator’s word to go back', async () => {
    const hash = await halted(`back, ${when}`)
    fleet.killAtCommit('rollback.rollout', verdict)
    expect(await fleet.afterTheKill(decide(hash, 'rollback'))).toBeNull()
    expect((await rolloutOf(hash))!.status).toBe(isDone ? 'rollback_started' : 'halted')
    if (!isDone) expect((await decide(hash, 'rollback')).status).toBe(202)
    await eventually('its member is back', async () => fleet.running(good).length === AGENTS)
    expect(offeredTo(hash).size).toBe(1)
    await expectNothingBroken()
  })
})

describe('killed as an offer arrives', () => {
  // The first offer goes to the member of the first stage, the others belong to the last stage.
  test.each([1, 2, AGENTS])('number %i of a rollout', async (n) => {
    const yaml = runnableConfig(`offer ${n}`)
    const hash = configHash(yaml)
    const id = await fleet.approved(yaml)
    fleet.killAtOffer(hash, n)
    await fleet.afterTheKill(fleet.push(id, STAGES))
    await untilSucceeded(hash)
  })

  test('of the way back after a failure', async () => {
    const yaml = runnableConfig(`fails, offer\n${FAILS}`)
    const hash = configHash(yaml)
    const id = await fleet.approved(yaml)
    fleet.killAtOffer(good, 1)
    await fleet.afterTheKill(fleet.push(id, TWO_FIRST))
    await eventually('its members are back', async () => fleet.running(good).length === AGENTS)
    await untilRollout(hash, 'failed')
    expect(offeredTo(hash).size).toBe(2)
    await expectNothingBroken()
  })
})
