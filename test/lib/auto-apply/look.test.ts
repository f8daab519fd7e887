import { describe, expect, it } from 'vitest'
import { listYoung, lookAtAll, YOUNG_MS } from '../../../lib/auto-apply/look.ts'
import type { AutoApplyParts } from '../../../lib/auto-apply/parts.ts'
import type { AutoApplyRun } from '../../../lib/auto-apply/run.ts'
import type { Workload } from '../../../lib/fleet/state/model.ts'
import type { StoredAutoApply } from '../../../lib/store/auto-apply.ts'
import type { BroughtVersion } from '../../../lib/store/fleet-config-history.ts'
import { FAKE_START, fakeClock, hearing } from '../../support/fakes.ts'

const APPROVED = new Date(FAKE_START)
const after = (ms: number) => new Date(APPROVED.getTime() + ms)
const AUTO_APPLY = { id: 'aa', number: 2, fleetConfigId: 'fc', activeSince: APPROVED } as StoredAutoApply

interface Host {
  cameMs?: number
  /** Which version of the fleet config it runs; null for none. */
  runs?: number | null
  isAway?: boolean
  under?: string | null
}
type Hosts = Record<string, Host>

const workload = (id: string, { cameMs = 1, runs = null, isAway = false, under = 'fc' }: Host) =>
  ({
    id,
    under,
    createdAt: after(cameMs),
    activeHash: runs === null ? null : `v${runs}`,
    instances: new Set(isAway ? [] : [{ connection: {}, capabilities: 0xffff, isExcluded: false }]),
  }) as unknown as Workload & { under: string | null }

/** Parts over these hosts, at a time after the approval. */
function partsOf(hosts: Hosts, nowMs = 1_000) {
  const all = Object.entries(hosts).map(([id, host]) => workload(id, host))
  const clock = fakeClock()
  clock.advance(nowMs)
  const db = {
    query: async (_: string, [, ids]: [string, string[]]) =>
      Object.entries(hosts).flatMap(([workloadId, { runs = null }]): object[] =>
        runs === null || !ids?.includes?.(workloadId)
          ? []
          : [
              {
                workloadId,
                number: runs,
                autoApplyId: null,
                state: 'applied',
                verdict: 'changes',
                ...({
                  isPushed: true,
                  resultHash: `v${runs}`,
                  at: APPROVED,
                } satisfies Partial<BroughtVersion>),
              },
            ],
      ),
  }
  const parts = {
    db,
    clock,
    fleet: {
      clock: hearing(clock),
      workload: (id: string) => all.find((one) => one.id === id) ?? null,
      state: { firstSeenSince: (moment: Date) => all.filter(({ createdAt }) => createdAt >= moment) },
    },
    fleetConfigs: {
      under: async (id: string) => all.filter(({ under }) => under === id),
      membershipOf: (one: Workload) => ({ configId: (one as (typeof all)[number]).under, rivals: [] }),
    },
  } as unknown as AutoApplyParts
  return { parts, clock }
}

const emptyRun = (more: Partial<AutoApplyRun> = {}): AutoApplyRun => ({
  inFlight: new Map(),
  leftOut: new Map(),
  queue: [],
  unread: { times: 0, untilMs: 0 },
  nextTryMs: new Map(),
  underCount: 0,
  lookedAt: null,
  nextLookMs: 0,
  nextLapseLookMs: 0,
  hasNews: false,
  isStale: false,
  ...more,
})
const IN_FLIGHT = { pushId: 'p', startedMs: 0 }

async function look(hosts: Hosts, before: Partial<AutoApplyRun> = {}) {
  const { parts } = partsOf(hosts)
  const run = emptyRun(before)
  await lookAtAll(parts, AUTO_APPLY, run)
  return { ...run, leftOut: Object.fromEntries(run.leftOut) }
}

describe('a look at all workloads under the fleet config', () => {
  it('queues whom the version reaches, says why others are left out, and counts all', async () => {
    const found = await look({
      newcomer: {},
      older: { runs: 1 },
      there: { runs: 2 },
      newer: { runs: 3 },
      former: { cameMs: -1 },
      elsewhere: { under: 'other' },
    })
    expect(found.queue).toEqual(['newcomer', 'older'])
    expect(found.leftOut).toEqual({ newer: { reason: 'newer_version' }, former: { reason: 'not_newcomer' } })
    expect(found.underCount).toBe(5)
    expect(found.lookedAt).toEqual(after(1_000))
  })

  it('waits for who is away', async () => {
    const found = await look({ away: { isAway: true } })
    expect(found.queue).toEqual([])
    expect(found.leftOut).toEqual({ away: { reason: 'offline' } })
  })

  it('keeps the former reason of who is to have another turn, and forgets that of everybody else', async () => {
    const missing = { reason: 'variable_missing' as const, variable: 'site' }
    const found = await look(
      { again: {}, there: { runs: 2 }, gone: { under: null } },
      { leftOut: new Map(['again', 'there', 'gone'].map((id) => [id, missing])) },
    )
    expect(found.queue).toEqual(['again'])
    expect(found.leftOut).toEqual({ again: missing })
  })

  it('does not call somebody left out to whom a push is under way', async () => {
    const found = await look({ pushed: { cameMs: -1 } }, { inFlight: new Map([['pushed', IN_FLIGHT]]) })
    expect(found.leftOut).toEqual({})
  })

  it('forgets when to try those again that are gone, or have been there for long', async () => {
    const found = await look(
      { young: {}, old: { cameMs: 1_000 - YOUNG_MS } },
      { nextTryMs: new Map(['young', 'old', 'gone'].map((id) => [id, 5])) },
    )
    expect([...found.nextTryMs.keys()]).toEqual(['young'])
  })
})

describe('those that have just come', () => {
  const young = async (hosts: Hosts, before: Partial<AutoApplyRun> = {}, limit = 10, nowMs = 1_000) => {
    const { parts } = partsOf(hosts, nowMs)
    return listYoung(parts, AUTO_APPLY, emptyRun(before), limit)
  }

  it('are tried in the order in which they came, so many as may be', async () => {
    const hosts = { first: {}, second: {}, third: {} }
    expect(await young(hosts)).toEqual(['first', 'second', 'third'])
    expect(await young(hosts, {}, 2)).toEqual(['first', 'second'])
    expect(await young(hosts, {}, 0)).toEqual([])
  })

  it('came since the approval, and under this fleet config', async () => {
    const hosts = { former: { cameMs: -1 }, at: { cameMs: 0 }, elsewhere: { under: 'other' } }
    expect(await young(hosts)).toEqual(['at'])
  })

  it('are not tried while a push to them is under way, nor before their next try', async () => {
    const hosts = { pushed: {}, waits: {}, due: {} }
    const { parts, clock } = partsOf(hosts)
    const run = emptyRun({
      inFlight: new Map([['pushed', IN_FLIGHT]]),
      nextTryMs: new Map([
        ['waits', clock.monotonicMs() + 1],
        ['due', clock.monotonicMs()],
      ]),
    })
    expect(await listYoung(parts, AUTO_APPLY, run, 10)).toEqual(['due'])
  })

  it('have just come for a minute', async () => {
    expect(await young({ host: {} }, {}, 10, YOUNG_MS)).toEqual(['host'])
    expect(await young({ host: {} }, {}, 10, YOUNG_MS + 1)).toEqual([])
  })
})
