import { afterAll, expect, it } from 'vitest'
import type { HealthNode } from '../../../lib/opamp/report.ts'
import type { ExportDestination } from '../../../lib/wire/destinations.ts'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const AGENTS = 12
/** How long it takes to look at one agent's health, by the clock of the service. */
const LOOK_MS = 4
/** A turn of the loop is over after 10 ms. */
const LOOKS_MOST = 3

const ctx = await createFleetContext(await useTestDatabase())
afterAll(() => ctx.close())

let turn = 0
let isOver = false
const nextTurn = () => {
  turn++
  if (!isOver) setImmediate(nextTurn)
}

/** How many looks at healths there were in each turn of the event loop. */
const looks = new Map<number, number>()

/** A health whose parts an agent has made long. */
const longHealth = (): HealthNode => ({
  healthy: false,
  status: 'StatusRecoverableError',
  lastError: '',
  startTimeMs: 1,
  statusTimeMs: 1,
  get children() {
    looks.set(turn, (looks.get(turn) ?? 0) + 1)
    ctx.clock.advance(LOOK_MS)
    return new Map()
  },
})

const settle = (workloads: readonly string[]) =>
  Promise.all(
    workloads.map((id) =>
      pushConfig(
        ctx.fleet,
        id,
        configYaml()
          .replace('  debug:', '  otlphttp: {endpoint: https://otel.example.com}\n  debug:')
          .replace('[debug]', '[debug, otlphttp]'),
      ),
    ),
  )

it('is never held by what agents say at length of their health, whoever looks at all of them', async () => {
  const agents = Array.from({ length: AGENTS }, (_, n) =>
    fakeAgent(ctx.fleet, { service: 'edge', host: `vm-${n}` }),
  )
  await ctx.advance(300)
  await settle(agents.map(({ workloadId }) => workloadId))
  for (const agent of agents) agent.apply()
  await ctx.advance(1_000)
  for (const agent of agents) agent.say({ health: longHealth() as never })
  await ctx.advance(300)
  // They have been unwell for long enough for an alert.
  ctx.clock.advance(120_000)
  const editor = await signIn(ctx, { groups: ['editor'] })
  nextTurn()

  looks.clear()
  const { json } = await invoke(ctx, 'GET /api/fleet/destinations', { as: editor.token })
  expect((json as ExportDestination[])[0]).toMatchObject({ workload_count: AGENTS })
  expect([...looks.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(AGENTS)
  expect(Math.max(...looks.values())).toBeLessThanOrEqual(LOOKS_MOST)

  for (const { uid } of agents) ctx.fleet.state.instances.get(uid)!.health = longHealth()
  looks.clear()
  await ctx.alerts.run(new AbortController().signal)
  expect(looks.size).toBeGreaterThan(1)
  expect(Math.max(...looks.values())).toBeLessThanOrEqual(LOOKS_MOST)
  // What was found is kept with the health: nobody looks again while the agent says nothing new.
  looks.clear()
  await ctx.alerts.run(new AbortController().signal)
  expect(looks.size).toBe(0)
  isOver = true
})
