import { eventually } from '../../../support/eventually.ts'
import { service } from './stage.ts'

/** Plan, request, approve and start a campaign, and wait for its end. */
export async function carryOut(campaignId: string): Promise<void> {
  const path = `/api/campaigns/${campaignId}`
  await service.api.post(`${path}/plan`, {}, 202)
  const hash = await eventually('it is planned', async () => (await service.api.get(path)).plan_hash)
  const yes = { plan_hash: hash, comment: 'yes', prod_confirmation: true }
  for (const step of ['request', 'approve', 'start']) await service.api.post(`${path}/${step}`, yes, 200)
  await eventually('it is done', async () => (await service.api.get(path)).status === 'done')
}
