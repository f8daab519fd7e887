import { afterEach, describe, expect, it } from 'vitest'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import { CampaignScene, FIRST, SECOND } from '../../support/campaign-scene.ts'
import { invoke } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let scene: CampaignScene
afterEach(() => scene.ctx.close())

async function listAlerts() {
  await scene.ctx.alerts.run(new AbortController().signal)
  const { json } = await invoke(scene.ctx, 'GET /api/alerts', { as: scene.editor.token })
  return (json as AlertRecord[]).map(({ rule, workload_id: of }) => ({ rule, of }))
}

/** A campaign over three hosts that is in this status, and the host that applied its change first. */
async function bring(status: 'done' | 'paused' | 'aborted') {
  scene = await CampaignScene.open(database, 3)
  const id = await scene.approved({
    waves: status === 'done' ? [{}] : [{ count: 1, dwell_seconds: 3600 }, {}],
  })
  const first = await scene.firstOf(id)
  expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
  await scene.work()
  if (status === 'done') for (const agent of scene.agents) agent.apply()
  else first.apply()
  await scene.work(1_000, 3)
  if (status !== 'done')
    expect((await scene.call('POST', `/${id}/${status === 'paused' ? 'pause' : 'abort'}`)).status).toBe(200)
  await scene.work(30_000, 3)
  expect((await scene.record(id)).status).toBe(status)
  expect(await listAlerts()).toEqual([])
  return { id, first }
}

/** It fails of the change, and takes what it ran before. */
async function fail(first: CampaignScene['agents'][number]) {
  first.fail('exporter cannot start: no such host', SECOND)
  await scene.work(1_000, 2)
  first.apply(FIRST)
  await scene.work(20_000, 4)
}

describe('a workload that applied the change of a campaign and fails of it', () => {
  it.each(['done', 'paused'] as const)(
    'after that is %s has failed there too, and its alert says so',
    async (status) => {
      const { id, first } = await bring(status)
      await fail(first)
      expect(await listAlerts()).toEqual([{ rule: 'campaign_failures', of: '' }])
      expect(await scene.targetOf(id, first)).toMatchObject({ state: 'failed', cause: expect.any(String) })
      expect((await scene.record(id)).counts).toMatchObject({ failed: 1 })
    },
  )

  it('after that was aborted is told of by itself: the campaign answers for it no longer', async () => {
    const { id, first } = await bring('aborted')
    await fail(first)
    expect(await listAlerts()).toEqual([{ rule: 'push_failed', of: first.workloadId }])
    expect((await scene.targetOf(id, first)).state).toBe('applied')
  })
})
