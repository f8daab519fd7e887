import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { insertPushGroup } from '../../../lib/store/push-groups.ts'
import type { PushPreview } from '../../../lib/wire/pushes.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let as: string

beforeEach(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  as = (await signIn(ctx)).token
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const preview = (body: unknown) => invoke(ctx, 'POST /api/pushes/preview', { as, body })

describe('POST /api/pushes/preview', () => {
  it('reaches with a group only whom operators labelled', async () => {
    const spoofing = fakeAgent(ctx.fleet, {
      service: 'spoofing',
      attributes: { env: 'staging', 'muster/env': 'staging' },
    })
    const labelled = fakeAgent(ctx.fleet, { service: 'labelled' })
    await ctx.advance(1_000)
    const body = { labels: { env: 'staging' } }
    await invoke(ctx, `PUT /api/workloads/${labelled.workloadId}/trusted-labels`, { as, body })
    const group = { id: 'staging', name: 'Staging', description: '' }
    const selector = { match_labels: { 'muster/env': 'staging' }, types: ['collector'] }
    await database.pool.transaction('test', (tx) => insertPushGroup(tx, { ...group, selector }))
    const answer = await preview({ group_id: 'staging', selector: { types: ['sdk'] } })
    expect(answer).toMatchObject({
      status: 200,
      json: {
        group_id: 'staging',
        selector_source: 'trusted_labels',
        selector,
        targeted_count: 1,
        breakdown: { remote_config_capable: 1, read_only: 0, incompatible: 0, offline: 0 },
      },
    })
    expect((answer.json as PushPreview).targets[0]).toMatchObject({
      workload_id: labelled.workloadId,
      display_name: 'labelled',
      bucket: 'remote_config_capable',
    })
    const free = await preview({ selector: { match_labels: { env: 'staging' } } })
    expect((free.json as PushPreview).targets.map((one) => one.workload_id)).toEqual([spoofing.workloadId])
  })

  it('says of each workload whether it could run the config, given as text or as a template', async () => {
    fakeAgent(ctx.fleet, { service: 'able', components: { receivers: ['otlp'], exporters: ['debug'] } })
    fakeAgent(ctx.fleet, { service: 'lacking', components: { receivers: ['otlp'], exporters: ['otlp'] } })
    await ctx.advance(1_000)
    const bucketsOf = async (body: object) => {
      const { targets } = (await preview({ selector: {}, ...body })).json as PushPreview
      return targets.map((one) => [one.display_name, one.bucket, one.reason])
    }
    const expected = [
      ['able', 'remote_config_capable', undefined],
      ['lacking', 'incompatible', 'exporter type "debug" is not installed on the target workload'],
    ]
    expect(await bucketsOf({ config_content: configYaml() })).toEqual(expected)
    expect(await bucketsOf({ yaml: configYaml() })).toEqual(expected)
    const stored = await invoke(ctx, 'POST /api/configs', { as, body: { name: 'a', content: configYaml() } })
    expect(await bucketsOf({ config_id: (stored.json as { id: string }).id })).toEqual(expected)
    expect((await bucketsOf({ config_id: 'tpl-redis' })).map(([, bucket]) => bucket)).toEqual([
      'incompatible',
      'incompatible',
    ])
    const broken = await bucketsOf({ config_content: 'receivers: [' })
    expect(broken.map(([, bucket]) => bucket)).toEqual(['incompatible', 'incompatible'])
    expect(broken[0]![2]).toContain('invalid YAML')
  })

  it('counts those who are away', async () => {
    fakeAgent(ctx.fleet).lose()
    await ctx.advance(121_000)
    expect((await preview({ selector: {} })).json).toMatchObject({ breakdown: { offline: 1 } })
  })

  it.each([
    [{}, 400, 'group_id or selector is required'],
    [{ group_id: ' ' }, 400, 'group_id or selector is required'],
    [{ selector: { types: 'collector' } }, 400, 'invalid JSON body'],
    ['{', 400, 'invalid JSON body'],
    [{ group_id: 'nothing' }, 404, 'push group not found'],
    [{ group_id: '\0' }, 404, 'push group not found'],
    [{ selector: {}, config_id: 'nothing' }, 404, 'config not found'],
  ])('refuses %j', async (body, status, error) => {
    expect(await preview(body)).toMatchObject({ status, json: { error } })
  })
})
