import { afterEach, describe, expect, it } from 'vitest'
import { HEALTHY } from '../../support/agent-report.ts'
import { CampaignScene, FIRST, SECOND, SICK } from '../../support/campaign-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// The service is started again in the middle of a campaign, or its clock jumps.

const database = await useTestDatabase()
let scene: CampaignScene
afterEach(() => scene.ctx.close())

describe('a service that is started again in the middle of a campaign', () => {
  it.each([0, 60])(
    'takes nobody for away who has not come back yet, and keeps the limits (last dwell %i s)',
    async (dwell) => {
      scene = await CampaignScene.open(database, 8)
      const id = await scene.approved({
        waves: [{ count: 1, dwell_seconds: 60 }, { dwell_seconds: dwell }],
        limits: { failed: 1 },
      })
      const canary = await scene.firstOf(id)
      expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
      await scene.work()
      canary.apply()
      await scene.work(1_000, 2)
      await scene.restart(61_000)
      await scene.work(200, 3)
      expect(await scene.record(id)).toMatchObject({
        status: 'running',
        wave: 0,
        counts: { waiting: 7, applied: 1 },
      })
      // The wave of all others begins while none of them is back.
      scene.comeBack(canary, SECOND)
      await scene.work(31_000, 3)
      expect(await scene.record(id)).toMatchObject({ status: 'running', wave: 1, counts: { waiting: 7 } })
      for (const agent of [...scene.agents].filter(({ uid }) => uid !== canary.uid)) {
        scene.comeBack(agent, FIRST)
        await scene.work(1_000)
        for (const one of scene.offered(SECOND)) if (one.uid !== canary.uid) one.fail('unknown processor')
        await scene.work(2_000)
        for (const one of scene.offered(FIRST)) one.apply()
      }
      await scene.work(5_000, 5)
      const { status, halt, counts } = await scene.record(id)
      expect({ status, gate: halt?.gate, failed: (counts as Record<string, number>)['failed'] }).toEqual({
        status: 'halted',
        gate: 'failed',
        failed: 2,
      })
    },
  )

  it('halts for the canary that died while it was down', async () => {
    scene = await CampaignScene.open(database, 6)
    const id = await scene.approved({ waves: [{ count: 1, dwell_seconds: 60 }, {}] })
    const canary = await scene.firstOf(id)
    expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
    await scene.work()
    canary.apply()
    await scene.work(1_000, 2)
    await scene.restart(61_000)
    for (const agent of [...scene.agents]) if (agent.uid !== canary.uid) scene.comeBack(agent, FIRST)
    await scene.work(10_000, 15)
    const { status, halt } = await scene.record(id)
    expect({ status, gate: halt?.gate }).toEqual({ status: 'halted', gate: 'unhealthy' })
    expect(scene.offered(SECOND).map(({ uid }) => uid)).toEqual([canary.uid])
  })

  it.each([
    ['sick', { status: 'halted', wave: 0 }],
    ['well', { status: 'running', wave: 1 }],
    ['silent', { status: 'running', wave: 1 }],
  ])('waits, a minute at most, to hear how the canary is that came back, here %s', async (how, after) => {
    scene = await CampaignScene.open(database, 4)
    const id = await scene.approved({ waves: [{ count: 1, dwell_seconds: 10 }, {}] })
    const canary = await scene.firstOf(id)
    expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
    await scene.work()
    canary.apply()
    await scene.work(1_000, 2)
    await scene.restart(1_000)
    for (const agent of [...scene.agents]) if (agent.uid !== canary.uid) scene.comeBack(agent, FIRST)
    const back = scene.comeBack(canary, SECOND, {})
    await scene.work(12_000, 3)
    expect(await scene.record(id)).toMatchObject({ status: 'running', wave: 0 })
    if (how !== 'silent') back.say({ health: how === 'sick' ? SICK : HEALTHY })
    await scene.work(how === 'silent' ? 30_000 : 2_000, 2)
    expect(await scene.record(id)).toMatchObject(after)
  })

  it.each([
    ['after that', true],
    ['without that', false],
  ])(
    'waits that minute once where the canary comes and goes and does not say how it is, %s',
    async (_, isStarted) => {
      scene = await CampaignScene.open(database, 4)
      const id = await scene.approved({ waves: [{ count: 1, dwell_seconds: 10 }, {}] })
      let canary = await scene.firstOf(id)
      expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
      await scene.work()
      canary.apply()
      await scene.work(1_000, 2)
      if (isStarted) {
        await scene.restart(1_000)
        for (const agent of [...scene.agents]) if (agent.uid !== canary.uid) scene.comeBack(agent, FIRST)
      } else {
        canary.say({ health: HEALTHY })
        canary.lose()
        await scene.work(1_000)
      }
      canary = scene.comeBack(canary, SECOND, {})
      const goAndComeBack = async () => {
        await scene.work(8_000, 2)
        canary.lose()
        await scene.work(1_000)
        canary = scene.comeBack(canary, SECOND, {})
      }
      for (let times = 0; times < 3; times++) await goAndComeBack()
      expect(await scene.record(id)).toMatchObject({ status: 'running', wave: 0 })
      await goAndComeBack()
      await scene.work(1_000, 2)
      expect(await scene.record(id)).toMatchObject({ status: 'running', wave: 1 })
    },
  )

  it('waits ten minutes from its own start for who was started before', async () => {
    scene = await CampaignScene.open(database, 4)
    const id = await scene.start()
    await scene.work()
    expect((await scene.record(id)).counts).toEqual({ started: 4 })
    await scene.sleep(15 * 60_000)
    expect((await scene.record(id)).counts).toEqual({ started: 4 })
    for (const agent of scene.agents) agent.apply()
    await scene.work(1_000, 3)
    expect((await scene.record(id)).counts).toEqual({ applied: 4 })
  })

  it('gives up nobody who is to be taken back before it is known who is away', async () => {
    scene = await CampaignScene.open(database, 1)
    const id = await scene.start({ catch_up_seconds: 0 })
    await scene.work()
    const agent = scene.agents[0]!
    agent.apply()
    await scene.work(1_000, 2)
    expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await scene.restart(20 * 60_000)
    await scene.work(1_000, 3)
    const back = scene.comeBack(agent, SECOND)
    await scene.work(3_000, 2)
    expect(back.offered()).toEqual([FIRST])
    back.apply()
    await scene.work(1_000, 2)
    expect(await scene.targetOf(id, back)).toMatchObject({ state: 'rolled_back' })
  })

  it('waits as long for who is being taken back', async () => {
    scene = await CampaignScene.open(database, 4)
    const id = await scene.start()
    await scene.work()
    for (const agent of scene.agents) agent.apply()
    await scene.work(1_000, 2)
    expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await scene.work(300, 2)
    expect((await scene.record(id)).counts).toEqual({ rolling_back: 4 })
    await scene.sleep(15 * 60_000)
    for (const agent of scene.agents) agent.apply()
    await scene.work(1_000, 3)
    expect(await scene.record(id)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 4 } })
  })
})

