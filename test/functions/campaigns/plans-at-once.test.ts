import { expect, it } from 'vitest'
import { PLANS_MAX, PLANS_OF_ONE_MAX } from '../../../lib/campaigns/plan/planner.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { eventually } from '../../support/eventually.ts'
import { openTestConnection, useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'
import { useTestService } from '../../support/service.ts'

const database = await useTestDatabase()

it('plans of three campaigns of one person and of eight of all are made at one time: another is 429, and taken later', async () => {
  const { call, token } = await useTestService(database, { edition: 'complete' })
  const people = await Promise.all([0, 1, 2].map(() => token({ groups: ['editor'] })))
  const draft = {
    name: 'One',
    change: { kind: 'text', yaml: configYaml(2) },
    scope: { selector: { match_labels: { 'identity/host.name': 'nobody' } } },
    waves: [{}],
  }
  const drafts = async (as: string) => {
    const ids: string[] = []
    for (let n = 0; n <= PLANS_OF_ONE_MAX; n++) {
      const { status, json } = await call('POST', '/api/campaigns', { as, body: draft })
      expect(status).toBe(201)
      ids.push((json as CampaignRecord).id)
    }
    return ids
  }
  const plan = async (as: string, id: string) => {
    const { status, json } = await call('POST', `/api/campaigns/${id}/plan`, { as })
    const { code, max } = json as { code?: string; max?: number }
    return [status, code, max]
  }
  const of = await Promise.all(people.map(drafts))
  // Whoever locks the campaigns keeps their plans from being stored, so that they stay under way.
  const lock = await openTestConnection(database.dsn)
  await lock.query('begin')
  await lock.query('select from campaigns for update')
  const begun = [202, undefined, undefined]
  const [ann, bob, cid] = people as [string, string, string]
  for (const id of of[0]!.slice(0, 3)) expect(await plan(ann, id)).toEqual(begun)
  expect(await plan(ann, of[0]![3]!)).toEqual([429, 'plans_too_many_of_one', PLANS_OF_ONE_MAX])
  for (const id of of[1]!.slice(0, 3)) expect(await plan(bob, id)).toEqual(begun)
  for (const id of of[2]!.slice(0, 2)) expect(await plan(cid, id)).toEqual(begun)
  expect(await plan(cid, of[2]![2]!)).toEqual([429, 'plans_too_many', PLANS_MAX])
  await lock.query('commit')
  await lock.close()
  await eventually('all that was begun is planned', async () => {
    const { json } = await call('GET', '/api/campaigns?limit=50', { as: ann })
    return (json as CampaignRecord[]).filter(({ status }) => status === 'planned').length === PLANS_MAX
  })
  expect(await plan(ann, of[0]![3]!)).toEqual(begun)
  expect(await plan(cid, of[2]![2]!)).toEqual(begun)
})
