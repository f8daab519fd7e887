import { expect, test } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { describeCampaign } from '../../../runtime/ui/i18n/campaign-sentences.ts'
import { lookOf } from '../../../runtime/ui/logic/campaigns.ts'

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
