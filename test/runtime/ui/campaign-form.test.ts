import { describe, expect, it } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { describeDraft, describeScope } from '../../../runtime/ui/i18n/campaign-draft.ts'
import { describeLimit } from '../../../runtime/ui/i18n/campaign-form.ts'
import {
  type CampaignValues,
  canBeTyped,
  emptyValues,
  fieldOf,
  readValues,
  toValues,
} from '../../../runtime/ui/logic/campaign-form.ts'

const filled = (more: Partial<CampaignValues> = {}): CampaignValues => ({
  ...emptyValues(),
  name: 'Two',
  text: 'receivers: {}',
  lines: 'muster/env=staging',
  ...more,
})

describe('the form of a campaign', () => {
  it('asks for the standard where nothing is changed', () => {
    expect(readValues(filled())).toEqual({
      faults: {},
      request: {
        name: 'Two',
        description: '',
        change: { kind: 'text', yaml: 'receivers: {}', takeover: false },
        scope: { selector: { match_labels: { 'muster/env': 'staging' } } },
        waves: [{ count: 1, dwell_seconds: 60 }, { percentage: 5, dwell_seconds: 60 }, { dwell_seconds: 60 }],
        limits: {},
        max_in_flight: 500,
        catch_up_seconds: 604_800,
        windows: [],
        retry_quarantined: false,
      },
    })
  })

  it('says everything that a campaign can be asked for, and reads it again as it was typed', () => {
    const typed = filled({
      description: 'Because',
      ids: ['a1'],
      excludeLines: 'muster/tier in (edge, rim)',
      excludeNames: 'web-1\nweb-2*\n0123456789abcdef01234567',
      waves: [
        { by: 'count', size: '2', lines: 'identity/host.name=web-*', dwell: '5' },
        { by: 'all', size: '', lines: 'muster/site', dwell: '0' },
        { by: 'percentage', size: '12.5', lines: '', dwell: '90' },
        { by: 'all', size: '', lines: '', dwell: '30' },
      ],
      limits: { failed: '0', unhealthy: '', drifted: '', silent: '7' },
      maxInFlight: '20',
      catchUpDays: '0.5',
      windows: [
        { days: [1, 5], from: '22:00', to: '04:00' },
        { days: [], from: '01:00', to: '02:00' },
      ],
      retryQuarantined: true,
    })
    const { request, faults } = readValues(typed)
    expect(faults).toEqual({})
    expect(request).toMatchObject({
      scope: {
        workload_ids: ['a1'],
        exclude_selector: {
          match_expressions: [{ key: 'muster/tier', operator: 'In', values: ['edge', 'rim'] }],
        },
        exclude_names: ['web-1', 'web-2*'],
        exclude_ids: ['0123456789abcdef01234567'],
      },
      waves: [
        { count: 2, selector: { match_labels: { 'identity/host.name': 'web-*' } }, dwell_seconds: 5 },
        { selector: { match_expressions: [{ key: 'muster/site', operator: 'Exists' }] }, dwell_seconds: 0 },
        { percentage: 12.5, dwell_seconds: 90 },
        { dwell_seconds: 30 },
      ],
      limits: { failed: 0, silent: 7 },
      max_in_flight: 20,
      catch_up_seconds: 43_200,
      windows: [
        { days: [1, 5], from: '22:00', to: '04:00' },
        { from: '01:00', to: '02:00' },
      ],
      retry_quarantined: true,
    })
    expect(toValues(request as CampaignRecord)).toEqual(typed)
  })

  it.each<[string, Partial<CampaignValues>, string]>([
    ['no name', { name: ' ' }, 'name'],
    ['no config', { text: ' ' }, 'change'],
    ['a patch that is no JSON', { kind: 'patch', text: '{' }, 'change'],
    ['a patch that is a list', { kind: 'patch', text: '[]' }, 'change'],
    ['nobody meant', { lines: '' }, 'scope.selector'],
    ['a selection that this tab does not know', { ids: null }, 'scope.selector'],
    ['a line that is no condition', { lines: 'a b' }, 'scope.selector'],
    ['such a line among the exclusions', { excludeLines: 'a b' }, 'scope.exclude_selector'],
    ['half a workload in a wave', { waves: waves({ size: '1.5' }) }, 'waves[0].count'],
    ['a wave of nothing', { waves: waves({ size: '' }) }, 'waves[0].count'],
    ['more than all in a wave', { waves: waves({ by: 'percentage', size: '101' }) }, 'waves[0].percentage'],
    ['no per cent in a wave', { waves: waves({ by: 'percentage', size: '0' }) }, 'waves[0].percentage'],
    ['a wave of all that leaves nothing', { waves: waves({ by: 'all' }) }, 'waves[0].selector'],
    [
      'a wave that is watched for longer than a week',
      { waves: waves({ dwell: '604801' }) },
      'waves[0].dwell_seconds',
    ],
    ['a limit that is no number', { limits: { ...emptyValues().limits, silent: 'x' } }, 'limits.silent'],
    ['a negative limit', { limits: { ...emptyValues().limits, failed: '-1' } }, 'limits.failed'],
    ['nothing at one time', { maxInFlight: '0' }, 'max_in_flight'],
    ['more than a month of waiting', { catchUpDays: '31' }, 'catch_up_seconds'],
    ['a window without an end', { windows: [{ days: [], from: '01:00', to: '' }] }, 'windows[0]'],
    ['a window of no length', { windows: [{ days: [], from: '01:00', to: '01:00' }] }, 'windows[0]'],
  ])('shows %s beside its field', (_, more, field) => {
    expect(Object.keys(readValues(filled(more)).faults)).toEqual([field])
  })

  it('knows the field of a refusal by its name, or by its code', () => {
    expect(fieldOf({ code: 'selector_key_unknown', body: { field: 'waves[1].selector' } })).toBe(
      'waves[1].selector',
    )
    expect(fieldOf({ code: 'name_too_long', body: { max: 128 } })).toBe('name')
    expect(fieldOf({ code: 'internal_error', body: {} })).toBe(null)
  })

  it('does not take a campaign whose conditions it would lose', () => {
    const scope = { selector: { versions: ['0.110.0'] } }
    expect(canBeTyped({ scope, waves: [] })).toBe(false)
    expect(canBeTyped({ scope: {}, waves: [{ selector: { types: ['collector'] } }] })).toBe(false)
    expect(canBeTyped({ scope: { selector: { match_labels: { a: 'b' } } }, waves: [{}] })).toBe(true)
  })
})

