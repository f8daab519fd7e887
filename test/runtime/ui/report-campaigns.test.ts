import { afterEach, describe, expect, test } from 'vitest'
import { draftCampaign, draftCampaignTarget } from '../../../lib/reports/campaign-section.ts'
import { draftAlert } from '../../../lib/reports/dated-sections.ts'
import { createRedactor } from '../../../lib/reports/redaction.ts'
import { buildItem, type ItemDraft } from '../../../lib/reports/section-items.ts'
import type { CampaignHalt } from '../../../lib/wire/campaigns.ts'
import { language } from '../../../runtime/ui/i18n/define.ts'
import { describeFact, describeFactOf, describeItem } from '../../../runtime/ui/i18n/report-items.ts'
import { campaignRow, campaignTargetRow } from '../../support/report-material.ts'

afterEach(() => {
  language.value = 'en'
})

const itemOf = (draft: ItemDraft) => buildItem(draft, createRedactor(new Map())).item
const halt: CampaignHalt = {
  gate: 'failed',
  value: 2,
  limit: 0,
  wave: 0,
  workload_ids: [],
  title: 'Port in use',
}
const campaign = itemOf(
  draftCampaign(
    campaignRow('cmp_1', {
      name: 'Sampling',
      status: 'halted',
      halt,
      waveStates: [{ wave: 0, state: 'applied', count: 2, began: 0, ended: 1_000 }],
    }),
  ),
)
const target = itemOf(draftCampaignTarget(campaignTargetRow('cmp_1', 'vm-1', { state: 'no_answer' })))

describe('the preview of a campaign', () => {
  test('says in one sentence how it stands and why it halted', () => {
    expect(describeItem('campaigns', campaign)).toBe(
      'Campaign “Sampling”: halted. Halted in wave 1: 2 workloads failed, at most 0 may. Most of them: Port in use.',
    )
    expect(describeItem('campaigns', target)).toBe('name of vm-1: no answer, campaign “Campaign of cmp_1”')
    expect(describeFactOf('campaigns', campaign, 'waves')).toMatch(/^Wave 1, began .*, ended .*, applied: 2$/)
    expect(describeFactOf('campaigns', campaign, 'approvals')).toMatch(/^user:user-2, .*: fine$/)
  })

  test('says the same in French, with every fact named', () => {
    language.value = 'fr'
    expect(describeItem('campaigns', campaign)).toMatch(
      /^Campagne «\u00a0Sampling\u00a0»\u00a0: arrêtée\. .*Port in use/,
    )
    expect(describeItem('campaigns', target)).toContain('sans réponse')
    expect(describeFactOf('campaigns', campaign, 'waves')).toMatch(/^Vague 1, début .*, fin .*appliqué/)
    const keys = [...Object.keys(campaign.facts), ...Object.keys(target.facts)].filter((key) =>
      key.includes('_'),
    )
    const unnamed = keys.filter((key) => describeFact(key) === key.replaceAll('_', ' '))
    expect(unnamed).toEqual([])
  })
})

test('the preview of an alert names its rule, and quotes the pack where only that says what happened', () => {
  const row = { workloadId: 'w', severity: 'warning', firedAt: new Date(0), resolvedAt: null } as const
  const of = (rule: string) =>
    itemOf(draftAlert({ ...row, id: rule, rule, message: 'Workload w (cart): as the pack says it' } as never))
  expect(describeFactOf('alerts', of('push_failed'), 'rule')).toBe('Push failed')
  language.value = 'fr'
  expect(describeFactOf('alerts', of('push_failed'), 'rule')).toBe('Poussée échouée')
  expect(describeItem('alerts', of('push_failed'))).toMatch(/^Poussée échouée\s: «\sWorkload w \(cart\)/)
  expect(describeItem('alerts', of('workload_down'))).toBe('Plus aucune instance n’est connectée.')
})
