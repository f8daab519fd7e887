import { afterAll, expect, it } from 'vitest'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = await createFleetContext(database)
afterAll(() => ctx.close())

it('labels all that a selector means, beside what they have, and counts before', async () => {
  const as = (await signIn(ctx)).token
  const agents = ['web-1', 'web-2', 'db-1'].map((host) =>
    fakeAgent(ctx.fleet, { service: 'otelcol', attributes: { 'host.name': host } }),
  )
  await ctx.advance(1_000)
  const ids = agents.map(({ workloadId }) => workloadId!)
  const labelsOf = (id: string) => ctx.fleet.workload(id)!.trustedLabels
  await invoke(ctx, `PUT /api/workloads/${ids[0]}/trusted-labels`, { as, body: { labels: { site: 'x' } } })
  const patch = (more: object) =>
    invoke(ctx, 'PATCH /api/workloads/labels', {
      as,
      body: {
        selector: { match_labels: { 'identity/host.name': 'web-*' } },
        labels: { tier: 'web' },
        ...more,
      },
    })
  expect(await patch({ dry_run: true })).toMatchObject({ status: 200, json: { changed_count: 2 } })
  expect(labelsOf(ids[0]!)).toEqual({ site: 'x' })
  expect(await patch({})).toMatchObject({ status: 200, json: { changed_count: 2 } })
  expect(ids.map(labelsOf)).toEqual([{ site: 'x', tier: 'web' }, { tier: 'web' }, {}])
  expect(await patch({})).toMatchObject({ json: { changed_count: 0 } })
  expect(await patch({ selector: {} })).toMatchObject({ status: 400, json: { code: 'selector_empty' } })
  expect(await patch({ labels: { 'muster/a': 'b' } })).toMatchObject({ status: 400 })
})

it('keeps a label that is being set in that moment', async () => {
  const as = (await signIn(ctx)).token
  const agent = fakeAgent(ctx.fleet, { service: 'otelcol', attributes: { 'host.name': 'edge-1' } })
  await ctx.advance(1_000)
  const patch = (more: object) =>
    invoke(ctx, 'PATCH /api/workloads/labels', {
      as,
      body: {
        selector: { match_labels: { 'identity/host.name': 'edge-1' } },
        labels: { tier: 'edge' },
        ...more,
      },
    })
  let patched = Promise.resolve<unknown>(undefined)
  await ctx.fleet.setTrustedLabels(agent.workloadId!, { site: 'x' }, null, async () => {
    patched = patch({})
    // A dry run that was sent after the change is answered, so the change has selected its workloads by now.
    await patch({ dry_run: true })
  })
  expect(await patched).toMatchObject({ json: { changed_count: 1 } })
  expect(ctx.fleet.workload(agent.workloadId!)!.trustedLabels).toEqual({ site: 'x', tier: 'edge' })
})

it('labels those that are named, and those that a selector means beside them', async () => {
  const as = (await signIn(ctx)).token
  const agents = ['one', 'two', 'three'].map((host) =>
    fakeAgent(ctx.fleet, { service: 'otelcol', attributes: { 'host.name': host } }),
  )
  await ctx.advance(1_000)
  const ids = agents.map(({ workloadId }) => workloadId!)
  const patch = (body: object) => invoke(ctx, 'PATCH /api/workloads/labels', { as, body })
  const named = { workload_ids: [ids[0], ids[0], 'gone'], labels: { rack: 'a' } }
  expect(await patch({ ...named, dry_run: true })).toMatchObject({ json: { changed_count: 1 } })
  expect(await patch(named)).toMatchObject({ status: 200, json: { changed_count: 1 } })
  const selector = { match_labels: { 'identity/host.name': 't*' } }
  expect(await patch({ ...named, selector, labels: { rack: 'b' } })).toMatchObject({
    json: { changed_count: 3 },
  })
  expect(ids.map((id) => ctx.fleet.workload(id)!.trustedLabels)).toEqual(ids.map(() => ({ rack: 'b' })))
  const many = Array.from({ length: 501 }, (_, at) => `w${at}`)
  expect(await patch({ workload_ids: many, labels: { rack: 'c' } })).toMatchObject({
    status: 400,
    json: { code: 'workload_ids_invalid', max: 500 },
  })
})
