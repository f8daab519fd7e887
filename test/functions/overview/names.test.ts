import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FleetNames } from '../../../lib/wire/fleet-names.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
beforeAll(async () => {
  ctx = await createFleetContext(database)
})
afterAll(() => ctx.close())

describe('GET /api/fleet/names', () => {
  it('says what those asked for are called, and which names several of the fleet have, whoever is asked for', async () => {
    const viewer = await signIn(ctx, { groups: ['viewer'] })
    const agents = ['vm-1', 'vm-2'].map((host) => fakeAgent(ctx.fleet, { service: 'edge', host }))
    fakeAgent(ctx.fleet, { service: 'calm', host: 'vm-3' })
    await ctx.advance(300)
    const ask = async (query: string) =>
      (await invoke(ctx, `GET /api/fleet/names${query}`, { as: viewer.token })).json as FleetNames
    const id = agents[0]!.workloadId
    expect(await ask('')).toEqual({ workloads: [], shared_names: ['edge'], count: 3 })
    const { workloads, shared_names } = await ask(`?ids=${id},gone`)
    expect(shared_names).toEqual(['edge'])
    expect(workloads).toMatchObject([
      { id, display_name: 'edge', fingerprint_keys: { 'host.name': 'vm-1' }, labels: expect.any(Object) },
    ])
    // A name alone needs no history of pushes and no list of components.
    expect(Object.keys(workloads[0]!)).not.toContain('available_components')
  })
})
