import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { normalForm } from '../../../../lib/configs/effective/normal-form.ts'
import { FORMS_MAX, GIVEN_UP_MAX, UNDER_WAY_MAX } from '../../../../lib/fleet/intake/effective-configs.ts'
import type { FleetDeps } from '../../../../lib/fleet/state/deps.ts'
import { CONFIG_BYTES_MAX } from '../../../../lib/fleet/state/waiting-rows.ts'
import { EFFECTIVE_BYTES_MAX } from '../../../../lib/model/effective-bytes.ts'
import type { Database } from '../../../../lib/store/db.ts'
import { DatabaseUnavailable } from '../../../../lib/store/db.ts'
import { through } from '../../../support/faulty-database.ts'
import {
  createFleetContext,
  type FakeAgent,
  type FleetTestContext,
  fakeAgent,
} from '../../../support/fleet.ts'
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts'

const yamlOf = (name: string) =>
  `receivers: {otlp: }\nexporters: {debug/${name}: }\nservice: {pipelines: {logs: {receivers: [otlp], exporters: [debug/${name}]}}}\n`

let database: TestDatabase
let ctx: FleetTestContext
/** Stands for the worker threads that normalise effective configs; set by each test. */
let normalise: FleetDeps['normalise']
let isAway: boolean

beforeEach(async () => {
  database = await createTestDatabase()
  isAway = false
  normalise = async (text) => normalForm(text)
  const db: Database = {
    ...through(database.pool),
    transaction: (name, work) =>
      isAway
        ? Promise.reject(new DatabaseUnavailable('as the test wants it'))
        : database.pool.transaction(name, work),
  }
  ctx = await createFleetContext(database, { db, normalise: (text, own) => normalise(text, own) })
})
afterEach(async () => {
  isAway = false
  await ctx.close()
  await database.drop()
})

const instanceOf = ({ uid }: FakeAgent) => ctx.fleet.state.instances.get(uid)!
const askedAgain = ({ received }: FakeAgent) =>
  received.filter((message) => ((message['flags'] as number | undefined) ?? 0) & 1).length

describe('effective configs', () => {
  it('are read when there is room again, where there was none', async () => {
    normalise = async () => 'busy'
    const agent = fakeAgent(ctx.fleet)
    agent.effective(yamlOf('a'))
    await ctx.advance(500)
    expect(instanceOf(agent).reportedConfigHash).toBe('')
    normalise = async (text) => normalForm(text)
    await ctx.advance(2_000)
    expect(instanceOf(agent).reportedConfigHash).toBe(normalForm(yamlOf('a'))!.hash)
  })

  it('beyond what may wait are asked for again, and none is lost', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    normalise = async (text) => {
      await gate
      return normalForm(text)
    }
    const agent = fakeAgent(ctx.fleet)
    const others = Array.from({ length: UNDER_WAY_MAX }, (_, i) => `other-${i}`)
    for (const name of others) agent.effective(yamlOf(name))
    const late = fakeAgent(ctx.fleet)
    late.effective(yamlOf('late'))
    expect(ctx.fleet.effectiveConfigs.load).toMatchObject({ underWay: UNDER_WAY_MAX, owed: 1 })
    await ctx.advance(2_000)
    expect(askedAgain(late)).toBe(0)
    release()
    await ctx.advance(5_000)
    expect(askedAgain(late)).toBe(1)
    late.effective(yamlOf('late'))
    await ctx.advance(1_000)
    expect(instanceOf(late).reportedConfigHash).toBe(normalForm(yamlOf('late'))!.hash)
    expect(ctx.fleet.effectiveConfigs.load).toMatchObject({ underWay: 0, underWayBytes: 0, owed: 0 })
  })

  it('that nobody could read in time are left alone for a while, and then asked for again', async () => {
    let read = 0
    normalise = async () => {
      read++
      return 'given-up'
    }
    const [agent, other] = [fakeAgent(ctx.fleet), fakeAgent(ctx.fleet)]
    agent.effective(yamlOf('slow'))
    await ctx.advance(30_000)
    other.effective(yamlOf('slow'))
    await ctx.advance(20_000)
    expect(read).toBe(1)
    expect([agent, other].map(askedAgain)).toEqual([0, 0])
    normalise = async (text) => normalForm(text)
    await ctx.advance(20_000)
    expect([agent, other].map(askedAgain)).toEqual([1, 1])
    for (const each of [agent, other]) each.effective(yamlOf('slow'))
    await ctx.advance(1_000)
    for (const each of [agent, other])
      expect(instanceOf(each).reportedConfigHash).toBe(normalForm(yamlOf('slow'))!.hash)
  })

  it('that nobody can read in time are tried ever more rarely, and so many are remembered', async () => {
    let read = 0
    normalise = async () => {
      read++
      return 'given-up'
    }
    const agent = fakeAgent(ctx.fleet)
    let asked = 0
    agent.effective(yamlOf('slow'))
    for (let minute = 0; minute < 120; minute++) {
      await ctx.advance(60_000)
      if (askedAgain(agent) > asked) agent.effective(yamlOf('slow'))
      asked = askedAgain(agent)
    }
    expect(read).toBeGreaterThan(4)
    expect(read).toBeLessThan(9)
    for (let i = 0; i < GIVEN_UP_MAX + 50; i++) {
      agent.effective(`n: ${i}`)
      if (i % 500 === 0) await ctx.advance(500)
    }
    await ctx.advance(1_000)
    expect(ctx.fleet.effectiveConfigs.load.givenUp).toBe(GIVEN_UP_MAX)
  })

  it('that are too long are read by nobody', async () => {
    let read = 0
    normalise = async () => {
      read++
      return null
    }
    const agent = fakeAgent(ctx.fleet)
    agent.effective(`# ${'x'.repeat(EFFECTIVE_BYTES_MAX)}`)
    await ctx.advance(1_000)
    expect(read).toBe(0)
    expect(instanceOf(agent).reportedConfigHash).toBe('')
  })

  it('wait for the database within a bound, and are asked for again when it is back', async () => {
    // Each normal form has another hash and is 2 MB long, however short the text that was reported.
    normalise = async (text) => ({
      hash: text,
      text: 'x'.repeat(2_000_000),
      runsPipelines: true,
      runsProfiles: false,
    })
    isAway = true
    const agents = Array.from({ length: 40 }, () => fakeAgent(ctx.fleet))
    for (const [i, agent] of agents.entries()) agent.effective(`number: ${i}`)
    await ctx.advance(3_000)
    const { owed } = ctx.fleet.effectiveConfigs.load
    expect(owed).toBe(40 - Math.ceil(CONFIG_BYTES_MAX / 2_000_000))
    expect(agents.map(askedAgain).every((count) => count === 0)).toBe(true)
    isAway = false
    await ctx.advance(5_000)
    expect(agents.filter((agent) => askedAgain(agent) === 1).length).toBe(owed)
  })

  it('are kept by what they hold up to a number', async () => {
    normalise = async (text) => ({ hash: text, text, runsPipelines: false, runsProfiles: false })
    const agent = fakeAgent(ctx.fleet)
    for (let i = 0; i < FORMS_MAX + 500; i++) {
      agent.effective(`n: ${i}`)
      if (i % 500 === 0) await ctx.advance(500)
    }
    await ctx.advance(1_000)
    expect(ctx.fleet.effectiveConfigs.load.forms).toBe(FORMS_MAX)
  })
})
