import { afterAll, describe, expect, test } from 'vitest'
import { AGENT_LIMITS, keptBytesOf } from '../../../../lib/fleet/state/agent-limits.ts'
import { KeptBytes } from '../../../../lib/fleet/state/kept-bytes.ts'
import { loadFleet } from '../../../../lib/fleet/state/load-fleet.ts'
import type { Instance, Workload } from '../../../../lib/fleet/state/model.ts'
import { FleetState } from '../../../../lib/fleet/state/state.ts'
import { silentLog } from '../../../../lib/log.ts'
import type { AgentConnection } from '../../../../lib/opamp/fleet-port.ts'
import type { AgentReport, HealthNode } from '../../../../lib/opamp/report.ts'
import { HEALTHY, reportOf } from '../../../support/agent-report.ts'
import { createFleetContext } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'

const KEPT_BYTES = 400_000
/** The share of one connection is as large as the room until a test makes it less. */
const LIMITS = { keptBytes: KEPT_BYTES, keptBytesPerConnection: KEPT_BYTES }
const ctx = await createFleetContext(await useTestDatabase(), {
  agentLimits: { ...LIMITS, perConnection: 1_000, inAll: 1_000, workloads: 1_000 },
})
afterAll(() => ctx.close())

const REFUSED = /^Cannot keep what this agent says of itself: all agents and workloads take 0 MiB$/
const connection: AgentConnection = { id: 2_001, transport: 'ws', send: () => 'sent', drop() {} }
const uidOf = (n: number) => n.toString(16).padStart(32, '0')
const host = (n: number, more: Record<string, string> = {}) =>
  new Map(Object.entries({ 'host.name': `h${n}`, ...more }))
const list = (hash: string, count: number) => ({
  hash,
  components: new Map([
    ['receivers', Array.from({ length: count }, (_, n) => `${hash}${n}`.padEnd(50, 'x'))],
  ]),
})
const sick = (): HealthNode => ({
  ...HEALTHY,
  children: new Map(
    Array.from({ length: 200 }, (_, n) => [`p${n}`, { ...HEALTHY, lastError: 'x'.repeat(100) }]),
  ),
})

let sequence = 0
function say(n: number, part: Partial<AgentReport>): string | undefined {
  const report = reportOf(uidOf(n), sequence++, { capabilities: 0x1000, ...part })
  return ctx.fleet.receive(connection, report, {}).message.errorResponse?.message
}

/** Say it as so many agents, until one is refused; how many were not. */
function fill(part: (n: number) => Partial<AgentReport>): number {
  for (let n = 1; n <= 200; n++) {
    const refused = say(n, part(n))
    if (refused === undefined) continue
    expect(refused).toMatch(REFUSED)
    return n - 1
  }
  throw new Error('nobody was refused')
}

async function forgetAll() {
  ctx.fleet.connectionClosed(connection)
  await ctx.advance(600_000)
  for (const id of [...ctx.fleet.state.workloads.keys()])
    await ctx.fleet.remove(id, null, async () => undefined)
  expect(ctx.fleet.state.instances.size).toBe(0)
  expect(ctx.fleet.state.kept.total).toBe(0)
}

