import { afterEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { CampaignScene, FIRST, SECOND, SICK } from '../../support/campaign-scene.ts'
import type { FakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// A host is away while several campaigns are carried, and comes back: it ends with what others of its kind run, and never
// gets what was taken back.

const database = await useTestDatabase()
const THIRD = configHash(configYaml(3))
const STOP = { comment: 'stop' }

describe('campaigns that a host was away for', () => {
  let scene: CampaignScene
  let away: FakeAgent
  let isAway: boolean
  afterEach(() => scene.ctx.close())

  async function oneAway(hosts = 3): Promise<void> {
    scene = await CampaignScene.open(database, hosts)
    away = scene.agents.at(-1)!
    isAway = true
    away.goodbye()
    away.lose()
    await scene.ctx.advance(200_000)
  }
  /** Whoever is there applies what it was offered last. */
  function applyAll(): void {
    for (const agent of scene.agents)
      if (agent.offered().length > 0 && !(isAway && agent === away)) agent.apply()
  }
  const begun = (n: number, more: object = {}) =>
    scene.start({ name: `to ${n}`, change: { kind: 'text', yaml: configYaml(n) }, ...more })
  async function settle(times = 8): Promise<void> {
    for (let n = 0; n < times; n++) {
      await scene.work(6_000)
      applyAll()
    }
  }
  async function carried(n: number, more: object = {}): Promise<string> {
    const id = await begun(n, more)
    await settle()
    expect((await scene.record(id)).status).toBe('done')
    return id
  }
  async function decide(id: string, step: 'pause' | 'abort' | 'continue' | 'roll-back'): Promise<void> {
    expect((await scene.call('POST', `/${id}/${step}`, STOP)).status).toBe(200)
    await settle()
  }
  /** The host connects again, running the first config; answers what it was offered since. */
  async function comesBack(): Promise<FakeAgent> {
    away = scene.comeBack(away, FIRST)
    isAway = false
    await settle()
    return away
  }
  const targetOf = async (id: string) => {
    const { state, reason } = await scene.targetOf(id, away)
    return { state, ...(reason == null ? {} : { reason }) }
  }
  const OVERTAKEN = { state: 'overtaken', reason: 'overtaken' }
  /** A later campaign to the third config, of which only the first wave is carried; the host is in the second. */
  const inWaves = () => begun(3, { waves: [{ count: 1, dwell_seconds: 600 }, {}], limits: { unhealthy: 0 } })
  async function begunWithout(): Promise<string> {
    for (;;) {
      const id = await inWaves()
      const { wave } = await scene.targetOf(id, away)
      await settle()
      if (wave === 1) return id
      await decide(id, 'roll-back')
    }
  }

  it('a host that was away during two campaigns gets what the newer one brought, and nothing else', async () => {
    await oneAway()
    const older = await carried(2)
    const newer = await carried(3)
    expect((await comesBack()).offered()).toEqual([THIRD])
    expect(await targetOf(older)).toEqual(OVERTAKEN)
    expect(await targetOf(newer)).toEqual({ state: 'applied' })
  })

  it('a newer campaign that wants of it what it runs already overtakes as well', async () => {
    await oneAway()
    const older = await carried(2)
    await carried(1)
    expect((await comesBack()).offered()).toEqual([])
    expect(await targetOf(older)).toEqual(OVERTAKEN)
  })

  it('while the newer campaign has not come to it, the older one waits for what becomes of that', async () => {
    await oneAway()
    const older = await carried(2)
    const newer = await begunWithout()
    // Who reads of the older one is told which is to come, before the host is back and after.
    const waits_for = { campaign_id: newer, name: 'to 3' }
    const inList = async (id: string) => {
      const { json } = await scene.call('GET', `/${id}/targets`)
      return (json as { workload_id: string }[]).find((one) => one.workload_id === away.workloadId)
    }
    const before = await inList(older)
    expect(before).toMatchObject({ state: 'offline', waits_for })
    expect(before).not.toHaveProperty('is_back')
    // And who reads of the newer one, that the host gets nothing of the older.
    expect(before).not.toHaveProperty('overtakes')
    expect(await inList(newer)).toMatchObject({ overtakes: { campaign_id: older, name: 'to 2' } })
    expect(await inList(newer)).not.toHaveProperty('waits_for')
    expect((await comesBack()).offered()).toEqual([])
    expect(await targetOf(older)).toEqual({ state: 'offline' })
    expect(await inList(older)).toMatchObject({ state: 'offline', is_back: true, waits_for })
    await scene.ctx.advance(600_000)
    await settle()
    expect(away.offered()).toEqual([THIRD])
    expect(await targetOf(older)).toEqual(OVERTAKEN)
    expect(await targetOf(newer)).toEqual({ state: 'applied' })
  })

  it.each([
    ['before it came back', true],
    ['after it came back', false],
  ])(
    'a newer campaign that is aborted %s, and never came to it, leaves it to the older one',
    async (_, isBefore) => {
      await oneAway()
      const older = await carried(2)
      const newer = await begunWithout()
      if (isBefore) await decide(newer, 'abort')
      await comesBack()
      if (!isBefore) {
        expect(away.offered()).toEqual([])
        await decide(newer, 'abort')
      }
      expect(away.offered()).toEqual([SECOND])
      expect(await targetOf(older)).toEqual({ state: 'applied' })
      expect(await targetOf(newer)).toEqual({ state: 'cancelled' })
    },
  )

  it('a newer campaign that is paused may go on, and is waited for', async () => {
    await oneAway()
    const older = await carried(2)
    const newer = await begunWithout()
    await decide(newer, 'pause')
    expect((await comesBack()).offered()).toEqual([])
    await decide(newer, 'continue')
    await scene.ctx.advance(600_000)
    await settle()
    expect(away.offered()).toEqual([THIRD])
    expect(await targetOf(older)).toEqual(OVERTAKEN)
  })

  it('a newer campaign that halted may go on, and is waited for', async () => {
    await oneAway(4)
    const older = await carried(2)
    const newer = await begunWithout()
    const first = scene.agents.find((agent) => agent.offered().at(-1) === THIRD)!
    first.say({ health: SICK })
    await settle(2)
    expect((await scene.record(newer)).status).toBe('halted')
    expect((await comesBack()).offered()).toEqual([])
    expect(await targetOf(older)).toEqual({ state: 'offline' })
    await decide(newer, 'abort')
    expect(away.offered()).toEqual([SECOND])
  })

  it('a newer campaign that was rolled back does not count: the others got back what the older one brought', async () => {
    await oneAway()
    const older = await carried(2)
    const newer = await carried(3)
    await decide(newer, 'roll-back')
    expect((await comesBack()).offered()).toEqual([SECOND])
    expect(await targetOf(older)).toEqual({ state: 'applied' })
    expect(scene.agents.map((agent) => agent.offered().at(-1))).toEqual([SECOND, SECOND, SECOND])
  })

  describe('and that a newer one reached, which was rolled back', () => {
    /** The host is away during two campaigns, comes back and gets what the newer one brought. */
    async function reached(more: object = {}) {
      await oneAway()
      const older = await carried(2, more)
      const newer = await carried(3)
      expect((await comesBack()).offered()).toEqual([THIRD])
      expect(await targetOf(older)).toEqual(OVERTAKEN)
      return { older, newer }
    }

    it('gets what the older one brought, as all others did, and goes back with them', async () => {
      const { older, newer } = await reached()
      await decide(newer, 'roll-back')
      await settle()
      expect(away.offered()).toEqual([THIRD, FIRST, SECOND])
      expect(scene.agents.map((agent) => agent.offered().at(-1))).toEqual([SECOND, SECOND, SECOND])
      expect(await targetOf(older)).toEqual({ state: 'applied' })
      await decide(older, 'roll-back')
      expect(scene.agents.map((agent) => agent.offered().at(-1))).toEqual([FIRST, FIRST, FIRST])
    })

    it('is left alone where the older one is being aborted at that moment', async () => {
      const { older, newer } = await reached()
      const { pool } = database
      let commit = () => {}
      const held = new Promise<void>((resolve) => {
        commit = resolve
      })
      let begun = () => {}
      const isAborting = new Promise<void>((resolve) => {
        begun = resolve
      })
      const abort = pool.transaction('abort', async (tx) => {
        await tx.execute(`update campaigns set status = 'aborted', ended_at = now() where id = $1`, [older])
        begun()
        await held
      })
      await isAborting
      const takenBack = decide(newer, 'roll-back')
      const waits = async () =>
        (
          await pool.query(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).length > 0
      let isOver = false
      void takenBack.finally(() => {
        isOver = true
      })
      while (!isOver && !(await waits())) await new Promise((resolve) => setTimeout(resolve, 5))
      commit()
      await Promise.all([abort, takenBack])
      await settle()
      expect(await targetOf(older)).toEqual(OVERTAKEN)
      expect(away.offered()).toEqual([THIRD, FIRST])
    })

    it('is left alone where the older one waits for nobody any more', async () => {
      const { older, newer } = await reached({ catch_up_seconds: 600 })
      scene.ctx.clock.advance(700_000)
      await decide(newer, 'roll-back')
      await settle()
      expect(away.offered()).toEqual([THIRD, FIRST])
      expect(await targetOf(older)).toEqual(OVERTAKEN)
    })

    it('is left alone where it runs something else by now', async () => {
      const { older, newer } = await reached()
      await pushConfig(scene.ctx.fleet, away.workloadId, configYaml(4))
      await settle()
      await decide(newer, 'roll-back')
      await settle()
      expect(away.offered()).toEqual([THIRD, configHash(configYaml(4))])
      expect(await targetOf(older)).toEqual(OVERTAKEN)
    })
  })

  it('waits while a newer campaign that had come to it is being rolled back', async () => {
    await oneAway(4)
    const older = await carried(2)
    await decide(older, 'pause')
    const newer = await carried(3, { max_in_flight: 1 })
    expect((await comesBack()).offered()).toEqual([THIRD])
    expect((await scene.call('POST', `/${newer}/roll-back`, STOP)).status).toBe(200)
    await decide(older, 'continue')
    await settle()
    expect(await targetOf(older)).toEqual({ state: 'applied' })
    expect(scene.agents.map((agent) => agent.offered().at(-1))).toEqual(scene.agents.map(() => SECOND))
  })

  it('two campaigns that are rolled back at one time, the newer first, leave everyone what ran before both', async () => {
    scene = await CampaignScene.open(database, 3)
    isAway = false
    const older = await carried(2)
    const newer = await carried(3, { max_in_flight: 1 })
    for (const id of [newer, older])
      expect((await scene.call('POST', `/${id}/roll-back`, STOP)).status).toBe(200)
    await settle(20)
    expect(scene.agents.map((agent) => agent.offered().at(-1))).toEqual([FIRST, FIRST, FIRST])
    expect(await scene.record(newer)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 3 } })
    expect(await scene.record(older)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 3 } })
  })

  it('gets nothing older where the newer campaign waited for it no longer', async () => {
    await oneAway()
    const older = await carried(2)
    const newer = await carried(3, { catch_up_seconds: 0 })
    expect((await comesBack()).offered()).toEqual([])
    expect(await targetOf(newer)).toEqual({ state: 'expired' })
    expect(await targetOf(older)).toEqual(OVERTAKEN)
  })

  it('does not get what another campaign brought to others, and took back', async () => {
    await oneAway()
    const older = await carried(2, {
      scope: { workload_ids: [scene.agents[0]!.workloadId, away.workloadId] },
    })
    const other = await carried(2, { scope: { workload_ids: [scene.agents[1]!.workloadId] } })
    await decide(other, 'roll-back')
    expect((await comesBack()).offered()).toEqual([])
    expect(await targetOf(older)).toEqual(OVERTAKEN)
  })

  it('gets what was taken back before somebody started a campaign with it again', async () => {
    await oneAway()
    await decide(await carried(2), 'roll-back')
    await carried(2)
    expect((await comesBack()).offered()).toEqual([SECOND])
  })

  it('whom a later campaign overtook counts neither as silent nor as refused: the older one goes on', async () => {
    await oneAway(4)
    const rules = { limits: { silent: 0 }, waves: [{ count: 1 }, { count: 1, dwell_seconds: 3_600 }, {}] }
    const older = await begun(2, rules)
    await settle()
    await carried(3, { scope: { workload_ids: [away.workloadId] } })
    await comesBack()
    expect(away.offered()).toEqual([THIRD])
    expect(await scene.record(older)).toMatchObject({ status: 'running' })
  })

  it('a campaign that is done does not halt for somebody who comes back and whom a later one overtook', async () => {
    await oneAway()
    const older = await carried(2)
    await carried(3)
    await database.pool.execute(`update campaigns set policy_hash = 'other' where id = $1`, [older])
    expect((await comesBack()).offered()).toEqual([THIRD])
    expect(await scene.record(older)).toMatchObject({ status: 'done' })
  })
})
