import { expect, it } from 'vitest'
import { openScope } from '../../../../lib/campaigns/judge/scope.ts'

type Parts = Parameters<typeof openScope>[0]
type CampaignScope = Parameters<typeof openScope>[1]
type Workload = Parameters<ReturnType<typeof openScope>>[0]

const workload = (id: string, tier: string) =>
  ({
    id,
    type: 'collector',
    version: '0.149.0',
    labels: {},
    trustedLabels: { tier },
    fingerprintKeys: {},
    acceptsRemoteConfig: true,
    availableComponents: null,
  }) as unknown as Workload
const WEB = workload('web', 'web')
const EDGE = workload('edge', 'edge')
const parts = {
  fleetConfigs: {
    membershipOf: ({ id }: Workload) => ({ configId: id === 'web' ? 'fc' : null, rivals: [] }),
  },
} as unknown as Parts
const TEXT = null
const VERSION = 'fc'
const tier = (value: string) => ({ match_labels: { 'muster/tier': value } })

it.each<[string, CampaignScope, string | null, string, string]>([
  ['a selector', { selector: tier('web') }, TEXT, 'selected', 'not'],
  ['named workloads', { workload_ids: ['edge'] }, TEXT, 'not', 'selected'],
  ['both', { selector: tier('web'), workload_ids: ['edge'] }, TEXT, 'selected', 'selected'],
  ['a version without either: all under its fleet config', {}, VERSION, 'selected', 'not'],
  ['a version with named workloads: these only', { workload_ids: ['edge'] }, VERSION, 'not', 'selected'],
  ['nothing', {}, TEXT, 'not', 'not'],
  ['an excluded id', { selector: tier('web'), exclude_ids: ['web'] }, TEXT, 'excluded', 'not'],
  [
    'an excluding selector, stronger than a name',
    { workload_ids: ['web', 'edge'], exclude_selector: tier('edge') },
    TEXT,
    'selected',
    'excluded',
  ],
])('a campaign means %s', (_, scope, fleetConfigId, web, edge) => {
  const scopeOf = openScope(parts, scope, fleetConfigId)
  expect([WEB, EDGE].map(scopeOf)).toEqual([web, edge])
})
