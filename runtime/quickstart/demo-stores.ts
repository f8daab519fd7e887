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
  await makeOnce(call, '/api/label-rules', {
    name: 'Stores',
    selector: { match_labels: { 'identity/host.name': 'store-*' } },
    labels: { tier: 'store' },
  })
  const { id } = await makeOnce<{ id: string }>(call, '/api/fleet-configs', {
    name: 'Stores',
    description: 'Metrics of the hosts in the stores',
    selector: { match_labels: { 'muster/tier': 'store' } },
  })
  const versions = `/api/fleet-configs/${id}/versions`
  const written = await call<unknown[]>('GET', versions)
  const texts = [
    { content: STORE_CONFIG, comment: 'As it runs today' },
    { content: STORE_CONFIG_BOUNDED, comment: 'With a bound for the memory' },
  ]
  for (const text of texts.slice(written.length))
    await call('POST', versions, { ...text, variables: VARIABLES })
  // Whoever is held already is held anew.
  await call('POST', `/api/workloads/${ids.get(ODD_STORES.isHeld)}/hold`, {
    reason: 'Its disk is being replaced',
  })
  await bringUnder(call, id)
  await makeOnce(call, '/api/campaigns', {
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

/** What has this name in a list; it is made where there is none. */
async function makeOnce<T>(
  call: Call,
  path: string,
  draft: { name: string } & Record<string, unknown>,
): Promise<T> {
  const listed = await call<(T & { name: string })[]>('GET', path)
  return listed.find(({ name }) => name === draft.name) ?? call('POST', path, draft)
}

/** What leads the campaign on that takes the stores over, from each of its statuses. */
const STEP_FROM: Readonly<Record<string, string>> = {
  planned: 'request',
  requested: 'approve',
  approved: 'start',
}

/** Plan, approve and start the campaign that takes the stores over, as far as that is not done. */
async function bringUnder(call: Call, fleetConfigId: string): Promise<void> {
  const made = await makeOnce<Campaign>(call, '/api/campaigns', {
    name: 'Bring the stores under management',
    change: { kind: 'version', fleet_config_id: fleetConfigId, number: 1, takeover: true },
    scope: {},
    waves: [{ percentage: 100, dwell_seconds: 0 }],
  })
  const path = `/api/campaigns/${made.id}`
  if (made.status === 'draft') await call('POST', `${path}/plan`)
  const deadline = performance.now() + PLAN_PATIENCE_MS
  let campaign = made
  while (campaign.status === 'draft') {
    if (performance.now() > deadline) throw new Error('the campaign of the stores was not planned')
    await new Promise((resolve) => setTimeout(resolve, 100))
    campaign = await call<Campaign>('GET', path)
  }
  const decision = { plan_hash: campaign.plan_hash, comment: 'As it runs today' }
  for (let step = STEP_FROM[campaign.status]; step !== undefined; step = STEP_FROM[campaign.status])
    campaign = await moveOn(call, campaign, `${path}/${step}`, decision)
}

/** Take a step; a campaign that stays where it was would be led on without end. */
async function moveOn(call: Call, from: Campaign, path: string, decision: object): Promise<Campaign> {
  const moved = await call<Campaign>('POST', path, decision)
  if (moved.status === from.status) throw new Error(`the campaign of the stores stays ${from.status}`)
  return moved
}
