import { afterEach, expect, it } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { exitCodeOf } from '../../../runtime/cli/campaigns/standing.ts'
import { EXIT } from '../../../runtime/cli/exit-codes.ts'
import { describeCampaign } from '../../../runtime/ui/i18n/campaign-sentences.ts'
import { lookOf } from '../../../runtime/ui/logic/campaigns.ts'
import { CampaignScene } from '../../support/campaign-scene.ts'
import { fakeAgent } from '../../support/fleet.ts'
import { invoke } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: CampaignScene
afterEach(() => scene.ctx.close())

it('a campaign names the workloads of which some instances never took the change, while it waits and once it is done', async () => {
  scene = await CampaignScene.open(database, 0)
  const { ctx } = scene
  const pods = Array.from({ length: 5 }, (_, n) => fakeAgent(ctx.fleet, { host: 'vm-five', pod: `pod-${n}` }))
  await ctx.advance(300)
  await pushConfig(ctx.fleet, pods[0]!.workloadId, configYaml(1))
  for (const pod of pods) pod.apply()
  await ctx.advance(300)
  const id = await scene.start()
  await scene.work(300, 2)
  for (const pod of pods.slice(2)) pod.apply()
  await scene.work(40_000, 2)
  const waiting = await scene.record(id)
  expect(waiting).toMatchObject({
    status: 'running',
    in_part: { started: { workload_count: 1, instance_count: 2, until: expect.any(String) } },
  })
  expect(describeCampaign(waiting, 0).join(' ')).toMatch(
    /1 workload has been getting it for more than a minute, and 2 of its instances have not applied it so far: /,
  )
  // Whoever reads the row is told how far it is there, and the page until when the others are waited for.
  const reach = { target_count: 5, applied_count: 3, failed_count: 0, no_status_count: 0 }
  expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'started', reach })
  const nowMs = ctx.clock.now().getTime()
  const untilMs = Date.parse(waiting.in_part?.['started']?.until ?? '')
  expect(untilMs).toBeGreaterThan(nowMs)
  expect(describeCampaign(waiting, nowMs).join(' ')).toMatch(
    /They are waited for until \d\d:\d\d at the latest\./,
  )
  await scene.work(120_000, 8)
  expect(ctx.clock.now().getTime()).toBeGreaterThan(untilMs)
  const done = await scene.record(id)
  expect(done).toMatchObject({
    status: 'done',
    counts: { applied: 1 },
    in_part: { applied: { workload_count: 1, instance_count: 2 } },
  })
  expect(await scene.targetOf(id, pods[0]!)).toMatchObject({
    state: 'applied',
    reach: { ...reach, no_status_count: 2 },
  })
  expect(describeCampaign(done, 0)[0]).toMatch(
    /^Done, but on 1 of 1 workload not everywhere: 2 of their instances failed it or did not answer: /,
  )
  // It is no more done in a list, in the feed or for a pipeline than on its page.
  const { json: listed } = await scene.call('GET', '')
  expect(listed).toMatchObject([{ id, in_part: { applied: { workload_count: 1 } } }])
  expect(lookOf((listed as CampaignRecord[])[0]!)[0]).toBe('warn')
  const { json: changes } = await invoke(ctx, 'GET /api/changes?kind=campaign', { as: scene.editor.token })
  expect(changes).toMatchObject([{ id, in_part_count: 1 }])
  expect(exitCodeOf(done, 'get')).toBe(EXIT.differs)
})
