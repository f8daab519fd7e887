import { afterEach, describe, expect, it } from 'vitest'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import { CampaignScene, FIRST, SECOND, SICK } from '../../support/campaign-scene.ts'
import { type FakeAgent, fakeAgent } from '../../support/fleet.ts'
import { invoke } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: CampaignScene
afterEach(() => scene.ctx.close())

async function listAlerts() {
  await scene.ctx.alerts.run(new AbortController().signal)
  const { json } = await invoke(scene.ctx, 'GET /api/alerts', { as: scene.editor.token })
  return (json as AlertRecord[]).map(({ rule, workload_id: of }) => ({ rule, of }))
}

/** A campaign over three hosts that is in this status, and the host that applied its change first. */
async function bring(status: 'done' | 'paused' | 'aborted') {
  scene = await CampaignScene.open(database, 3)
  const id = await scene.approved({
    waves: status === 'done' ? [{}] : [{ count: 1, dwell_seconds: 3600 }, {}],
  })
  const first = await scene.firstOf(id)
  expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
  await scene.work()
  if (status === 'done') for (const agent of scene.agents) agent.apply()
  else first.apply()
  await scene.work(1_000, 3)
  if (status !== 'done')
    expect((await scene.call('POST', `/${id}/${status === 'paused' ? 'pause' : 'abort'}`)).status).toBe(200)
  await scene.work(30_000, 3)
  expect((await scene.record(id)).status).toBe(status)
  expect(await listAlerts()).toEqual([])
  return { id, first }
}

/** It fails of the change, and takes what it ran before. */
async function fail(first: CampaignScene['agents'][number]) {
  first.fail('exporter cannot start: no such host', SECOND)
  await scene.work(1_000, 2)
  first.apply(FIRST)
  await scene.work(20_000, 4)
}

describe('a workload that applied the change of a campaign and fails of it', () => {
  it.each(['done', 'paused'] as const)(
    'after that is %s has failed there too, and its alert says so',
    async (status) => {
      const { id, first } = await bring(status)
      await fail(first)
      expect(await listAlerts()).toEqual([{ rule: 'campaign_failures', of: '' }])
      expect(await scene.targetOf(id, first)).toMatchObject({ state: 'failed', cause: expect.any(String) })
      expect((await scene.record(id)).counts).toMatchObject({ failed: 1 })
    },
  )

  it('after that was aborted is told of by itself: the campaign answers for it no longer', async () => {
    const { id, first } = await bring('aborted')
    await fail(first)
    expect(await listAlerts()).toEqual([{ rule: 'push_failed', of: first.workloadId }])
    expect((await scene.targetOf(id, first)).state).toBe('applied')
  })
})

/** A campaign over three hosts, the first of which left before it answered, until nobody waits for that any more. */
async function leave() {
  scene = await CampaignScene.open(database, 3)
  const id = await scene.start({ limits: { silent: 1 } })
  const first = await scene.firstOf(id)
  await scene.work()
  first.lose()
  for (const agent of scene.agents) if (agent !== first) agent.apply()
  scene.ctx.clock.advance(10 * 60_000)
  await scene.work(2_000, 4)
  expect(await scene.targetOf(id, first)).toMatchObject({ state: 'no_answer' })
  return { id, first }
}

describe('a workload that did not answer the change of a campaign in time, and fails of it as it comes back', () => {
  it('has failed in its campaign as well, and the alert of that says so', async () => {
    const { id, first } = await leave()
    expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 2, no_answer: 1 } })
    const back = scene.comeBack(first, FIRST)
    await scene.work(1_000, 3)
    expect(back.offered().at(-1)).toBe(SECOND)
    await fail(back)
    expect(await scene.targetOf(id, first)).toMatchObject({ state: 'failed', cause: expect.any(String) })
    expect((await scene.record(id)).counts).toMatchObject({ applied: 2, failed: 1 })
    expect(await listAlerts()).toEqual([{ rule: 'campaign_failures', of: '' }])
  })
})

describe('a workload that failed of a campaign that is taken back', () => {
  /** A campaign that takes a host over, or changes one, of which the host fails. */
  async function failAtOnce(hosts: number) {
    scene = await CampaignScene.open(database, hosts)
    if (hosts === 0) scene.agents.push(fakeAgent(scene.ctx.fleet, { host: 'vm-1' }))
    await scene.ctx.advance(300)
    const change = { kind: 'text', yaml: configYaml(2), takeover: hosts === 0 }
    const id = await scene.start({ change, limits: { failed: 1 } })
    await scene.work()
    const [agent] = scene.agents as [FakeAgent]
    agent.fail('exporter cannot start: no such host', SECOND)
    await scene.work(1_000, 2)
    if (hosts > 0) agent.apply(FIRST)
    await scene.work(20_000, 3)
    expect((await scene.record(id)).counts).toEqual({ failed: 1 })
    expect(await listAlerts()).toEqual([{ rule: 'campaign_failures', of: '' }])
    expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await scene.work(2_000, 4)
    expect(await scene.record(id)).toMatchObject({ status: 'rolled_back', counts: { failed: 1 } })
    await scene.work(20_000, 2)
    return agent
  }

  it('tells of it by itself where there was nothing that it could go back to', async () => {
    const { workloadId } = await failAtOnce(0)
    expect(await listAlerts()).toEqual([{ rule: 'push_failed', of: workloadId }])
  })

  it('does not where it went back by itself: whoever takes the campaign back knows, and nothing is left', async () => {
    await failAtOnce(1)
    expect(await listAlerts()).toEqual([])
  })
})

