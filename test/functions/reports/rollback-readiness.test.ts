import { afterAll, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { EvidencePack } from '../../../lib/wire/reports.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
const ctx = await createFleetContext(database, { edition: createCompleteEdition() })
afterAll(() => ctx.close())

it('is what a rollback would do, also where only some instances can run the former config', async () => {
  const as = (await signIn(ctx, { groups: ['editor'] })).token
  const components = { receivers: ['otlp'], exporters: ['debug'] }
  const [able, unable] = [components, { ...components, exporters: ['otlp'] }].map((has, at) =>
    fakeAgent(ctx.fleet, { host: 'vm', pod: `pod-${at}`, components: has }),
  )
  await ctx.advance(1_000)
  const { workloadId } = able!
  await pushConfig(ctx.fleet, workloadId, configYaml(1))
  able!.apply()
  await ctx.advance(1_000)
  await pushConfig(ctx.fleet, workloadId, configYaml(2))
  able!.apply()
  unable!.say({})
  await ctx.advance(1_000)
  const pack = async () => {
    const body = { scope: { workload_ids: [workloadId] }, include: { rollback_readiness: true } }
    const { json } = await invoke(ctx, 'POST /api/reports/evidence-pack', { as, body })
    return (json as EvidencePack).sections[0]!.items[0]!.facts
  }
  expect(await pack()).toMatchObject({
    ready: true,
    target_kind: 'previous',
    target_config_hash: configHash(configYaml(1)),
  })
  const rolled = await invoke(ctx, `POST /api/workloads/${workloadId}/rollback`, { as })
  expect(rolled).toMatchObject({ status: 202, json: { config_hash: configHash(configYaml(1)) } })
})

it('leaves out what only broken glass has ever pushed, as a rollback does', async () => {
  const as = (await signIn(ctx, { groups: ['editor'] })).token
  const agent = fakeAgent(ctx.fleet, { host: 'other', service: 'other' })
  await ctx.advance(1_000)
  const path = `/api/workloads/${agent.workloadId}`
  const asked = await invoke(ctx, `POST ${path}/config/approvals`, {
    as,
    body: { draft_yaml: configYaml(3) },
  })
  await invoke(ctx, `POST ${path}/config/approvals/${(asked.json as ApprovalRecord).id}/push`, {
    as,
    body: { comment: 'now', break_glass: true, break_glass_reason: 'it burns' },
  })
  agent.apply()
  await ctx.advance(1_000)
  await pushConfig(ctx.fleet, agent.workloadId, configYaml(4))
  agent.apply()
  await ctx.advance(1_000)
  const body = { scope: { workload_ids: [agent.workloadId] }, include: { rollback_readiness: true } }
  const { json } = await invoke(ctx, 'POST /api/reports/evidence-pack', { as, body })
  expect((json as EvidencePack).sections[0]!.items[0]!.facts).toMatchObject({ ready: false })
  const refused = await invoke(ctx, `POST ${path}/rollback`, { as })
  expect(refused).toMatchObject({ status: 409, json: { code: 'no_rollback_target' } })
})
