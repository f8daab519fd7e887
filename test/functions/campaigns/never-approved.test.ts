import { afterEach, beforeEach, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import { breakGlassFor, review } from '../../support/broken-glass.ts'
import { CampaignScene, FIRST, SECOND } from '../../support/campaign-scene.ts'
import type { FakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
const UNAPPROVED = configYaml(66)
let scene: CampaignScene
/** Runs a config for which the editor broke the glass. */
let forced: FakeAgent
let other: FakeAgent
let open: ReviewRecord

beforeEach(async () => {
  scene = await CampaignScene.open(database, 2)
  ;[forced, other] = scene.agents as [FakeAgent, FakeAgent]
  open = await breakGlassFor(scene.ctx, scene.editor, [forced], UNAPPROVED)
})
afterEach(() => scene.ctx.close())

/** Start a campaign, let everybody apply it, and wait for its end. */
async function carry(id: string): Promise<void> {
  expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
  for (let n = 0; n < 3; n++) {
    await scene.work(1_000)
    for (const agent of scene.agents) agent.apply()
    await scene.work(70_000)
  }
  expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 2 } })
}

async function rollBack(id: string): Promise<void> {
  expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'back' })).status).toBe(200)
  for (let n = 0; n < 3; n++) {
    await scene.work(1_000)
    for (const agent of scene.agents) agent.apply()
    await scene.work(1_000)
  }
  expect(await scene.record(id)).toMatchObject({ status: 'rolled_back' })
}

it('a roll-back does not bring back what a second person refused, and names who keeps the new config', async () => {
  await review(scene.ctx, scene.approver, open, false)
  const id = await scene.approved()
  await carry(id)
  await rollBack(id)
  expect(forced.offered().at(-1)).toBe(SECOND)
  expect(await scene.targetOf(id, forced)).toMatchObject({
    state: 'no_way_back',
    reason: 'base_not_approved',
  })
  expect(other.offered().at(-1)).toBe(FIRST)
  expect(await scene.targetOf(id, other)).toMatchObject({ state: 'rolled_back' })
})

it('a roll-back brings back what nobody approved only once a second person has accepted it', async () => {
  const id = await scene.approved()
  await carry(id)
  await review(scene.ctx, scene.approver, open, true)
  await rollBack(id)
  expect(forced.offered().at(-1)).toBe(configHash(UNAPPROVED))
  expect(await scene.targetOf(id, forced)).toMatchObject({ state: 'rolled_back' })
})

it('says beforehand who goes back, also where that is what ran before an older campaign that was rolled back', async () => {
  const older = await scene.approved()
  await carry(older)
  const newer = await scene.approved({ change: { kind: 'text', yaml: configYaml(5) } })
  await carry(newer)
  await rollBack(older)
  const { way_back } = await scene.record(newer)
  await rollBack(newer)
  expect(await scene.targetOf(newer, forced)).toMatchObject({
    state: 'no_way_back',
    reason: 'base_not_approved',
  })
  expect(other.offered().at(-1)).toBe(FIRST)
  expect(way_back).toEqual({ goes_back: 1, no_way_back: 1, moved_on: 0 })
})

it('a push of a campaign that fails brings back by itself what ran before, whoever approved it', async () => {
  const id = await scene.approved({ scope: { workload_ids: [forced.workloadId] } })
  expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
  await scene.work(1_000)
  expect(forced.offered().at(-1)).toBe(SECOND)
  forced.fail('exit code 1')
  await scene.work(1_000)
  expect(forced.offered().at(-1)).toBe(configHash(UNAPPROVED))
})

const VERBOSE = {
  change: { kind: 'patch', patch: { merge: { exporters: { debug: { verbosity: 'detailed' } } } } },
}
const verbose = (yaml: string) => configHash(yaml.replace('debug:', 'debug:\n    verbosity: detailed'))

it('a patch leaves out, by name, a workload that runs what nobody approved, and changes the others', async () => {
  await review(scene.ctx, scene.approver, open, false)
  const id = await scene.approved(VERBOSE)
  const { plan } = await scene.record(id)
  expect(plan).toMatchObject({ target_count: 1, refused: { base_not_approved: 1 } })
  expect(await scene.targetOf(id, forced)).toMatchObject({ verdict: 'refused', reason: 'base_not_approved' })
  expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
  await scene.work(1_000, 3)
  expect(other.offered().at(-1)).toBe(verbose(configYaml(1)))
  expect(forced.offered().at(-1)).toBe(configHash(UNAPPROVED))
})

it('a patch of nothing but a text that nobody approved cannot be asked for: whoever wrote that has nothing to approve', async () => {
  const id = await scene.planned({ ...VERBOSE, scope: { workload_ids: [forced.workloadId] } })
  const { plan_hash } = await scene.record(id)
  expect(await scene.call('POST', `/${id}/request`, { plan_hash }, scene.approver)).toMatchObject({
    status: 409,
    json: { code: 'campaign_changes_nothing' },
  })
})

it('a patch changes a text for which the glass was broken once a second person has accepted that', async () => {
  await review(scene.ctx, scene.approver, open, true)
  const id = await scene.approved(VERBOSE)
  expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
  await scene.work(1_000, 3)
  expect(forced.offered().at(-1)).toBe(verbose(UNAPPROVED))
})

it('a plan counts among those without a way back whoever runs what nobody approved', async () => {
  expect((await scene.record(await scene.planned())).plan).toMatchObject({
    target_count: 2,
    no_way_back_count: 1,
  })
})
