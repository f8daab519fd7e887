import { afterEach, describe, expect, it } from 'vitest'
import { hasOpenPush } from '../../../lib/fleet/pushes/find-obstacle.ts'
import { CampaignScene, FIRST, SECOND } from '../../support/campaign-scene.ts'
import { type FakeAgent, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { keepInGit } from '../../support/kept-in-git.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// Every campaign ends: what nobody can lift in it keeps a target amid its stages for ten minutes, and not for ever.

const database = await useTestDatabase()
const MINUTE_MS = 60_000
let scene: CampaignScene
let pods: FakeAgent[]
afterEach(() => scene.ctx.close())

const workloadId = () => pods[0]!.workloadId
const has = (hash: string) => pods.filter((pod) => pod.offered().at(-1) === hash).length

async function asAdmin(request: string, body: object): Promise<void> {
  const { token } = await signIn(scene.ctx)
  const { status, json } = await invoke(scene.ctx, request, { as: token, body })
  expect(status, JSON.stringify(json)).toBeLessThan(300)
}
const label = (labels: object) => asAdmin(`PUT /api/workloads/${workloadId()}/trusted-labels`, { labels })

/** A workload of thirty instances, three of which have the change of a campaign. */
async function begin(more: object = {}): Promise<string> {
  scene = await CampaignScene.open(database, 0)
  await database.pool.execute('delete from fleet_configs')
  await database.pool.execute("delete from settings where name = 'freeze'")
  pods = Array.from({ length: 30 }, (_, n) => fakeAgent(scene.ctx.fleet, { host: 'big', pod: `pod-${n}` }))
  await scene.ctx.advance(300)
  await pushConfig(scene.ctx.fleet, workloadId(), configYaml(1))
  for (const pod of pods) pod.apply()
  await label({ tier: 'edge' })
  await scene.ctx.advance(300)
  const scope = { selector: { match_labels: { 'muster/tier': 'edge' } } }
  const id = await scene.start({ scope, limits: { silent: 1 }, ...more })
  await scene.work(300, 2)
  for (const pod of pods) if (pod.offered().at(-1) === SECOND) pod.apply()
  await scene.work(2_000)
  expect(has(SECOND)).toBe(3)
  return id
}

/** So much time passes, in which the campaign is looked at as often as it is. */
async function wait(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= MINUTE_MS) {
    scene.ctx.clock.advance(MINUTE_MS - 2_000)
    await scene.work(2_000)
  }
}

const KEPT: Readonly<Record<string, () => Promise<void>>> = {
  became_production: () => label({ tier: 'edge', env: 'production' }),
  not_selected: () => label({ tier: 'core' }),
  under_fleet_config: () =>
    asAdmin('POST /api/fleet-configs', {
      name: 'Others',
      selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['big'] }] },
    }),
  async kept_in_git() {
    const as = await signIn(scene.ctx)
    await keepInGit(scene.ctx, workloadId(), { as, owner: 'infra/edge', config: configYaml(3) })
  },
  held: () => asAdmin(`POST /api/workloads/${workloadId()}/hold`, { reason: 'mine' }),
}

describe.each(Object.entries(KEPT))('a target amid its stages: %s', (reason, keep) => {
  it('is waited for, for ten minutes, then skipped with that, and its campaign ends', async () => {
    const id = await begin()
    await keep()
    await wait(9 * MINUTE_MS)
    expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'started', hold: { reason } })
    await wait(4 * MINUTE_MS)
    expect(await scene.targetOf(id, pods[0]!)).toMatchObject({
      state: 'skipped',
      reason,
      reach: { applied_count: 3, target_count: 30 },
    })
    expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { skipped: 1 } })
    const { json } = await scene.call('GET', `/${id}/figures`)
    expect(json).toMatchObject({ missed: [{ state: 'skipped', reason, count: 1 }] })
    // Its stages have ended as well: who has the change keeps it, and nobody else gets it.
    const workload = () => scene.ctx.fleet.workload(workloadId())!
    expect(workload().rollout?.stored.status).toBe('aborted')
    expect(hasOpenPush(workload())).toBe(false)
    await wait(2 * MINUTE_MS)
    expect(has(SECOND)).toBe(3)
  })
})

