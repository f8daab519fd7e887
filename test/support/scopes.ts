import type { ManagedGroupRecord } from '../../lib/wire/identity.ts'
import { type FakeAgent, type FleetTestContext, fakeAgent } from './fleet.ts'
import { invoke, type SignedIn, signIn } from './invoke.ts'

/** The workloads that somebody may change whose group is bound to them. */
export const STAGING = { key: 'muster/env', values: ['staging', 'dev'] }

/** Make a group that gives the role of an editor within a scope. */
export async function makeScopedGroup(
  ctx: FleetTestContext,
  admin: SignedIn,
  name = 'staging-editors',
  scope = STAGING,
): Promise<ManagedGroupRecord> {
  const body = { name, role: 'editor', scope }
  const { status, json } = await invoke(ctx, 'POST /api/groups', { as: admin.token, body })
  if (status !== 201) throw new Error(`no group: ${JSON.stringify(json)}`)
  return json as ManagedGroupRecord
}

/** Connect an agent whose workload operators have given an environment, or no trusted label at all. */
export async function connectIn(
  ctx: FleetTestContext,
  admin: SignedIn,
  env: string | null,
  options: Parameters<typeof fakeAgent>[1] = {},
): Promise<FakeAgent> {
  const agent = fakeAgent(ctx.fleet, options)
  await ctx.advance(300)
  await placeIn(ctx, admin, agent.workloadId, env)
  return agent
}

/** Give a workload another environment, as an administrator. */
export async function placeIn(
  ctx: FleetTestContext,
  admin: SignedIn,
  workloadId: string,
  env: string | null,
): Promise<void> {
  const body = { labels: env === null ? {} : { env } }
  const answer = await invoke(ctx, `PUT /api/workloads/${workloadId}/trusted-labels`, {
    as: admin.token,
    body,
  })
  if (answer.status !== 200) throw new Error(`no labels: ${answer.text}`)
}

/** Somebody who is in these groups only. */
export const member = (ctx: FleetTestContext, ...groups: readonly string[]): Promise<SignedIn> =>
  signIn(ctx, { groups })

/** The answer to what lies outside the caller's scope. */
export const OUTSIDE = { status: 403, json: { code: 'out_of_scope' } }
