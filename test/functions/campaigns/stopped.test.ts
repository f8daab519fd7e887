import { afterEach, describe, expect, it } from 'vitest'
import { hasOpenPush } from '../../../lib/fleet/pushes/find-obstacle.ts'
import { toValues } from '../../../runtime/ui/logic/campaign-form.ts'
import { CampaignScene, FIRST, SECOND, SICK } from '../../support/campaign-scene.ts'
import { type FakeAgent, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { keepInGit } from '../../support/kept-in-git.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// What stops a campaign stops all of it, and loses nobody.

const database = await useTestDatabase()
let scene: CampaignScene
afterEach(() => scene.ctx.close())

async function freeze(seconds: number) {
  const admin = await signIn(scene.ctx)
  const until = new Date(scene.ctx.clock.now().getTime() + seconds * 1_000).toISOString()
  const body = { reason: 'sale', until }
  expect((await invoke(scene.ctx, 'PUT /api/freeze', { as: admin.token, body })).status).toBe(200)
  return async () =>
    expect((await invoke(scene.ctx, 'DELETE /api/freeze', { as: admin.token })).status).toBeLessThan(300)
}

describe('a target of thirty instances, a tenth of which has the change', () => {
  let pods: FakeAgent[]
  const has = (hash: string) => pods.filter((pod) => pod.offered().at(-1) === hash).length
  const applyAll = () => {
    for (const pod of pods) if (pod.offered().at(-1) === SECOND) pod.apply()
  }

  async function begin({ isManaged = true, limits = {} } = {}): Promise<string> {
    scene = await CampaignScene.open(database, 1)
    const { fleet } = scene.ctx
    pods = Array.from({ length: 30 }, (_, n) => fakeAgent(fleet, { host: 'big', pod: `pod-${n}` }))
    await scene.ctx.advance(300)
    if (isManaged) await pushConfig(fleet, pods[0]!.workloadId, configYaml(1))
    if (isManaged) for (const pod of pods) pod.apply()
    await scene.ctx.advance(300)
    const selector = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['big'] }] }
    const change = { kind: 'text', yaml: configYaml(2), ...(isManaged ? {} : { takeover: true }) }
    const id = await scene.start({ change, scope: { selector }, limits })
    await scene.work(300, 2)
    applyAll()
    await scene.work(2_000)
    expect(has(SECOND)).toBe(3)
    return id
  }

  it('gets its former config back at once when the campaign is rolled back', async () => {
    const id = await begin()
    expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'it is broken' })).status).toBe(200)
    await scene.work(20_000, 3)
    expect(has(SECOND)).toBe(0)
    for (const pod of pods) pod.apply(FIRST)
    await scene.work(1_000, 3)
    expect(await scene.record(id)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 1 } })
  })

  it('goes no further while the campaign is paused, however long, and goes on with it', async () => {
    const id = await begin()
    expect((await scene.call('POST', `/${id}/pause`)).status).toBe(200)
    await scene.work(20_000, 2)
    scene.ctx.clock.advance(15 * 60_000)
    await scene.work(2_000, 2)
    expect(has(SECOND)).toBe(3)
    expect((await scene.record(id)).counts).toEqual({ started: 1 })
    expect((await scene.call('POST', `/${id}/continue`)).status).toBe(200)
    await scene.work(20_000, 2)
    expect(has(SECOND)).toBe(30)
    applyAll()
    await scene.work(2_000, 3)
    expect((await scene.record(id)).counts).toEqual({ applied: 1 })
  })

  it('goes no further, and ends, when the campaign is aborted', async () => {
    const id = await begin()
    expect((await scene.call('POST', `/${id}/abort`)).status).toBe(200)
    await scene.work(20_000, 3)
    expect(has(SECOND)).toBe(3)
    expect(await scene.record(id)).toMatchObject({ status: 'aborted', counts: { overtaken: 1 } })
  })

  it('gets its former config back by itself once an instance that has the change is not well', async () => {
    const id = await begin()
    const [first] = pods.filter((pod) => pod.offered().at(-1) === SECOND)
    first!.say({ health: SICK })
    await scene.work(2_000, 3)
    expect(has(SECOND)).toBe(0)
    for (const pod of pods) pod.apply(FIRST)
    await scene.work(1_000, 3)
    expect(await scene.record(id)).toMatchObject({ status: 'halted', counts: { failed: 1 } })
    expect(await scene.targetOf(id, first!)).toMatchObject({ state: 'failed', cause: 'rollout_halted' })
    expect(scene.ctx.fleet.workload(first!.workloadId)).toMatchObject({ rollout: null, activeHash: FIRST })
  })

  it('that has no former config is left as it is when the campaign is rolled back, and waits for nothing', async () => {
    const id = await begin({ isManaged: false })
    expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'it is broken' })).status).toBe(200)
    await scene.work(20_000, 3)
    expect(has(SECOND)).toBe(3)
    expect(await scene.record(id)).toMatchObject({ status: 'rolled_back', counts: { no_way_back: 1 } })
    const { rollout } = scene.ctx.fleet.workload(pods[0]!.workloadId)!
    expect(rollout?.stored.status).toBe('aborted')
  })

  /** Let the stages inside the workload go on, which halted. */
  const letOn = async () => {
    const { workloadId } = pods[0]!
    const { id: rolloutId } = scene.ctx.fleet.workload(workloadId)!.rollout!.stored
    const route = `POST /api/workloads/${workloadId}/config/canary/${rolloutId}/promote`
    return invoke(scene.ctx, route, { as: scene.editor.token, body: { comment: 'it may be ill' } })
  }

  it('that it took over and has no former config goes on where somebody lets it, once an instance is not well', async () => {
    const id = await begin({ isManaged: false })
    const [first] = pods.filter((pod) => pod.offered().at(-1) === SECOND)
    first!.say({ health: SICK })
    await scene.work(2_000, 3)
    expect(await scene.record(id)).toMatchObject({
      status: 'halted',
      counts: { failed: 1 },
      stages_halted: 1,
    })
    expect(await scene.targetOf(id, first!)).toMatchObject({ state: 'failed', cause: 'rollout_halted' })
    // While the campaign is halted, its stages wait for it.
    expect(await letOn()).toMatchObject({ status: 409 })
    const raised = { comment: 'one may be ill', limits: { failed: 1 } }
    expect((await scene.call('POST', `/${id}/continue`, raised)).status).toBe(200)
    await scene.work(1_000, 2)
    expect(await scene.record(id)).toMatchObject({ status: 'done' })
    expect((await letOn()).status).toBe(202)
    await scene.work(40_000, 2)
    expect(has(SECOND)).toBe(30)
    applyAll()
    await scene.work(2_000, 3)
    expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 1 } })
  })

  it('that halted and is frozen now is let go on by nobody, also not by who breaks the glass: the next stage would stop again', async () => {
    await begin({ isManaged: false, limits: { failed: 10 } })
    const { workloadId } = pods[0]!
    pods.find((pod) => pod.offered().at(-1) === SECOND)!.say({ health: SICK })
    await scene.work(2_000, 3)
    const lift = await freeze(3_600)
    const { id } = scene.ctx.fleet.workload(workloadId)!.rollout!.stored
    const admin = await signIn(scene.ctx)
    const ask = (request: string, body?: object) =>
      invoke(scene.ctx, request, { as: admin.token, ...(body === undefined ? {} : { body }) })
    const glass = { break_glass: true, break_glass_reason: 'it cannot wait' }
    const path = `/api/workloads/${workloadId}/config/canary/${id}/promote`
    expect(await ask(`POST ${path}`, glass)).toMatchObject({ status: 409, json: { code: 'workload_frozen' } })
    expect((await ask('GET /api/reviews')).json).toEqual([])
    await scene.work(20_000, 3)
    expect(has(SECOND)).toBe(3)
    await lift()
  })

  it('that somebody let go on counts as changed, also where the owner ends before it has seen to the campaign', async () => {
    const id = await begin({ isManaged: false })
    pods.find((pod) => pod.offered().at(-1) === SECOND)!.say({ health: SICK })
    await scene.work(2_000, 3)
    const raised = { comment: 'one may be ill', limits: { failed: 1 } }
    expect((await scene.call('POST', `/${id}/continue`, raised)).status).toBe(200)
    await scene.work(1_000, 2)
    expect((await letOn()).status).toBe(202)
    // From here on nobody looks at campaigns until another process owns the fleet.
    await scene.ctx.advance(40_000)
    applyAll()
    await scene.ctx.advance(5_000)
    const { workloadId } = pods[0]!
    expect(scene.ctx.fleet.workload(workloadId)).toMatchObject({ rollout: null, activeHash: SECOND })
    expect((await scene.record(id)).counts).toEqual({ failed: 1 })
    await scene.restart(1_000)
    await scene.work(1_000, 3)
    expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 1 } })
  })

  it('goes no further while a freeze is in force, and goes on after it', async () => {
    const id = await begin()
    const lift = await freeze(3_600)
    await scene.work(20_000, 3)
    expect(has(SECOND)).toBe(3)
    await lift()
    await scene.work(5_000, 2)
    expect(has(SECOND)).toBe(30)
    expect((await scene.record(id)).status).toBe('running')
  })

  it('goes no further once it became production, says so, and goes on where it is not any more', async () => {
    const id = await begin()
    const { workloadId } = pods[0]!
    const admin = await signIn(scene.ctx)
    const label = async (labels: object) => {
      const body = { labels }
      const path = `PUT /api/workloads/${workloadId}/trusted-labels`
      expect((await invoke(scene.ctx, path, { as: admin.token, body })).status).toBe(200)
    }
    expect((await scene.call('POST', `/${id}/pause`)).status).toBe(200)
    await label({ env: 'production' })
    expect((await scene.call('POST', `/${id}/continue`)).status).toBe(200)
    await scene.work(20_000, 3)
    expect(has(SECOND)).toBe(3)
    const waiting = { state: 'started', hold: { reason: 'became_production' } }
    expect(await scene.targetOf(id, pods[0]!)).toMatchObject(waiting)
    await label({})
    await scene.work(5_000, 2)
    // What one person alone says of it counts once a second one has looked at that.
    expect(await scene.targetOf(id, pods[0]!)).toMatchObject(waiting)
    const other = await signIn(scene.ctx)
    const { json } = await invoke(scene.ctx, 'GET /api/reviews', { as: other.token })
    for (const { id: review } of json as { id: string }[])
      await invoke(scene.ctx, `POST /api/reviews/${review}`, {
        as: other.token,
        body: { comment: 'yes', accepted: true },
      })
    await scene.work(5_000, 2)
    expect(has(SECOND)).toBe(30)
    expect(await scene.targetOf(id, pods[0]!)).not.toHaveProperty('hold')
  })

  it.each(['abort', 'roll-back'])(
    'that halted, has failed and has no former config is left to others by %s of the campaign',
    async (step) => {
      const id = await begin({ isManaged: false })
      const [first] = pods.filter((pod) => pod.offered().at(-1) === SECOND)
      first!.say({ health: SICK })
      await scene.work(2_000, 3)
      const workload = () => scene.ctx.fleet.workload(first!.workloadId)!
      expect(workload().rollout?.stored.status).toBe('halted')
      expect(await scene.record(id)).toMatchObject({ status: 'halted', counts: { failed: 1 } })
      expect((await scene.call('POST', `/${id}/${step}`, { comment: 'broken' })).status).toBe(200)
      await scene.work(2_000, 3)
      expect(workload().rollout?.stored.status).toBe('aborted')
      expect(hasOpenPush(workload())).toBe(false)
    },
  )

  it.each([
    'its campaign is halted',
    'a freeze is in force',
    'it became production',
    'its approver may not approve any more',
    'nothing holds it',
  ])(
    'that halted and has no former config is brought to others by Continue on the workload where nothing holds it: %s',
    async (how) => {
      const id = await begin({
        isManaged: false,
        limits: how === 'its campaign is halted' ? {} : { failed: 10 },
      })
      const { workloadId } = pods[0]!
      pods.find((pod) => pod.offered().at(-1) === SECOND)!.say({ health: SICK })
      await scene.work(2_000, 3)
      const { rollout } = scene.ctx.fleet.workload(workloadId)!
      expect(rollout?.stored.status).toBe('halted')
      expect((await scene.record(id)).status).toBe(how === 'its campaign is halted' ? 'halted' : 'done')
      const admin = await signIn(scene.ctx)
      const ask = (request: string, body: object) => invoke(scene.ctx, request, { as: admin.token, body })
      const lift = how === 'a freeze is in force' ? await freeze(3_600) : async () => {}
      if (how === 'it became production')
        await ask(`PUT /api/workloads/${workloadId}/trusted-labels`, { labels: { env: 'production' } })
      if (how === 'its approver may not approve any more')
        await database.pool.execute('delete from user_groups where user_id = $1', [scene.approver.userId])
      const path = `/api/workloads/${workloadId}/config/canary/${rollout!.stored.id}/promote`
      const { status } = await ask(`POST ${path}`, {})
      await scene.work(20_000, 3)
      await lift()
      expect({ status, has: has(SECOND) }).toEqual(
        how === 'nothing holds it' ? { status: 202, has: 30 } : { status: 409, has: 3 },
      )
      // What is done and has nothing to carry stays so, be it approved any more or not.
      expect((await scene.record(id)).status).toBe(how === 'its campaign is halted' ? 'halted' : 'done')
      if (how !== 'nothing holds it') return
      expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { started: 1 } })
      applyAll()
      await scene.work(6_000, 2)
      const { status: is, counts } = await scene.record(id)
      expect({ is, counts }).toEqual({ is: 'done', counts: { applied: 1 } })
      const { cause, title } = await scene.targetOf(id, pods[0]!)
      expect({ cause, title }).toEqual({})
    },
  )

  it('goes no further once its config is kept in Git, and says where', async () => {
    const id = await begin()
    const { workloadId } = pods[0]!
    await keepInGit(scene.ctx, workloadId, { as: scene.editor, owner: 'infra/edge', config: configYaml(3) })
    await scene.work(20_000, 3)
    expect(has(SECOND)).toBe(3)
    expect(await scene.targetOf(id, pods[0]!)).toMatchObject({
      state: 'started',
      hold: { reason: 'kept_in_git', about: 'infra/edge' },
    })
  })

  it('goes no further while it is held, is taken back all the same, and goes on once it is released', async () => {
    const id = await begin()
    const on = (what: string, body: object) => {
      const path = `POST /api/workloads/${pods[0]!.workloadId}/${what}`
      return invoke(scene.ctx, path, { as: scene.editor.token, body })
    }
    expect((await on('hold', { reason: 'mine' })).status).toBeLessThan(300)
    await scene.work(20_000, 3)
    expect(has(SECOND)).toBe(3)
    expect(await scene.record(id)).toMatchObject({ status: 'running', counts: { started: 1 } })
    expect((await on('release', {})).status).toBeLessThan(300)
    await scene.work(5_000, 2)
    expect(has(SECOND)).toBe(30)
    expect((await scene.record(id)).status).toBe('running')
    expect((await on('hold', { reason: 'mine again' })).status).toBeLessThan(300)
    expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await scene.work(1_000, 3)
    for (const pod of pods) pod.apply()
    await scene.work(1_000, 3)
    expect(has(FIRST)).toBe(30)
    expect(await scene.record(id)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 1 } })
  })
})

