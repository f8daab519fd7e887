import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Convergence, ConvergenceTarget } from '../../../lib/wire/convergence.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let viewer: SignedIn
let editor: SignedIn
let agents: FakeAgent[]
let base: string

const BIND = 'listen tcp 10.1.2.3:4317: bind: address already in use'

beforeAll(async () => {
  ctx = await createFleetContext(database)
  viewer = await signIn(ctx, { groups: ['viewer'] })
  editor = await signIn(ctx, { groups: ['editor'] })
  agents = Array.from({ length: 250 }, (_, at) =>
    fakeAgent(ctx.fleet, {
      host: 'vm',
      pod: `pod-${at}`,
      attributes: { 'k8s.node.name': `node-${at % 7}` },
    }),
  )
  await ctx.advance(1_000)
  const { hash } = await pushConfig(ctx.fleet, agents[0]!.workloadId, configYaml(1))
  base = `/api/workloads/${agents[0]!.workloadId}/configs/${hash}`
  await ctx.advance(1_000)
  for (const agent of agents.slice(-3)) agent.fail(BIND)
  for (const agent of agents.slice(0, 100)) agent.apply()
  await ctx.advance(2_000)
})
afterAll(() => ctx.close())

const get = (path: string, as: SignedIn) => invoke(ctx, `GET ${path}`, { as: as.token })

describe('a push of more instances than one page shows', () => {
  it('names the failed ones first, and everybody once, though others fail while it is read', async () => {
    const first = await get(`${base}/convergence`, viewer)
    const { targets, target_count } = first.json as Convergence
    expect(target_count).toBe(250)
    expect(targets).toHaveLength(200)
    const failed = agents.slice(-3).map(({ uid }) => uid)
    expect(targets.slice(0, 3).map(({ instance_uid: uid }) => uid)).toEqual(failed)
    expect(targets.slice(0, 3).every(({ state }) => state === 'failed')).toBe(true)
    // This target belongs on the next page. That it fails now, and so sorts first, must not drop it.
    agents[240]!.fail(BIND)
    await ctx.advance(2_000)
    const next = /<([^>]+)>/.exec(first.headers['Link'] ?? '')![1]!
    const rest = (await get(next, viewer)).json as Convergence
    const all = [...targets, ...rest.targets].map(({ instance_uid: uid }: ConvergenceTarget) => uid)
    expect(new Set(all).size).toBe(250)
    expect(all).toHaveLength(250)
  })

  it('says in safe words which port it was, to everybody, in lists, groups and on the instance', async () => {
    const parameters = { error_cause: 'port_in_use', error_parameters: { port: '4317' } }
    const { targets } = (await get(`${base}/convergence?limit=1`, viewer)).json as Convergence
    expect(targets[0]).toMatchObject(parameters)
    expect(targets[0]).not.toHaveProperty('error_message')
    const revisions = (await get(base.replace(/\/[0-9a-f]{64}$/, ''), viewer)).json as RevisionRecord[]
    expect(revisions[0]!.error_groups).toMatchObject([
      { cause: 'port_in_use', count: 4, error_parameters: { port: '4317' } },
    ])
    expect(revisions[0]!.error_groups![0]!.affected_instances).toHaveLength(4)
    const instances = await get(`/api/workloads/${agents[0]!.workloadId}/instances`, viewer)
    const sick = (instances.json as { instance_uid: string; remote_config_status?: object }[]).find(
      ({ instance_uid: uid }) => uid === agents.at(-1)!.uid,
    )
    expect(sick!.remote_config_status).toMatchObject(parameters)
    expect(JSON.stringify([targets, revisions, sick])).not.toContain('10.1.2.3')
  })

  it('says which component it was only to those who may read the config that names it', async () => {
    agents[100]!.fail(`decoding failed: 'exporters' unknown type: "kafka" for id: "kafka/eu"`)
    await ctx.advance(1_000)
    const instance = `/api/workloads/${agents[0]!.workloadId}/instances/${agents[100]!.uid}`
    const seen = { remote_config_status: { error_parameters: { component_type: 'kafka' } } }
    expect((await get(instance, editor)).json).toMatchObject(seen)
    expect((await get(instance, viewer)).text).not.toContain('kafka')
    const list = base.replace(/\/[0-9a-f]{64}$/, '')
    const groupsFor = async (as: SignedIn) =>
      ((await get(list, as)).json as RevisionRecord[])[0]!.error_groups
    expect(await groupsFor(editor)).toMatchObject([
      { cause: 'port_in_use', sample_message: expect.stringContaining('address already in use') },
      { cause: 'component_unknown', sample_path: 'exporters.kafka/eu' },
    ])
    expect((await groupsFor(editor))![0]).not.toHaveProperty('sample_path')
    expect(JSON.stringify(await groupsFor(viewer))).not.toMatch(/kafka\/eu|sample_/)
  })

  it('names the node of each instance that says where it runs', async () => {
    const { json } = await get(base, editor)
    const { instance_statuses: statuses } = json as RevisionRecord
    expect(statuses![0]).toMatchObject({ status: 'failed', node: expect.stringMatching(/^node-\d$/) })
  })
})