it('watches a wave as long as the plan says, also when the wall clock is set forward', async () => {
  scene = await CampaignScene.open(database, 4)
  const id = await scene.start({ waves: [{ count: 1, dwell_seconds: 3_600 }, {}] })
  await scene.work()
  for (const agent of scene.offered(SECOND)) agent.apply()
  await scene.work(1_000, 3)
  const { clock } = scene.ctx
  const real = clock.now.bind(clock)
  clock.now = () => new Date(real().getTime() + 2 * 3_600_000)
  await scene.work(1_000, 2)
  clock.now = real
  expect(await scene.record(id)).toMatchObject({ status: 'running', wave: 0 })
})

it('is planned once it is known who is away, where the service has just started', async () => {
  scene = await CampaignScene.open(database, 4)
  await scene.restart(5_000)
  const id = await scene.drafted()
  expect((await scene.call('POST', `/${id}/plan`)).status).toBe(202)
  const isPlanned = () => scene.ctx.campaigns.planner.progress(id) === null
  await scene.work(3_000, 3)
  for (const agent of scene.agents.slice(1)) scene.comeBack(agent, FIRST)
  await scene.work(3_000, 3)
  expect(isPlanned()).toBe(false)
  await scene.work(200_000)
  await expect.poll(isPlanned).toBe(true)
  expect((await scene.record(id)).plan?.verdicts).toEqual({ changes: 3, offline: 1 })
})