describe('a limit that was raised', () => {
  it('is said to be what it is raised to only where somebody had asked for one: else a wave may allow more', () => {
    expect(describeLimit('failed', { limits: { failed: 1 }, raised: { failed: 2 } })).toBe(
      'at most 2 since it was continued; approved: at most 1',
    )
    expect(describeLimit('failed', { limits: {}, raised: { failed: 1 } })).toBe(
      'none in wave 1, then 3 or 1 % (default), and at least 1 since it was continued',
    )
  })
})

function waves(first: Partial<CampaignValues['waves'][number]>): CampaignValues['waves'] {
  const all = emptyValues().waves
  return [{ ...all[0]!, ...first }, all[2]!]
}

it('says of a draft what it carries, whom it means without whom, and in which waves', () => {
  const draft = {
    change: { kind: 'version', fleet_config_id: 'a', number: 2 },
    scope: {
      selector: { match_labels: { 'muster/site': 'lyon' }, versions: ['0.149.0'] },
      exclude_names: ['edge-7'],
      exclude_ids: ['b'],
    },
    waves: [
      { count: 1, dwell_seconds: 300 },
      { percentage: 25, selector: { match_labels: { tier: 'b' } } },
      {},
    ],
  } satisfies Parameters<typeof describeDraft>[0]
  expect(describeDraft(draft)).toEqual([
    ['What', 'Version 2 of a fleet config'],
    ['Which workloads', 'muster/site=lyon, version in (0.149.0) · without edge-7 and 1 workload'],
    ['Wave 1', '1 workload, then watched for 5 min'],
    ['Wave 2', '25 % of all, tier=b'],
    ['Wave 3', 'all that are left'],
  ])
  expect([
    describeScope({}, 'version'),
    describeScope({ selector: {} }, 'text'),
    describeScope({ workload_ids: ['a', 'b'] }, 'text'),
  ]).toEqual(['all that are under the fleet config', 'the whole fleet', '2 workloads chosen in the fleet'])
})
