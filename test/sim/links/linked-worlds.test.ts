import { describe, expect, it } from 'vitest'
import type { Membership } from '../../../lib/cluster/membership.ts'
import { OWNER_SILENT_MS, RENEW_MS } from '../../../lib/cluster/timing.ts'
import type { FrontEntry } from '../../../lib/links/frames.ts'
import { useStore } from '../check-seeds.ts'
import { KEPT_LINKED_SEEDS, OPEN_LINKED_SEEDS } from '../kept-seeds.ts'
import { LOCK_POLL_MS } from '../service/sim-service.ts'
import { lacking } from './link-flaws.ts'
import { LINK_TROUBLES } from './link-troubles.ts'
import { runLinkedSeed } from './run-linked-seed.ts'

const SEEDS = Number(process.env['SIM_LINKED_SEEDS'] ?? 10)
const FIRST = Number(process.env['SIM_FIRST'] ?? 1)

const LISTS_DIFFER = /nobody goes by it|the owner knows/

describe('a fleet of fronts and an owner, under every kind of trouble', () => {
  const store = useStore()

  it('keeps its promises', { timeout: 60_000 + SEEDS * 90_000 }, async () => {
    const faults: string[] = []
    const sums = { pushes: 0, absorbed: 0, replayed: 0, offersNotSent: 0, sentElsewhere: 0 }
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const result = await runLinkedSeed(seed, store())
      for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += result[name]
      if (result.problems.length === 0) continue
      const told = `seed ${seed} (${result.troubles.join(', ')}):\n${result.problems.join('\n')}`
      faults.push(faults.length === 0 ? `${told}\n\nwhat happened:\n${result.trace}` : told)
    }
    if (faults.length > 0) expect.fail(`${faults.length} of ${SEEDS} seeds failed\n${faults.join('\n')}`)
    console.info(sums)
    // Without enough of each the seeds would show nothing.
    expect(sums.pushes).toBeGreaterThanOrEqual(SEEDS)
    expect(sums.absorbed).toBeGreaterThanOrEqual(20 * SEEDS)
    expect(sums.replayed).toBeGreaterThanOrEqual(SEEDS)
  })

  it.each(OPEN_LINKED_SEEDS)('breaks one still at seed %i: %s', { timeout: 600_000 }, async (seed) => {
    const { problems } = await runLinkedSeed(seed, store())
    expect(problems).not.toEqual([])
  })

  it.each(KEPT_LINKED_SEEDS)('keeps them at seed %i: %s', { timeout: 600_000 }, async (seed) => {
    // Worlds had no trouble of links by name when these seeds failed.
    const { problems } = await runLinkedSeed(seed, store(), { without: LINK_TROUBLES })
    expect(problems).toEqual([])
  })

  it('replaces an owner that stands still long before the database ends its sessions', {
    timeout: 600_000,
  }, async () => {
    const troubles = ['standby', 'suspensions'] as const
    const waiting = (membership: Membership) => {
      membership.mayClaim = async (_connection, holder) => holder === null
    }
    const withinMs = OWNER_SILENT_MS + LOCK_POLL_MS + RENEW_MS
    // In each one stands still for longer than this takes: else it may go on as the owner.
    for (const seed of [2, 4, 8]) {
      const { replacedMs } = await runLinkedSeed(seed, store(), { troubles })
      expect(replacedMs).toHaveLength(1)
      expect(replacedMs[0]).toBeLessThan(withinMs)
    }
    // Where members did not do that, it would take as long as the database needs, or as the owner stands still.
    const { replacedMs } = await runLinkedSeed(4, store(), { troubles, flaw: { member: waiting } })
    expect(replacedMs[0]).toBeGreaterThan(withinMs)
  })

  it('finds by comparing lists which closed connections it was never told of', {
    timeout: 600_000,
  }, async () => {
    const flaw = { toOwner: lacking<FrontEntry>('closed', 'ended') }
    let judged = 0
    for (const seed of [1, 2, 3]) {
      const { problems } = await runLinkedSeed(seed, store(), { troubles: ['badHealth'], flaw })
      // What an agent does not survive is told by its closed connections: such a push may go on for as long as they are
      // not told, and an agent that dies of it again and again is one connection more each time.
      if (problems.some((problem) => problem.endsWith('never settled'))) continue
      judged++
      expect(problems.filter((problem) => LISTS_DIFFER.test(problem))).toEqual([])
    }
    expect(judged).toBeGreaterThan(0)
  })
})