it('goes on where it is over in time, and the ten minutes begin anew', async () => {
  const id = await begin()
  await KEPT['held']!()
  await wait(9 * MINUTE_MS)
  await scene.call('POST', `/${id}/pause`)
  await asAdmin(`POST /api/workloads/${workloadId()}/release`, {})
  await wait(20 * MINUTE_MS)
  await asAdmin(`POST /api/workloads/${workloadId()}/hold`, { reason: 'mine again' })
  await scene.call('POST', `/${id}/continue`)
  await wait(9 * MINUTE_MS)
  expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'started', hold: { reason: 'held' } })
  await asAdmin(`POST /api/workloads/${workloadId()}/release`, {})
  await scene.work(5_000, 2)
  expect(has(SECOND)).toBe(30)
})

describe('is not given up for what held it when somebody last looked', () => {
  /** It has been held for nearly ten minutes, and nobody looks what holds it until they are over. */
  async function lateAfter(change: (id: string) => Promise<unknown>): Promise<string> {
    const id = await begin()
    await KEPT['held']!()
    await wait(9 * MINUTE_MS)
    expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'started', hold: { reason: 'held' } })
    await change(id)
    scene.ctx.clock.advance(2 * MINUTE_MS)
    await scene.work()
    return id
  }
  const release = () => asAdmin(`POST /api/workloads/${workloadId()}/release`, {})

  it('where it was released since: it goes on', async () => {
    const id = await lateAfter(release)
    expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'started' })
    await scene.work(5_000, 2)
    expect(has(SECOND)).toBe(30)
  })

  it('where its campaign was paused since: it waits for as long as that is', async () => {
    const id = await lateAfter((paused) => scene.call('POST', `/${paused}/pause`))
    expect(await scene.targetOf(id, pods[0]!)).toMatchObject({
      state: 'started',
      hold: { reason: 'stopped' },
    })
    await wait(20 * MINUTE_MS)
    await release()
    await scene.call('POST', `/${id}/continue`)
    await scene.work(5_000, 2)
    expect(has(SECOND)).toBe(30)
  })
})

it('waits as long as a freeze is in force, and for ten minutes after it', async () => {
  const id = await begin()
  const until = new Date(scene.ctx.clock.now().getTime() + 20 * MINUTE_MS).toISOString()
  await asAdmin('PUT /api/freeze', { reason: 'sale', until })
  await asAdmin(`POST /api/workloads/${workloadId()}/hold`, { reason: 'mine' })
  await wait(18 * MINUTE_MS)
  expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'started', hold: { reason: 'frozen' } })
  await wait(6 * MINUTE_MS)
  expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'started', hold: { reason: 'held' } })
  await wait(10 * MINUTE_MS)
  expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'skipped', reason: 'held' })
})

it('is skipped as well where another process owns the fleet meanwhile', async () => {
  const id = await begin()
  await KEPT['became_production']!()
  await wait(3 * MINUTE_MS)
  await scene.restart(1_000)
  const before = pods
  pods = before.map(({ uid }, n) => fakeAgent(scene.ctx.fleet, { host: 'big', pod: `pod-${n}`, uid }))
  await scene.ctx.advance(300)
  for (const [n, pod] of pods.entries()) pod.apply(before[n]!.offered().at(-1)!)
  await wait(15 * MINUTE_MS)
  expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'skipped', reason: 'became_production' })
  expect(await scene.record(id)).toMatchObject({ status: 'done' })
})

it('halts its campaign where more are skipped than that allows, with the workload that was', async () => {
  const id = await begin({ limits: {} })
  await KEPT['became_production']!()
  await wait(13 * MINUTE_MS)
  expect(await scene.record(id)).toMatchObject({
    status: 'halted',
    halt: { gate: 'silent', value: 1, limit: 0, workload_ids: [workloadId()] },
  })
})

it('is taken back with its campaign once it was skipped, and what it was skipped for is not told any more', async () => {
  const id = await begin()
  await KEPT['held']!()
  await wait(13 * MINUTE_MS)
  expect((await scene.record(id)).way_back).toMatchObject({ goes_back: 1 })
  expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'it is broken' })).status).toBe(200)
  await scene.work(2_000, 3)
  expect(has(SECOND)).toBe(0)
  for (const pod of pods) pod.apply(FIRST)
  await scene.work(1_000, 3)
  expect(await scene.record(id)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 1 } })
  expect(await scene.targetOf(id, pods[0]!)).not.toHaveProperty('reason')
})
