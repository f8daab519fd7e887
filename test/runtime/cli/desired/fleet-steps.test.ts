import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { beginPlan, PLAN_SECONDS_MAX } from '../../../../runtime/cli/campaigns/wait.ts'
import { takeFleetStep } from '../../../../runtime/cli/desired/fleet-steps.ts'
import { type Api, ServiceRefusal } from '../../../../runtime/cli/server/api.ts'

// Only so many campaigns are planned at one time: a pipeline over many fleet configs waits for its turn.

// Its seconds pass at once. All other timers of the process, which many files of tests share, go on: a clock that stood
// still for them as well would have to run whatever they set again and again.
beforeEach(() => {
  const later = setTimeout
  const sooner = (work: () => void, ms?: number) => (ms === 1_000 ? setImmediate(work) : later(work, ms))
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(sooner as never)
})
afterEach(() => void vi.restoreAllMocks())

/** A service that refuses the first so many plans with this code. */
function refusing(code: string, times: number): { api: Api; plans: () => number } {
  let plans = 0
  const campaign = { id: 'c', status: 'planned', plan_hash: 'h' }
  const step = { name: 'n', action: 'propose', campaign_id: 'c', campaign_status: 'draft', workload_count: 1 }
  const post = async (path: string) => {
    if (path.endsWith('/desired')) return step
    if (path.endsWith('/plan') && plans++ < times)
      throw new ServiceRefusal('are being planned', 1, { status: 409, code })
    return { ...campaign, status: 'requested' }
  }
  return {
    api: { url: '', delete: async () => {}, get: async () => campaign, post } as unknown as Api,
    plans: () => plans,
  }
}

const failureOf = (work: Promise<unknown>) => work.catch((error: Error) => error)

describe('a plan that is refused because too many are being made', () => {
  it.each(['plans_too_many', 'plans_too_many_of_one'])('is asked for again (%s)', async (code) => {
    const { api, plans } = refusing(code, 2)
    const document = { place: 'a.yaml:1:1', name: 'n', content: 'x', rest: {} } as never
    const common = { owner: 'o', commit_sha: '', commit_author: '', commit_authors: [], dry_run: false }
    expect(await takeFleetStep(api, document, common)).toMatchObject({ campaign_status: 'requested' })
    expect(plans()).toBe(3)
  })

  it('is not waited for without end', async () => {
    const { api, plans } = refusing('plans_too_many', Number.POSITIVE_INFINITY)
    expect(await failureOf(beginPlan(api, 'c'))).toMatchObject({ code: 'plans_too_many' })
    expect(plans()).toBe(PLAN_SECONDS_MAX + 1)
  })

  it('is refused at once for any other reason', async () => {
    const { api, plans } = refusing('campaign_not_ready', 1)
    expect(await failureOf(beginPlan(api, 'c'))).toMatchObject({ code: 'campaign_not_ready' })
    expect(plans()).toBe(1)
  })
})