it('waits while a freeze is in force, and reaches everybody once it is lifted', async () => {
  scene = await CampaignScene.open(database, 6)
  const id = await scene.start({ waves: [{ count: 1, dwell_seconds: 60 }, {}] })
  await scene.work()
  for (const agent of scene.offered(SECOND)) agent.apply()
  await scene.work(1_000, 2)
  const lift = await freeze(1_800)
  await scene.work(60_000, 14)
  expect(await scene.record(id)).toMatchObject({ status: 'running', counts: { applied: 1, waiting: 5 } })
  await lift()
  for (let n = 0; n < 4; n++) {
    await scene.work(3_000)
    for (const agent of scene.offered(SECOND)) agent.apply()
  }
  expect((await scene.record(id)).counts).toEqual({ applied: 6 })
})

describe('a campaign that is done, with hosts away', () => {
  async function done(hosts: number, away: number, more: object = {}) {
    scene = await CampaignScene.open(database, hosts)
    const left = scene.agents.slice(hosts - away)
    for (const agent of left) {
      agent.goodbye()
      agent.lose()
    }
    await scene.ctx.advance(200_000)
    const id = await scene.start(more)
    await scene.work()
    for (const agent of scene.offered(SECOND)) agent.apply()
    await scene.work(300, 4)
    const counts = { applied: hosts - away, ...(away > 0 && { offline: away }) }
    expect(await scene.record(id)).toMatchObject({ status: 'done', counts })
    return { id, left }
  }
  const approverLeaves = () =>
    database.pool.execute('delete from user_groups where user_id = $1', [scene.approver.userId])

  /** Hosts come back one by one, and the config is not for them. */
  async function comeBackAndFail(left: readonly FakeAgent[]): Promise<void> {
    for (const agent of left) {
      const back = scene.comeBack(agent, FIRST)
      await scene.work(6_000)
      if (back.offered().at(-1) === SECOND) back.fail('unknown processor')
      await scene.work(1_000)
      if (back.offered().at(-1) === FIRST) back.apply()
    }
  }

  it('halts once more of those that come back fail than its limit allows, and goes on with a higher one', async () => {
    const { id, left } = await done(6, 5, { limits: { failed: 1 } })
    await comeBackAndFail(left.slice(0, 3))
    expect(await scene.record(id)).toMatchObject({
      status: 'halted',
      halt: { gate: 'failed', value: 2, limit: 1 },
      counts: { applied: 1, failed: 2, offline: 3 },
    })
    // The one who looks at the campaign would believe it to keep to less than it does.
    const lower = { comment: 'no more of that', limits: { failed: 0 } }
    expect(await scene.call('POST', `/${id}/continue`, lower)).toMatchObject({
      status: 409,
      json: { code: 'campaign_limit_lowered', field: 'limits.failed', limit: 1 },
    })
    const higher = { comment: 'the rest is of another kind', limits: { failed: 10 } }
    expect((await scene.call('POST', `/${id}/continue`, higher)).status).toBe(200)
    // What was approved with the plan stays what it was, also for whoever asks for the same again.
    const raised = await scene.record(id)
    expect(raised).toMatchObject({ limits: { failed: 1 }, raised: { failed: 10 } })
    expect(toValues(raised).limits.failed).toBe('1')
    for (let n = 0; n < 4; n++) {
      await scene.work(1_000)
      for (const agent of scene.offered(SECOND)) agent.apply()
    }
    expect(await scene.record(id)).toMatchObject({
      status: 'done',
      counts: { applied: 2, failed: 2, offline: 2 },
    })
  })

  it('refuses a limit that is lower than the standard over which it halted', async () => {
    scene = await CampaignScene.open(database, 6)
    const id = await scene.start({ waves: [{ count: 1, dwell_seconds: 0 }, {}] })
    await scene.work(300, 2)
    ;(await scene.firstOf(id)).apply()
    await scene.work(1_000, 3)
    for (const agent of scene.offered(SECOND))
      if (agent !== (await scene.firstOf(id))) agent.fail('no such processor')
    await scene.work(1_000, 3)
    expect(await scene.record(id)).toMatchObject({ status: 'halted', halt: { gate: 'failed', limit: 3 } })
    const on = (failed: number) =>
      scene.call('POST', `/${id}/continue`, { comment: 'these are known', limits: { failed } })
    expect(await on(2)).toMatchObject({
      status: 409,
      json: { code: 'campaign_limit_lowered', field: 'limits.failed', limit: 3 },
    })
  })

  it('counts who said APPLIED and failed of it since among them', async () => {
    const { id, left } = await done(3, 2, { limits: { failed: 0 } })
    const back = scene.comeBack(left[0]!, FIRST)
    await scene.work(6_000)
    back.apply()
    await scene.work(6_000)
    back.fail('unknown processor', SECOND)
    await scene.work(6_000)
    scene.comeBack(left[1]!, FIRST)
    await scene.work(6_000, 2)
    expect(await scene.record(id)).toMatchObject({
      status: 'halted',
      counts: { applied: 1, failed: 1, offline: 1 },
    })
  })

  it('is paused by an operator, and goes on with those that are back since', async () => {
    const { id, left } = await done(4, 1)
    expect((await scene.call('POST', `/${id}/pause`)).status).toBe(200)
    scene.comeBack(left[0]!, FIRST)
    await scene.work(6_000, 3)
    const paused = await scene.record(id)
    expect(paused).toMatchObject({ status: 'paused', counts: { applied: 3, offline: 1 } })
    expect(paused.ended_at).toBeUndefined()
    expect((await scene.call('POST', `/${id}/continue`)).status).toBe(200)
    for (let n = 0; n < 3; n++) {
      await scene.work(6_000)
      for (const agent of scene.offered(SECOND)) agent.apply()
    }
    expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 4 } })
  })

  it('is aborted by an operator, and waits for nobody any more', async () => {
    const { id, left } = await done(4, 1)
    expect((await scene.call('POST', `/${id}/abort`, { comment: 'it is retired' })).status).toBe(200)
    scene.comeBack(left[0]!, FIRST)
    await scene.work(6_000, 3)
    expect(await scene.record(id)).toMatchObject({
      status: 'aborted',
      counts: { applied: 3, cancelled: 1 },
    })
    expect(scene.offered(SECOND)).toHaveLength(3)
  })

  it('can be neither paused nor aborted once it waits for nobody', async () => {
    const { id } = await done(3, 0)
    for (const step of ['pause', 'abort']) {
      const { status, json } = await scene.call('POST', `/${id}/${step}`)
      expect({ status, json }).toMatchObject({ status: 409, json: { code: 'campaign_not_ready' } })
    }
    expect((await scene.record(id)).status).toBe('done')
  })

  it('stays done and waits for them when its approver leaves', async () => {
    const { id } = await done(4, 1)
    await approverLeaves()
    await scene.work(6_000, 3)
    expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 3, offline: 1 } })
  })

  it('halts when one is back that its approver may not approve any more, with an alert that says what to do', async () => {
    const { id, left } = await done(4, 1)
    await approverLeaves()
    scene.comeBack(left[0]!, FIRST)
    await scene.work(6_000, 2)
    expect(await scene.record(id)).toMatchObject({
      status: 'halted',
      halt: { gate: 'approver_gone' },
      counts: { applied: 3, offline: 1 },
    })
    expect(scene.offered(SECOND)).toHaveLength(3)
    await scene.ctx.alerts.run(new AbortController().signal)
    const { json } = await invoke(scene.ctx, 'GET /api/alerts', { as: scene.editor.token })
    expect(json).toContainEqual(
      expect.objectContaining({
        rule: 'campaign_halted',
        next: expect.stringMatching(/only once that is as it was.*abort/),
      }),
    )
  })

  it('stays done when the time in which it waits has run out and the approver has left', async () => {
    const { id } = await done(4, 1, { catch_up_seconds: 60 })
    await approverLeaves()
    await scene.sleep(600_000)
    await scene.work(6_000, 3)
    expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 3, expired: 1 } })
    const { json } = await invoke(scene.ctx, 'GET /api/changes?kind=campaign', { as: scene.editor.token })
    expect(json).toMatchObject([{ id, applied_count: 3, skipped_count: 1 }])
  })
})
