import { afterAll, beforeAll, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { eventually } from '../support/eventually.ts'
import type { OneOfSeveral } from './support/several.ts'
import { SpreadFleet } from './support/spread-fleet.ts'
import { runnableConfig } from './support/supervised-agents.ts'

/** Longer than it takes others to replace an owner that stands still. */
const STILL_MS = 12_000
let fleet: SpreadFleet
/** What lets each process that stands still go on. */
const still = new Map<OneOfSeveral, () => void>()
/** The test is over: a process that ends is not started again. */
let isOver = false

beforeAll(async () => {
  fleet = await SpreadFleet.start(3, 4)
})
afterAll(async () => {
  isOver = true
  for (const goOn of still.values()) goOn()
  await fleet?.end()
})

/** Let this process stand still until the function that is returned lets it go on. */
function stopStill(one: OneOfSeveral): () => void {
  const { pid } = one.running()
  process.kill(pid, 'SIGSTOP')
  const goOn = () => {
    if (still.get(one) !== goOn) return
    still.delete(one)
    process.kill(pid, 'SIGCONT')
  }
  still.set(one, goOn)
  return goOn
}

/** Let this process stand still for a while; one that was the owner ends when it goes on, and is started again. */
function stopForAWhile(one: OneOfSeveral): void {
  const goOn = stopStill(one)
  const stopped = one.running()
  void stopped.ended.then(() => isOver || one.start())
  setTimeout(goOn, STILL_MS)
}

const untilNoneStandsStill = () =>
  eventually('each goes on', async () => still.size === 0, { withinMs: 2 * STILL_MS })

test('a rollout in stages ends while its owner stands still twice and a front once, and nobody is offered two configs', {
  timeout: 240_000,
}, async () => {
  const before = await fleet.push(runnableConfig('before the stages'))
  await fleet.untilAllRun(before)
  const yaml = runnableConfig('in stages')
  const next = configHash(yaml)
  fleet.atOffers(next, {
    1: () => stopForAWhile(fleet.owner),
    4: () => stopForAWhile(fleet.front),
    9: () => stopForAWhile(fleet.owner),
  })
  await fleet.push(yaml, [{ count: 2 }, { percentage: 50 }, { percentage: 100 }])
  await fleet.untilAllRun(next)
  await fleet.untilRollout(next, 'succeeded')
  await untilNoneStandsStill()
  expect((await fleet.rolloutOf(next))!.members).toBe(fleet.size)
  fleet.expectOneWay(before, next)
  await fleet.expectNothingBroken()
  await Promise.all(fleet.several.all.map((one) => one.untilReady()))
})

/** All that the database holds of the push of this config and its stages. */
const storedOf = async (hash: string) => [
  ...(await fleet.several.rows('select * from pushes where config_hash = $1', [hash])),
  ...(await fleet.several.rows(
    'select t.* from push_targets t join pushes p using (push_id) where config_hash = $1 order by instance_uid',
    [hash],
  )),
  ...(await fleet.several.rows(
    `select r.*, m.instance_uid, m.stage from rollout_members m join rollouts r on r.id = m.rollout_id
       join pushes p using (push_id) where p.config_hash = $1 order by m.instance_uid`,
    [hash],
  )),
]

test('an owner that stood still while its rollout was taken back offers nobody the next stage when it goes on, and writes nothing', {
  timeout: 240_000,
}, async () => {
  const good = [...fleet.offersByAgent().values()][0]!.at(-1)!
  const yaml = runnableConfig('taken back meanwhile')
  const next = configHash(yaml)
  const former = fleet.owner
  const leaving = former.running()
  let goOn = () => {}
  // What its agents and fronts say from here on, it reads only when it goes on.
  fleet.atOffers(next, {
    2: () => {
      goOn = stopStill(former)
    },
  })
  await fleet.push(yaml, [{ count: 2, dwell_seconds: 3_600 }, { percentage: 100 }])
  await eventually('another one owns', async () => fleet.owner !== former, { withinMs: 20_000 })
  const { id } = (await fleet.rolloutOf(next))!
  const path = `/api/workloads/${fleet.workloadId}/config/canary/${id}/rollback`
  expect((await fleet.call('POST', path, undefined, former)).status).toBe(202)
  await fleet.untilRollout(next, 'rollback_started')
  const reached = fleet.agentsBeside(former)
  await eventually('whoever is reached is back', async () => reached.every((one) => fleet.runs(one, good)))
  const before = await storedOf(next)

  goOn()
  await leaving.ended
  former.start()
  await former.untilReady()
  await fleet.untilRunning(good)
  expect(fleet.offered(next).length).toBe(2)
  expect(await storedOf(next)).toEqual(before)
  for (const hashes of fleet.offersByAgent().values()) expect(hashes.at(-1)).toBe(good)
  await fleet.expectNothingBroken()
})
