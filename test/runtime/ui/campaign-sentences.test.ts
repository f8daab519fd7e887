import { expect, test } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { describeCampaign } from '../../../runtime/ui/i18n/campaign-sentences.ts'
import { lookOf, rolledBackToo } from '../../../runtime/ui/logic/campaigns.ts'

const done = (counts: CampaignRecord['counts']) =>
  ({ status: 'done', counts, plan: { target_count: 40, waves: [] } }) as unknown as CampaignRecord

test('a campaign that is done says which workloads do not run it, and looks like it', () => {
  expect(describeCampaign(done({ applied: 40 }), 0)).toEqual(['Done.'])
  expect(lookOf(done({ applied: 40 }))[0]).toBe('ok')
  const partly = done({ applied: 36, failed: 1, no_answer: 2, skipped: 1 })
  expect(describeCampaign(partly, 0)).toEqual([
    'Done, but not everywhere: 36 of 40 workloads run it.',
    '1 workload failed.',
    '2 workloads did not answer.',
    '1 workload was skipped.',
  ])
  expect(lookOf(partly)[0]).toBe('warn')
})

test('who is rolled back with a campaign are those that it reaches: where it is cut to scopes, nobody outside', () => {
  const kept = { count: 7, without_base: 3, workloads: [] }
  expect(rolledBackToo({})).toBeNull()
  expect(rolledBackToo({ by_itself: kept })).toMatchObject({ count: 7, without_base: 3 })
  const cut = (count: number) => ({ by_itself: { ...kept, in_cut: { count, without_base: 0 } } })
  expect(rolledBackToo(cut(2))).toEqual({ count: 2, without_base: 0 })
  expect(rolledBackToo(cut(0))).toBeNull()
})
