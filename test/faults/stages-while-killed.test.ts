import { afterAll, beforeAll, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import type { OneOfSeveral } from './support/several.ts'
import { SpreadFleet } from './support/spread-fleet.ts'
import { FAILS, runnableConfig } from './support/supervised-agents.ts'

let fleet: SpreadFleet

beforeAll(async () => {
  fleet = await SpreadFleet.start(3, 4)
})
afterAll(() => fleet?.end())

/** Kill this process, and start it again once it has ended. */
function replace(one: OneOfSeveral): void {
  const dying = one.running()
  process.kill(dying.pid, 'SIGKILL')
  void dying.ended.then(() => one.start())
}

test('a rollout in stages ends while its owner is killed twice and a front once, and nobody is offered two configs', async () => {
  const before = await fleet.push(runnableConfig('before the stages'))
  await fleet.untilAllRun(before)
  const yaml = runnableConfig('in stages')
  const next = configHash(yaml)
  fleet.atOffers(next, {
    1: () => replace(fleet.owner),
    4: () => replace(fleet.front),
    9: () => replace(fleet.owner),
  })
  await fleet.push(yaml, [{ count: 2 }, { percentage: 50 }, { percentage: 100 }])
  await fleet.untilAllRun(next)
  await fleet.untilRollout(next, 'succeeded')
  expect((await fleet.rolloutOf(next))!.members).toBe(fleet.size)
  fleet.expectOneWay(before, next)
  await fleet.expectNothingBroken()
  await Promise.all(fleet.several.all.map((one) => one.untilReady()))
})

test('a first stage that fails while a front and the owner are killed is taken back, and nobody else is offered it', async () => {
  const good = [...fleet.offersByAgent().values()][0]!.at(-1)!
  const yaml = runnableConfig(`fails\n${FAILS}`)
  const bad = configHash(yaml)
  fleet.atOffers(bad, {
    1: () => replace(fleet.front),
    2: () => replace(fleet.owner),
  })
  await fleet.push(yaml, [{ count: 2 }, { percentage: 100 }])
  await fleet.untilRollout(bad, 'failed')
  await fleet.untilRunning(good)
  expect(fleet.offered(bad).length).toBe(2)
  await fleet.expectNothingBroken()
})
