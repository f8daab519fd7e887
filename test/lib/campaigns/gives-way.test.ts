import { describe, expect, it } from 'vitest'
import type { CampaignParts } from '../../../lib/campaigns/judge/parts.ts'
import { hashPlan } from '../../../lib/campaigns/plan/plan-hash.ts'
import { summarise } from '../../../lib/campaigns/plan/summary.ts'
import { assignWaves, orderTargets } from '../../../lib/campaigns/plan/waves.ts'
import { lookAtApplied } from '../../../lib/campaigns/run/look-at-applied.ts'
import type { Workload } from '../../../lib/fleet/state/model.ts'
import { DEFAULT_APPROVAL_POLICY } from '../../../lib/model/approval-policy.ts'
import type { StoredCampaignTarget } from '../../../lib/store/campaign-targets.ts'
import { storeContents } from '../../../lib/store/config-contents.ts'
import type { Db } from '../../../lib/store/db.ts'
import { emptyRun } from '../../support/campaign-run.ts'
import { fakeClock, hearing } from '../../support/fakes.ts'

const COUNT = 1_000
/** Turns of other work that a thousand targets leave at least. */
const TURNS = 3

/** Do some work and count how often other work had a turn meanwhile. */
async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const other = () => {
    if (isOver) return
    turns++
    setImmediate(other)
  }
  setImmediate(other)
  await work()
  isOver = true
  return turns
}

const target = (n: number) =>
  ({
    workloadId: `w${n}`,
    verdict: 'changes',
    reason: null,
    wave: 0,
    baseHash: 'b',
    resultHash: 'r',
    isProduction: false,
    instanceCount: 1,
    groupKey: 'g',
  }) as StoredCampaignTarget
const targets = Array.from({ length: COUNT }, (_, n) => target(n))
const workload = {
  labels: {},
  trustedLabels: {},
  activeHash: 'r',
  active: null,
  rollout: null,
  newestPush: null,
  status: 'connected',
  live: { count: 1, isHealthAwaited: () => false },
}
const fleetOf = (one: typeof workload, clock = fakeClock()) =>
  ({ clock: hearing(clock), workload: () => one }) as unknown as Pick<CampaignParts, 'fleet'>['fleet']
const rules = {
  waves: [],
  limits: {},
  maxInFlight: 500,
  catchUpSeconds: 60,
  windows: [],
  retryQuarantined: false,
}

describe('a campaign of many targets leaves other work its turns', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['when they are put in order', () => orderTargets('c1', targets)],
    ['when they are given waves', () => assignWaves(targets, [{ percentage: 100 }, {}], () => () => true)],
    [
      'when the plan is hashed',
      () =>
        hashPlan({
          changeHash: 'c',
          rules,
          policyHash: 'p',
          approvalPolicy: DEFAULT_APPROVAL_POLICY,
          targets,
        }),
    ],
    [
      'when the plan is counted',
      () => {
        const workloadOf = () => workload as unknown as Workload
        return summarise([{}], targets, {
          workloadOf,
          onUnapproved: new Set(),
          onFailed: new Set(),
          now: new Date(0),
        })
      },
    ],
    ...(['watched', 'steady'] as const).map((which): [string, () => Promise<unknown>] => [
      `when it looks how those are that it keeps as ${which}`,
      () => {
        const run = emptyRun()
        for (const { workloadId } of targets) run[which].set(workloadId, 'r')
        return lookAtApplied({ fleet: fleetOf(workload) }, run)
      },
    ]),
  ])('%s', async (_, work) => {
    expect(await countTurns(work)).toBeGreaterThanOrEqual(TURNS)
  })
})

it('looks how those are that applied once a second, however many steps it takes, and afresh where it is asked', async () => {
  const run = emptyRun()
  run.watched.set('w1', 'r')
  const clock = fakeClock()
  const of = (status: string, count: number) => ({
    fleet: fleetOf({ ...workload, status, live: { ...workload.live, count } }, clock),
  })
  expect(await lookAtApplied(of('connected', 1), run)).toMatchObject({ unwell: [], troubledCount: 0 })
  expect(await lookAtApplied(of('degraded', 1), run)).toMatchObject({ unwell: [], troubledCount: 0 })
  expect(await lookAtApplied(of('connected', 0), run, { isAfresh: true })).toMatchObject({
    unwell: [],
    troubledCount: 1,
  })
  clock.advance(1_000)
  expect(await lookAtApplied(of('degraded', 1), run)).toMatchObject({ unwell: ['w1'], troubledCount: 1 })
})

it('stores the texts of many pushes by statements of a bounded size, as one parameter each', async () => {
  const sent: (readonly unknown[])[] = []
  const db = {
    query: async () => [],
    execute: async (_: string, params: readonly unknown[]) => sent.push(params),
  } as unknown as Db
  const contents = Array.from({ length: 50 }, (_, n) => ({
    hash: `h${n}`,
    body: `"${n}"\n`.repeat(8_000),
    components: [],
  }))
  await storeContents(db, contents, new Date(0))
  expect(sent.length).toBeGreaterThan(1)
  for (const params of sent) expect(params.some(Array.isArray)).toBe(false)
  const stored = sent.flatMap(([json]) => JSON.parse(String(json)) as { hash: string; body: string }[])
  expect(new Map(stored.map(({ hash, body }) => [hash, body]))).toEqual(
    new Map(contents.map(({ hash, body }) => [hash, body])),
  )
  const longest = Math.max(...sent.map(([json]) => String(json).length))
  expect(longest).toBeLessThan(1024 * 1024)
})
