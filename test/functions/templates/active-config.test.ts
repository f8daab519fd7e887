import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { TemplateRecord } from '../../../lib/wire/templates.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let editor: SignedIn
let viewer: SignedIn
let agent: FakeAgent

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  editor = await signIn(ctx, { groups: ['editor'] })
  viewer = await signIn(ctx, { groups: ['viewer'] })
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const read = (id: string, as = editor) => invoke(ctx, `GET /api/configs/${id}`, { as: as.token })

describe('the config that a workload names as active_config_id', () => {
  it('is read like a template, with whoever asked for it', async () => {
    const yaml = configYaml(1)
    const base = `/api/workloads/${agent.workloadId}/config/approvals`
    const post = (path: string, body: object) =>
      invoke(ctx, `POST ${base}${path}`, { as: editor.token, body })
    const { id } = (await post('', { draft_yaml: yaml })).json as { id: string }
    const approver = await signIn(ctx)
    await invoke(ctx, `POST ${base}/${id}/approve`, { as: approver.token, body: { comment: 'fine' } })
    expect((await post(`/${id}/push`, {})).status).toBe(202)
    await ctx.advance(300)
    const { json } = await invoke(ctx, `GET /api/workloads/${agent.workloadId}`, { as: viewer.token })
    const { active_config_id: active } = json as WorkloadRecord
    expect(active).toBe(configHash(yaml))
    const answer = await read(active!)
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      id: active,
      name: `push-${active!.slice(0, 8)}`,
      content: yaml,
      created_at: expect.any(String),
      created_by: editor.userId,
      kind: 'saved',
      status: 'ready',
      built_in: false,
    })
    expect(await read(active!, viewer)).toMatchObject({ status: 403, json: { error: 'forbidden' } })
  })

  it('is not listed among the templates, and is gone once nothing runs it', async () => {
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
    const listed = (await invoke(ctx, 'GET /api/configs', { as: editor.token })).json as TemplateRecord[]
    expect(listed.map(({ id }) => id)).not.toContain(configHash(configYaml(1)))
    expect((await read(configHash(configYaml(1)))).status).toBe(200)
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(2))
    expect((await read(configHash(configYaml(1)))).status).toBe(404)
    expect((await read(configHash(configYaml(3)))).status).toBe(404)
  })
})

describe('what browsers are told of the newest push', () => {
  const told = (type: string) => ctx.frames.filter((frame) => frame.type === type)

  it('goes with each status that an instance reports, without content and without instances', async () => {
    const first = await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
    agent.apply()
    await ctx.advance(2_000)
    const second = await pushConfig(ctx.fleet, agent.workloadId, configYaml(2))
    agent.fail('exporter "otlp" refused: token=s3cret')
    await ctx.advance(2_000)
    const frames = told('workload_config_status') as unknown as {
      status: { status: string; config_hash: string; push_status: Record<string, unknown> }
    }[]
    expect(frames.slice(0, 2).map(({ status }) => [status.status, status.push_status?.['push_id']])).toEqual([
      ['applied', first.pushId],
      ['failed', second.pushId],
    ])
    const shown = frames[1]!.status.push_status
    expect(shown).toMatchObject({
      workload_id: agent.workloadId,
      config_hash: configHash(configYaml(2)),
      target_count: 1,
      failed_count: 1,
      timed_out_waiting_for_opamp_status: false,
    })
    expect(shown).not.toHaveProperty('content')
    expect(shown).not.toHaveProperty('instance_statuses')
    expect(JSON.stringify(frames)).not.toContain('s3cret')
    // The automatic rollback is told with the workload as soon as that has a status again.
    agent.apply()
    await ctx.advance(2_000)
    expect(told('workload_update').at(-1)).toMatchObject({
      workload: { remote_config_status: { push_status: { pushed_by: 'auto-rollback' } } },
    })
  })

  it('goes with the workload as well, whose frame would else take the former push back', async () => {
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
    agent.apply()
    await ctx.advance(2_000)
    const second = await pushConfig(ctx.fleet, agent.workloadId, configYaml(2))
    agent.apply()
    await ctx.advance(2_000)
    const last = told('workload_update').at(-1) as unknown as {
      workload: { remote_config_status: { push_status: { push_id: string } } }
    }
    expect(last.workload.remote_config_status.push_status).toMatchObject({
      push_id: second.pushId,
      status: 'applied',
    })
  })
})
