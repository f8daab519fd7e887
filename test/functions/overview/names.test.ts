import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FleetNames } from '../../../lib/wire/fleet-names.ts'
import type { FoundWorkloads } from '../../../lib/wire/fleet-search.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { READ_ONLY } from '../../support/opamp-scene.ts'
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
      {
        id,
        display_name: 'edge',
        fingerprint_keys: { 'host.name': 'vm-1' },
        labels: expect.any(Object),
        // Whoever is asked to approve something for it sees whom that reaches.
        connected_instance_count: 1,
      },
    ])
    // A name alone needs no history of pushes and no list of components.
    expect(Object.keys(workloads[0]!)).not.toContain('available_components')
  })
})

describe('GET /api/fleet/search', () => {
  it('finds the first by name that have all that was asked for, and says whether there are more', async () => {
    const viewer = await signIn(ctx, { groups: ['viewer'] })
    for (let n = 0; n < 12; n++) fakeAgent(ctx.fleet, { service: `till-${n}`, host: `shop-${n % 3}` })
    fakeAgent(ctx.fleet, { service: 'till-mute', host: 'shop-9', capabilities: READ_ONLY })
    await ctx.advance(300)
    const find = async (query: string) => {
      const answer = await invoke(ctx, `GET /api/fleet/search?${query}`, { as: viewer.token })
      const { workloads, has_more } = answer.json as FoundWorkloads
      return [...workloads.map((one) => one.display_name), ...(has_more ? ['…'] : [])]
    }
    expect(await find('q=till&limit=2')).toEqual(['till-0', 'till-1', '…'])
    expect(await find('q=till%20host:shop-2')).toEqual(['till-2', 'till-5', 'till-8', 'till-11'])
    expect(await find('q=name:till%20-till-1&limit=2')).toEqual(['till-0', 'till-2', '…'])
    expect(await find('q=till-mute')).toEqual(['till-mute'])
    expect(await find('q=till-mute&only=takes_configs')).toEqual([])
    expect(await find('q=till&only=pushed')).toEqual([])
    expect(await find('q=nowhere')).toEqual([])
    // Words that every object knows are no fields of a workload.
    for (const word of ['constructor', '__proto__', 'tostring']) expect(await find(`q=${word}:x`)).toEqual([])
  })

  it('refuses a limit that is none', async () => {
    const viewer = await signIn(ctx, { groups: ['viewer'] })
    const answer = await invoke(ctx, 'GET /api/fleet/search?limit=few', { as: viewer.token })
    expect(answer.status).toBe(400)
  })
})