describe('the alert of the failures of a campaign', () => {
  async function listFailures() {
    await scene.ctx.alerts.run(new AbortController().signal)
    const { json } = await invoke(scene.ctx, 'GET /api/alerts', { as: scene.editor.token })
    return (json as AlertRecord[])
      .filter(({ rule }) => rule === 'campaign_failures')
      .map(({ id, message }) => ({ id, count: /failed on (\d+) of/.exec(message)?.[1] }))
  }
  const resolve = async (id: string) =>
    expect(
      (
        await invoke(scene.ctx, `POST /api/alerts/${id}/resolve`, {
          as: scene.editor.token,
          body: { reason: 'known' },
        })
      ).status,
    ).toBe(200)

  it.each(['is open', 'was resolved'])(
    'that is done is told anew with the next one, where it %s',
    async (how) => {
      const { first } = await bring('done')
      await fail(first)
      const [one] = await listFailures()
      expect(one).toMatchObject({ count: '1' })
      if (how === 'was resolved') await resolve(one!.id)
      await scene.work(60_000)
      await fail(scene.agents.find((agent) => agent !== first)!)
      const [two, ...more] = await listFailures()
      expect({ two, more }).toEqual({ two: { id: expect.any(String), count: '2' }, more: [] })
      expect(two!.id).not.toBe(one!.id)
    },
  )

  it.each(['is open', 'was resolved'])(
    'that is paused is put right with the next one, and told anew only where somebody resolved it: it %s',
    async (how) => {
      scene = await CampaignScene.open(database, 3)
      const id = await scene.start({ waves: [{ count: 2, dwell_seconds: 3_600 }, {}], limits: { failed: 2 } })
      await scene.work()
      const [first, second] = scene.offered(SECOND) as [FakeAgent, FakeAgent]
      for (const agent of [first, second]) agent.apply()
      await scene.work(1_000, 3)
      expect((await scene.call('POST', `/${id}/pause`)).status).toBe(200)
      await fail(first)
      const [one] = await listFailures()
      expect(one).toMatchObject({ count: '1' })
      if (how === 'was resolved') await resolve(one!.id)
      await fail(second)
      const [two, ...more] = await listFailures()
      expect({ two, more }).toEqual({ two: { id: expect.any(String), count: '2' }, more: [] })
      expect(two!.id === one!.id).toBe(how === 'is open')
    },
  )

  it('stays the same one where the campaign halts for something else, and goes on again', async () => {
    scene = await CampaignScene.open(database, 3)
    const id = await scene.start({ waves: [{ count: 2 }, {}], limits: { failed: 2, silent: 0 } })
    await scene.work()
    const [failing, silent] = scene.offered(SECOND) as [FakeAgent, FakeAgent]
    silent.lose()
    failing.fail('exporter cannot start: no such host', SECOND)
    await scene.work(1_000, 2)
    failing.apply(FIRST)
    await scene.work(1_000, 2)
    const before = await listFailures()
    expect(before).toMatchObject([{ count: '1' }])
    scene.ctx.clock.advance(10 * 60_000)
    await scene.work(2_000, 4)
    expect(await scene.record(id)).toMatchObject({ status: 'halted', halt: { gate: 'silent' } })
    expect(await listFailures()).toEqual(before)
    const on = await scene.call('POST', `/${id}/continue`, { comment: 'on', limits: { silent: 1 } })
    expect(on.status).toBe(200)
    expect(await listFailures()).toEqual(before)
  })

  it.each(['is open', 'was resolved'])(
    'that is done says what is left where the stages of the newest are let go on, and is not told anew: it %s',
    async (how) => {
      scene = await CampaignScene.open(database, 1)
      const { fleet } = scene.ctx
      const pods = Array.from({ length: 30 }, (_, n) => fakeAgent(fleet, { host: 'big', pod: `pod-${n}` }))
      await scene.ctx.advance(300)
      const hosts = { key: 'identity/host.name', operator: 'In', values: ['vm-*', 'big'] }
      const id = await scene.start({
        change: { kind: 'text', yaml: configYaml(2), takeover: true },
        scope: { selector: { match_expressions: [hosts] } },
        limits: { failed: 2 },
      })
      await scene.work(300, 2)
      await fail(scene.agents[0]!)
      for (const pod of pods) if (pod.offered().at(-1) === SECOND) pod.apply()
      await scene.work(2_000)
      pods.find((pod) => pod.offered().at(-1) === SECOND)!.say({ health: SICK })
      await scene.work(2_000, 4)
      expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { failed: 2 } })
      const [both] = await listFailures()
      expect(both).toMatchObject({ count: '2' })
      if (how === 'was resolved') await resolve(both!.id)

      const { workloadId } = pods[0]!
      const { id: rolloutId } = fleet.workload(workloadId)!.rollout!.stored
      const promote = `POST /api/workloads/${workloadId}/config/canary/${rolloutId}/promote`
      const on = await invoke(scene.ctx, promote, { as: scene.editor.token, body: { comment: 'it may be' } })
      expect(on.status).toBe(202)
      await scene.work(40_000, 2)
      expect((await scene.record(id)).counts).toEqual({ failed: 1, started: 1 })
      expect(await listFailures()).toEqual(how === 'is open' ? [{ id: both!.id, count: '1' }] : [])
    },
  )
})
