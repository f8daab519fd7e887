import { expect, it } from 'vitest'
import type { DriftOverview } from '../../../lib/wire/drift.ts'
import { AutoApplyScene, versionText } from '../../support/auto-apply-scene.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()

it('what overrules a fleet config that Git keeps shows on the page of drift, until the workload runs what Git says again', async () => {
  const scene = await AutoApplyScene.open(database)
  try {
    const admin = await signIn(scene.ctx)
    const call = (route: string, body?: object) =>
      invoke(scene.ctx, route, { as: admin.token, ...(body === undefined ? {} : { body }) })
    const differing = async () => {
      const { items, summary } = (await call('GET /api/config-safety/drift')).json as DriftOverview
      const names = ['vm-1', 'vm-2', 'vm-3'].filter((host) =>
        items
          .find(({ workload_id: id }) => id === scene.agent(host).workloadId)
          ?.drift_reasons?.includes('differs_from_git'),
      )
      expect(summary.differ_from_git).toBe(names.length)
      return names
    }
    const { workloadId } = scene.agent('vm-1')
    const rollBack = async () => {
      expect((await call(`POST /api/workloads/${workloadId}/rollback`, { comment: 'back' })).status).toBe(202)
      scene.agent('vm-1').apply()
      await scene.ctx.advance(1_000)
    }
    await scene.carry(1)
    const asked = await call('POST /api/fleet-configs/desired', {
      owner: 'platform',
      name: 'Hosts',
      selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-*'] }] },
      content: versionText(2),
      variables: [{ name: 'site', label: 'identity/host.name', pattern: '[a-z0-9-]+' }],
    })
    expect(asked).toMatchObject({ status: 200, json: { version: 2 } })
    // It waits for people, which is no drift.
    expect(await differing()).toEqual([])
    await scene.carry(2)
    expect(await differing()).toEqual([])
    await rollBack()
    expect(await differing()).toEqual(['vm-1'])
    await call(`POST /api/workloads/${workloadId}/release`)
    await scene.carry(2, { scope: { workload_ids: [workloadId] } })
    expect(await differing()).toEqual([])
  } finally {
    await scene.ctx.close()
  }
})
