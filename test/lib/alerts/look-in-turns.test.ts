import { afterEach, beforeEach, expect, it } from 'vitest'
import { AlertEngine } from '../../../lib/alerts/engine.ts'
import { listAlerts } from '../../../lib/store/alerts.ts'
import { seededRandom } from '../../support/fakes.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { PushedWorkload } from '../../support/pushed-workload.ts'

// The instances of one big workload are counted for the alert rules some in each turn of the event loop.

const database = await useTestDatabase()
const AGENTS = 1_300
/** How many instances are counted in a turn at most. */
const CHUNK = 500
const never = new AbortController().signal
let ctx: FleetTestContext
let workload: PushedWorkload
let seeds = 0
/** How many instances were counted in each turn. */
let turns: number[]
/** Called between the first turn and the second. */
let between = () => {}

beforeEach(async () => {
  ctx = await createFleetContext(database)
  workload = new PushedWorkload(ctx, '')
  for (let n = 0; n < AGENTS; n++) workload.agents.push(fakeAgent(ctx.fleet, { host: 'vm', pod: `pod-${n}` }))
  await ctx.advance(500)
  between = () => {}
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const live = () => ctx.fleet.workload(workload.agents[0]!.workloadId)!

/** Push a config that nobody applies, and let it be overdue. */
async function drift() {
  const pushed = new PushedWorkload(ctx, '')
  Object.assign(pushed, { id: live().id, agents: workload.agents })
  await pushed.push(1)
  ctx.clock.advance(400_000)
}

function engine(): AlertEngine {
  let counted = 0
  let isOver = false
  turns = []
  const look = () => {
    if (counted > 0) {
      if (turns.length === 0) between()
      turns.push(counted)
    }
    counted = 0
    if (!isOver) setImmediate(look)
  }
  const made = new AlertEngine({
    db: ctx.db,
    clock: ctx.clock,
    log: ctx.log,
    random: seededRandom(++seeds),
    fleet: {
      clock: ctx.fleet.clock,
      state: ctx.fleet.state,
      isCompatible: (...of) => {
        counted++
        return ctx.fleet.isCompatible(...of)
      },
    },
    settings: { minAgentVersion: '', disconnectGraceSeconds: 120 },
    findConflicts: async () => [],
    findHalts: async () => [],
    findPolicyNews: async () => ({ pending: null, lowered: null, unreadable: null }),
    onlyPasswordLogin: null,
    webhooks: { async owe() {} },
    notices: { fired() {}, resolved() {}, restated() {} },
  })
  const run = made.run.bind(made)
  made.run = async (signal) => {
    isOver = false
    setImmediate(look)
    try {
      return await run(signal)
    } finally {
      isOver = true
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return made
}

async function drifts(): Promise<string[]> {
  const filter = { includeResolved: false, workloadId: null, after: null, limit: null }
  const open = await listAlerts(ctx.db, filter)
  return open.filter(({ rule }) => rule === 'config_drift').map(({ message }) => message)
}

it('counts so many in a turn, and all of them', async () => {
  await drift()
  await engine().run(never)
  expect(Math.max(...turns)).toBeLessThanOrEqual(CHUNK)
  expect(turns.reduce((sum, count) => sum + count, 0)).toBe(AGENTS)
  expect(await drifts()).toEqual([expect.stringContaining(`on ${AGENTS} of ${AGENTS} instances`)])
})

it('does not count instances that leave before their turn', async () => {
  await drift()
  between = () => {
    for (const agent of workload.agents.slice(-100)) agent.lose()
  }
  await engine().run(never)
  expect(await drifts()).toEqual([expect.stringContaining(`on ${AGENTS - 100} of ${AGENTS - 100} instances`)])
})

it('judges the workload the next time where what it is assigned changes between two turns', async () => {
  await drift()
  const alerts = engine()
  between = () => {
    live().active = { ...live().active! }
  }
  await alerts.run(never)
  expect(await drifts()).toEqual([])
  between = () => {}
  await alerts.run(never)
  expect(await drifts()).toHaveLength(1)
})
