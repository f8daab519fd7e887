import { ODD_STORES, STORE_CONFIG, STORE_CONFIG_BOUNDED } from './demo-agents.ts'
import type { Call } from './demo-history.ts'

const PLAN_PATIENCE_MS = 20_000
const VARIABLES = [{ name: 'store', label: 'identity/host.name', description: 'The host of the store.' }]

/** The campaign that there is to try, as the welcome and the README name it. */
export const TRIAL_CAMPAIGN = 'Bound the memory of the stores'

interface Campaign {
  id: string
  status: string
  plan_hash?: string
}

/**
 * Bring the hosts of the stores under one fleet config: a label rule labels them, a campaign gives them its first
 * version, and another campaign, which nobody has planned yet, is to bring them the second. The end of the first
 * campaign is not waited for.
 */
export async function makeStores(call: Call, ids: ReadonlyMap<string, string>): Promise<void> {
  await call('POST', '/api/label-rules', {
    name: 'Stores',
    selector: { match_labels: { 'identity/host.name': 'store-*' } },
    labels: { tier: 'store' },
  })
  const { id } = await call<{ id: string }>('POST', '/api/fleet-configs', {
    name: 'Stores',
    description: 'Metrics of the hosts in the stores',
    selector: { match_labels: { 'muster/tier': 'store' } },
  })
  const versions = `/api/fleet-configs/${id}/versions`
  await call('POST', versions, { content: STORE_CONFIG, variables: VARIABLES, comment: 'As it runs today' })
  await call('POST', versions, {
    content: STORE_CONFIG_BOUNDED,
    variables: VARIABLES,
    comment: 'With a bound for the memory',
  })
  await call('POST', `/api/workloads/${ids.get(ODD_STORES.isHeld)}/hold`, {
    reason: 'Its disk is being replaced',
  })
  await bringUnder(call, id)
  await call('POST', '/api/campaigns', {
    name: TRIAL_CAMPAIGN,
    description: 'Version 2 of the fleet config for all stores',
    change: { kind: 'version', fleet_config_id: id, number: 2 },
    scope: {},
    waves: [
      { count: 1, dwell_seconds: 5 },
      { percentage: 25, dwell_seconds: 5 },
      { percentage: 100, dwell_seconds: 0 },
    ],
  })
}

/** Plan, approve and start the campaign that takes the stores over. */
async function bringUnder(call: Call, fleetConfigId: string): Promise<void> {
  const made = await call<Campaign>('POST', '/api/campaigns', {
    name: 'Bring the stores under management',
    change: { kind: 'version', fleet_config_id: fleetConfigId, number: 1, takeover: true },
    scope: {},
    waves: [{ percentage: 100, dwell_seconds: 0 }],
  })
  const path = `/api/campaigns/${made.id}`
  await call('POST', `${path}/plan`)
  const deadline = performance.now() + PLAN_PATIENCE_MS
  let campaign = made
  while (campaign.status !== 'planned') {
    if (performance.now() > deadline) throw new Error('the campaign of the stores was not planned')
    await new Promise((resolve) => setTimeout(resolve, 100))
    campaign = await call<Campaign>('GET', path)
  }
  const decision = { plan_hash: campaign.plan_hash, comment: 'As it runs today' }
  for (const step of ['request', 'approve', 'start']) await call('POST', `${path}/${step}`, decision)
}