describe('what agents say of themselves is kept up to so many bytes, whoever says it', () => {
  test.each<[string, (n: number) => Partial<AgentReport>]>([
    ['attributes', (n) => ({ attributes: host(n, { note: 'x'.repeat(1_000) }) })],
    ['component lists', (n) => ({ attributes: host(n), components: list(`own${n}`, 100) })],
    [
      'component lists under one hash',
      (n) => ({ attributes: host(n), components: { ...list(`own${n}`, 100), hash: 'same' } }),
    ],
    ['trees of health', (n) => ({ attributes: host(n), health: sick() })],
  ])('%s; what is gone makes room', async (_, part) => {
    const taken = fill(part)
    expect(taken).toBeGreaterThan(2)
    expect(ctx.fleet.state.kept.total).toBeLessThanOrEqual(KEPT_BYTES)
    // Those that are there go on, and may say the same again, or less.
    expect(say(1, {})).toBeUndefined()
    expect(say(1, part(1))).toBeUndefined()
    expect(say(1, { health: HEALTHY })).toBeUndefined()
    await forgetAll()
    expect(say(1, part(1))).toBeUndefined()
    await forgetAll()
  })

  test('attributes are kept as labels of the workload too, which counts before they are taken', async () => {
    const note = 'x'.repeat(0.3 * KEPT_BYTES)
    expect(say(1, { attributes: host(1, { note }) })).toMatch(REFUSED)
    expect(say(1, { attributes: host(1, { note: note.slice(0, 0.2 * KEPT_BYTES) }) })).toBeUndefined()
    await ctx.advance(1_000)
    expect(ctx.fleet.state.kept.total).toBeGreaterThan(0.8 * KEPT_BYTES)
    // It is said again, by the same agent and by another of the workload, which adds no labels.
    expect(say(1, { attributes: host(1, { note: note.slice(0, 0.2 * KEPT_BYTES) }) })).toBeUndefined()
    expect(say(2, { attributes: host(1) })).toBeUndefined()
    await forgetAll()
  })

  test('where the room is taken, agents that are here may say what became of a config, and a little more', async () => {
    const taken = fill((n) => ({ attributes: host(n, { note: 'x'.repeat(1_000) }) }))
    const hash = 'ab'.repeat(32)
    const remoteConfigStatus = { hash, status: 'failed', errorMessage: 'no' } as const
    expect(say(1, { health: sick(), remoteConfigStatus })).toMatch(REFUSED)
    expect(ctx.fleet.state.instances.get(uidOf(1))?.report).toMatchObject({ hash, status: 'failed' })
    const ill = { ...HEALTHY, healthy: false, lastError: 'x'.repeat(1_500) }
    expect(say(1, { health: ill })).toBeUndefined()
    expect(ctx.fleet.state.instances.get(uidOf(1))?.health).toMatchObject({ healthy: false })
    expect(say(taken + 2, { attributes: host(taken + 2, { note: 'x'.repeat(1_000) }) })).toMatch(REFUSED)
    // That, too, ends.
    const refused = Array.from({ length: taken }, (_, n) => say(n + 1, { health: ill })).at(-1)
    expect(refused).toMatch(REFUSED)
    expect(ctx.fleet.state.kept.total).toBeLessThanOrEqual(1.125 * KEPT_BYTES)
    await forgetAll()
  })

  test('a list that many report is counted once, until the last of them is gone', async () => {
    const before = ctx.fleet.state.kept.total
    for (let n = 1; n <= 3; n++) say(n, { components: list('shared', 100) })
    const each = 100 * 148
    expect(ctx.fleet.state.kept.total - before).toBeGreaterThan(each)
    expect(ctx.fleet.state.kept.total - before).toBeLessThan(2 * each)
    await forgetAll()
  })

  test('one connection has room for all agents of usual size that it may carry, and leaves room to others', async () => {
    const more = Object.fromEntries(
      Array.from({ length: 15 }, (_, n) => [`k8s.attribute.${n}`, 'x'.repeat(25)]),
    )
    const children = new Map(Array.from({ length: 12 }, (_, n) => [`pipeline:traces/${n}`, HEALTHY]))
    say(1, { attributes: host(1, more), health: { ...HEALTHY, children } })
    await ctx.advance(1_000)
    const each = ctx.fleet.state.kept.total
    expect(each).toBeGreaterThan(5_000)
    await forgetAll()
    for (const heap of [1_024, 2_048, 4_096]) {
      const { keptBytes, keptBytesPerConnection: share } = keptBytesOf((heap * 1_048_576) / 4)
      expect(share).toBeGreaterThan(AGENT_LIMITS.perConnection * each)
      expect(1.125 * share).toBeLessThan(keptBytes)
    }
    const { keptBytes, keptBytesPerConnection: share } = keptBytesOf(16_777_216)
    expect(1.125 * share).toBeLessThan(keptBytes)
  })

  test('what took no byte of a connection that has ended leaves its share closed, and others pay for theirs', () => {
    const kept = new KeptBytes()
    const workload = (labels: object) => ({ labels, availableComponents: null }) as Workload
    const by = (id: number) => ({ connection: { ...connection, id } }) as Instance
    const [bare, labelled] = [workload({}), workload({ note: 'x'.repeat(100) })]
    for (const one of [bare, labelled]) {
      kept.countWorkload(one)
      kept.named(one, by(1))
    }
    kept.connectionEnded(1)
    kept.named(bare, by(2))
    kept.named(labelled, by(2))
    expect(kept.shareOf(2)).toBe(kept.total)
    expect(kept.total).toBeGreaterThan(200)
  })

  test('workloads keep it after their agents are gone, and over a restart', async () => {
    for (let n = 1; n <= 5; n++) say(n, { attributes: host(n), components: list('shared', 100) })
    await ctx.fleet.writer.flush()
    const workloads = 5 * 2 * 'host.name'.length
    ctx.fleet.connectionClosed(connection)
    const again = new FleetState()
    await loadFleet(ctx.db, again, silentLog)
    const { kept } = again
    expect(again.workloads.size).toBe(5)
    expect(kept.total).toBeGreaterThan(workloads)
    // All five share one list.
    expect(
      new Set([...again.workloads.values()].map(({ availableComponents }) => availableComponents)).size,
    ).toBe(1)
    await forgetAll()
  })
})
