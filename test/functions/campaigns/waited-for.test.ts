import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CampaignScene, FIRST, SECOND } from '../../support/campaign-scene.ts'
import type { FakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// A campaign waits for a host that is away for as long as it was told to, and not for one that is back: that has its turn.

const database = await useTestDatabase()
const MINUTE = 60_000
const SLOW = { catch_up_seconds: 60, waves: [{ count: 1, dwell_seconds: 300 }, {}] }

let scene: CampaignScene
beforeEach(async () => {
  scene = await CampaignScene.open(database, 3)
})
afterEach(async () => {
  await scene.ctx.close()
  await database.pool.execute(`delete from settings where name = 'freeze'`)
})

async function leave(agent: FakeAgent): Promise<void> {
  agent.goodbye()
  agent.lose()
  await scene.ctx.advance(500)
}
/** A host that has been away for so long that its workload counts as disconnected. */
async function oneAway(): Promise<FakeAgent> {
  const away = scene.agents[2]!
  await leave(away)
  await scene.ctx.advance(200_000)
  return away
}
/** Whoever is in `there` applies what it was offered last, while the campaigns go on. */
async function settle(there: () => readonly FakeAgent[], times = 6): Promise<void> {
  for (let n = 0; n < times; n++) {
    await scene.work(3_000)
    for (const agent of there()) if (agent.offered().length > 0) agent.apply()
  }
}
const everyone = () => scene.agents
const but = (away: FakeAgent) => () => scene.agents.filter((agent) => agent !== away)

describe('a host that was away as the campaign began', () => {
  it('has its turn in a later wave although that comes later than hosts that are away are waited for', async () => {
    const away = await oneAway()
    const id = await scene.start(SLOW)
    await settle(but(away))
    const back = scene.comeBack(away, FIRST)
    await settle(everyone)
    expect(await scene.targetOf(id, back)).toMatchObject({ state: 'offline', is_back: true })
    await scene.work(MINUTE, 2)
    expect(await scene.targetOf(id, back)).toMatchObject({ state: 'offline', is_back: true })
    await scene.work(MINUTE, 4)
    await settle(everyone)
    expect(back.offered()).toEqual([SECOND])
    expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 3 } })
  })

  it('that was back is waited for anew where it leaves again before its turn', async () => {
    const away = await oneAway()
    const id = await scene.start(SLOW)
    await settle(but(away))
    const back = scene.comeBack(away, FIRST)
    await settle(everyone)
    await scene.work(MINUTE, 2)
    await leave(back)
    await scene.work(30_000)
    expect(await scene.targetOf(id, back)).toMatchObject({ state: 'offline' })
    await scene.work(MINUTE)
    expect(await scene.targetOf(id, back)).toMatchObject({ state: 'expired' })
  })

  it('is waited for no longer once it has been away for that long, whatever the campaign does', async () => {
    const away = await oneAway()
    const id = await scene.start(SLOW)
    await settle(but(away))
    await scene.work(MINUTE, 2)
    expect(await scene.targetOf(id, away)).toMatchObject({ state: 'expired' })
  })

  it('is waited for until a freeze ends that it came back in, also once all else is done', async () => {
    const away = await oneAway()
    const id = await scene.start({ catch_up_seconds: 60 })
    await settle(but(away))
    expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 2, offline: 1 } })
    const { token } = await signIn(scene.ctx)
    const until = new Date(scene.ctx.clock.now().getTime() + 60 * MINUTE).toISOString()
    await invoke(scene.ctx, 'PUT /api/freeze', { as: token, body: { reason: 'sale', until } })
    const back = scene.comeBack(away, FIRST)
    await settle(everyone)
    await scene.work(MINUTE, 3)
    expect(await scene.targetOf(id, back)).toMatchObject({ state: 'offline', is_back: true })
    await invoke(scene.ctx, 'DELETE /api/freeze', { as: token })
    await settle(everyone)
    expect(back.offered()).toEqual([SECOND])
    expect(await scene.record(id)).toMatchObject({ counts: { applied: 3 } })
  })
})

describe('a host that is away as its turn comes', () => {
  /** A campaign whose second wave comes later than hosts are waited for, and a host of that which leaves before. */
  async function awayAtItsTurn(): Promise<{ id: string; away: FakeAgent }> {
    const id = await scene.start(SLOW)
    const first = await scene.firstOf(id)
    const away = scene.agents.find((agent) => agent !== first)!
    await settle(everyone)
    await scene.work(MINUTE, 4)
    await leave(away)
    await scene.work(MINUTE, 1)
    await settle(but(away), 3)
    expect(await scene.targetOf(id, away)).toMatchObject({ state: 'offline' })
    return { id, away }
  }

  it('is waited for as long from then on as any other is from the start', async () => {
    const { id, away } = await awayAtItsTurn()
    const back = scene.comeBack(away, FIRST)
    await settle(everyone)
    expect(back.offered().at(-1)).toBe(SECOND)
    expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 3 } })
  })

  it('is waited for as long also by a process that was started since', async () => {
    const { id, away } = await awayAtItsTurn()
    await scene.restart(1_000)
    await scene.ctx.advance(500)
    for (const agent of but(away)()) scene.comeBack(agent, SECOND)
    await scene.work(1_000, 3)
    expect(await scene.targetOf(id, away)).toMatchObject({ state: 'offline' })
    await scene.work(MINUTE, 4)
    expect(await scene.targetOf(id, away)).toMatchObject({ state: 'expired' })
  })
})

it('a host that is back is not given up by a process that was just started, before it could connect to that', async () => {
  const away = await oneAway()
  const id = await scene.start(SLOW)
  await settle(but(away))
  scene.comeBack(away, FIRST)
  await settle(everyone)
  await scene.work(MINUTE, 2)
  await scene.restart(1_000)
  await scene.work(1_000, 3)
  expect(await scene.targetOf(id, away)).toMatchObject({ state: 'offline' })
})
