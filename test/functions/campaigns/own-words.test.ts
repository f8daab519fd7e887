import { afterEach, expect, it } from 'vitest'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { CampaignFigures } from '../../../lib/wire/campaigns.ts'
import type { DriftOverview } from '../../../lib/wire/drift.ts'
import type { FleetNames } from '../../../lib/wire/fleet-names.ts'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { describeAlert } from '../../../runtime/ui/i18n/alerts.ts'
import { describeCampaign, describeFate } from '../../../runtime/ui/i18n/campaign-sentences.ts'
import { workableHashOf } from '../../../runtime/ui/logic/workloads.ts'
import { CampaignScene, FIRST } from '../../support/campaign-scene.ts'
import { fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: CampaignScene
afterEach(() => scene.ctx.close())

const OTTL = 'failed to build pipelines: unable to parse OTTL statement on host 40'

const get = async <T>(path: string, { token }: SignedIn = scene.editor): Promise<T> =>
  (await invoke(scene.ctx, `GET ${path}`, { as: token })).json as T

async function haltAlert(): Promise<AlertRecord> {
  await scene.ctx.alerts.run(new AbortController().signal)
  const alerts = await get<AlertRecord[]>('/api/alerts')
  return alerts.find(({ rule }) => rule === 'campaign_halted')!
}

it('a campaign that fails says in the words of the collector why, and its alert names the same workloads as its page', async () => {
  scene = await CampaignScene.open(database, 4)
  const id = await scene.start({ limits: { failed: 0 } })
  await scene.work(300, 2)
  scene.agents[0]!.fail(OTTL)
  await scene.work(300, 2)
  expect(await haltAlert()).toMatchObject({
    details: { value: 1, workload_ids: scene.agents[0]!.workloadId },
  })
  for (const agent of scene.agents.slice(1)) agent.fail(OTTL)
  await scene.work(300, 3)
  // More have failed since, on the page and in the alert, which nobody is called for anew.
  const before = await haltAlert()
  const { halt } = await scene.record(id)
  expect(halt).toMatchObject({ gate: 'failed', value: 4 })
  expect(before.details).toMatchObject({ value: 4, workloads: expect.stringContaining('vm-') })
  const named = String(before.details?.['workload_ids']).split(',')
  expect(named).toEqual(halt!.workload_ids.slice(0, 3))
  const { workloads } = await get<FleetNames>(`/api/fleet/names?ids=${named.join(',')}`)
  const [{ trouble } = {}] = workloads
  expect(trouble).toMatchObject({ error_cause: 'collector_validation', error_message: OTTL })
  const said = describeAlert(before, { error_message: trouble?.error_message }, (one) => one.slice(0, 4))
  expect(said).toContain(`Most of them: Collector rejected the config: ${OTTL}.`)
  expect(said).toContain(`${named[0]!.slice(0, 4)}, `)
  const { missed } = await get<CampaignFigures>(`/api/campaigns/${id}/figures`)
  expect(describeCampaign(await scene.record(id), 0, missed).join(' ')).toContain(OTTL)
  expect(describeFate(await scene.targetOf(id, scene.agents[0]!))).toContain(`config: ${OTTL}`)
  // Whoever may not read configs is told the cause alone.
  const viewer = await signIn(scene.ctx, { groups: ['viewer'] })
  const names = await get<FleetNames>(`/api/fleet/names?ids=${named.join(',')}`, viewer)
  expect(names.workloads[0]!.trouble).toMatchObject({
    error_cause: 'collector_validation',
    is_abridged: true,
  })
  expect(JSON.stringify(names)).not.toContain('OTTL')
})

it('an instance that could not go back either is said to run what it should by nobody', async () => {
  scene = await CampaignScene.open(database, 1)
  const { ctx } = scene
  const [one] = scene.agents
  const other = fakeAgent(ctx.fleet, { host: 'vm-1' })
  await ctx.advance(300)
  other.apply()
  for (const agent of [one!, other]) agent.effective(configYaml(1))
  await ctx.advance(300)
  await pushConfig(ctx.fleet, one!.workloadId, configYaml(2))
  await ctx.advance(300)
  other.fail(OTTL)
  await ctx.advance(300)
  one!.apply()
  other.fail('process died')
  await ctx.advance(300)
  expect(other.offered().at(-1)).toBe(FIRST)
  const path = `/api/workloads/${one!.workloadId}/instances`
  await get(path)
  const instances = await get<LiveInstance[]>(path)
  const of = instances.find(({ instance_uid: uid }) => uid === other.uid)!
  expect(of).toMatchObject({ assigned_config_hash: FIRST, remote_config_status: { status: 'failed' } })
  expect(of.effective_matches).toBe('unknown')
  expect(of).not.toHaveProperty('effective_config_hash')
  const drift = await get<DriftOverview>('/api/config-safety/drift')
  expect(drift.items[0]).toMatchObject({
    drift_status: 'drifted',
    expected_config_hash: FIRST,
    unknown_instance_count: 1,
  })
  expect(drift.items[0]).not.toHaveProperty('effective_config_hash')
})

it('a repair of a first config that failed everywhere is compared with what the instances report, and not with that', async () => {
  scene = await CampaignScene.open(database, 0)
  const { ctx } = scene
  const agent = fakeAgent(ctx.fleet, { host: 'vm-new' })
  await ctx.advance(300)
  agent.effective(configYaml(7))
  await ctx.advance(300)
  await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
  agent.fail(OTTL)
  await ctx.advance(300)
  const record = await get<WorkloadRecord>(`/api/workloads/${agent.workloadId}`)
  expect(record.active_config_hash).toBe(FIRST)
  // The editor and the review go by the same rule.
  expect(workableHashOf(record)).toBeUndefined()
  const { json } = await invoke(ctx, `POST /api/workloads/${agent.workloadId}/config/plan`, {
    as: scene.editor.token,
    body: configYaml(1),
  })
  expect(json).toMatchObject({ compared_with: 'reported', targets: [{ active_config_unavailable: true }] })
})
