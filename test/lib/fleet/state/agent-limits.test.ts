import { afterAll, expect, test } from 'vitest'
import type { AgentConnection } from '../../../../lib/opamp/fleet-port.ts'
import { reportOf } from '../../../support/agent-report.ts'
import { createFleetContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'

/** Room for some agents of a few attributes on each of four connections. */
const KEPT = { keptBytes: 80_000, keptBytesPerConnection: 20_000 }
const ctx = await createFleetContext(await useTestDatabase(), {
  agentLimits: { perConnection: 3, inAll: 5, workloads: 2, ...KEPT },
})
afterAll(() => ctx.close())

const connectionOf = (id: number): AgentConnection => ({ id, transport: 'ws', send: () => 'sent', drop() {} })
const uidOf = (n: number) => n.toString(16).padStart(32, '0')

/** Send one message of an agent; returns the refusal, or undefined. */
function say(
  connection: AgentConnection,
  n: number,
  host: string | null = null,
  more: Record<string, string> = {},
): string | undefined {
  const attributes = host === null ? null : new Map(Object.entries({ 'host.name': host, ...more }))
  const report = reportOf(uidOf(n), 0, { capabilities: 0, hasCapabilities: false, attributes })
  const { errorResponse } = ctx.fleet.receive(connection, report, {}).message
  return errorResponse === undefined ? undefined : `${errorResponse.type}: ${errorResponse.message}`
}

test('a connection carries so many agents, the process holds so many, and those that are there go on', () => {
  const honest = fakeAgent(ctx.fleet)
  const [one, other] = [connectionOf(1_001), connectionOf(1_002)]
  for (const n of [1, 2, 3]) expect(say(one, n)).toBeUndefined()
  expect(say(one, 4)).toBe(
    'unavailable: Cannot take another agent on this connection: it carries 3, use one more',
  )
  // A known agent may not move to a full connection either.
  expect(say(other, 5)).toBeUndefined()
  expect(say(one, 5)).toContain('on this connection')
  expect(say(other, 6)).toBe('unavailable: Cannot take another agent: there are 5')
  expect(say(other, 1)).toBeUndefined()
  expect(ctx.fleet.refusedAgents).toBe(3)
  expect(ctx.fleet.state.instances.size).toBe(5)

  // Agents that never described themselves are forgotten; one that did is remembered for the grace.
  ctx.fleet.connectionClosed(one)
  ctx.fleet.connectionClosed(other)
  honest.lose()
  expect([...ctx.fleet.state.instances.keys()]).toEqual([honest.uid])
  expect(say(one, 4)).toBeUndefined()
})

test('so many workloads are made up and no more; agents of those that are there go on, and one deleted makes room', async () => {
  const connection = connectionOf(1_003)
  for (const id of [...ctx.fleet.state.workloads.keys()])
    await ctx.fleet.remove(id, null, async () => undefined)
  const before = ctx.fleet.refusedAgents
  for (const host of ['a', 'b']) expect(say(connection, 7, host)).toBeUndefined()
  expect(say(connection, 7, 'c')).toBe(
    'unavailable: Cannot take another workload: there are 2, delete some that are gone',
  )
  expect(ctx.fleet.refusedAgents).toBe(before + 1)
  // The agent stays in its workload, and may move to one that exists.
  expect(ctx.fleet.state.instances.get(uidOf(7))?.workload?.fingerprintKeys).toMatchObject({
    'host.name': 'b',
  })
  expect(say(connection, 7, 'a')).toBeUndefined()
  expect(ctx.fleet.state.workloads.size).toBe(2)

  const left = [...ctx.fleet.state.workloads.values()].find(({ live }) => live.count === 0)!
  await ctx.fleet.remove(left.id, null, async () => undefined)
  expect(say(connection, 7, 'c')).toBeUndefined()
})

test('the agents of one WebSocket fill a share of the room, whatever they name and leave again, and no more', async () => {
  const { kept } = ctx.fleet.state
  const [greedy, honest] = [connectionOf(1_004), connectionOf(1_005)]
  for (const connection of [1_001, 1_002, 1_003].map(connectionOf)) ctx.fleet.connectionClosed(connection)
  await ctx.advance(600_000)
  for (const id of [...ctx.fleet.state.workloads.keys()])
    await ctx.fleet.remove(id, null, async () => undefined)
  const note = 'x'.repeat(4_000)
  expect(say(greedy, 8, 'd', { note })).toBeUndefined()
  // It leaves one workload behind, with its note as a label.
  expect(say(greedy, 8, 'e')).toBeUndefined()
  await ctx.advance(1_000)
  expect(kept.shareOf(greedy.id)).toBeGreaterThan(8_000)
  expect(say(greedy, 9, 'e', { note })).toBe(
    'unavailable: Cannot keep what this agent says of itself: those on this connection take 0 MiB, use one more',
  )
  expect(say(honest, 9, 'e', { note })).toBeUndefined()
  await ctx.advance(1_000)
  // It may say again what it has said, and what it left counts on until its connection ends.
  expect(say(greedy, 8, 'e')).toBeUndefined()
  ctx.fleet.connectionClosed(greedy)
  expect(kept.shareOf(greedy.id)).toBe(0)
  expect(kept.total).toBeGreaterThan(8_000)
})
