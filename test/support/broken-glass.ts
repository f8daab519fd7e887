import { expect } from 'vitest'
import type { ApprovalRecord } from '../../lib/wire/approvals.ts'
import type { ReviewRecord } from '../../lib/wire/reviews.ts'
import type { FakeAgent, FleetTestContext } from './fleet.ts'
import { invoke, type SignedIn } from './invoke.ts'

/** Somebody breaks the glass for a config on an agent's workload, which runs it then; its open review. */
export async function breakGlassFor(
  ctx: FleetTestContext,
  as: SignedIn,
  agents: readonly FakeAgent[],
  yaml: string,
): Promise<ReviewRecord> {
  const on = `/api/workloads/${agents[0]!.workloadId}/config/approvals`
  const call = (request: string, body?: object) => invoke(ctx, request, { as: as.token, body })
  const { id } = (await call(`POST ${on}`, { draft_yaml: yaml })).json as ApprovalRecord
  const body = { comment: 'now', break_glass: true, break_glass_reason: 'it burns' }
  expect((await call(`POST ${on}/${id}/push`, body)).status).toBe(202)
  await ctx.advance(300)
  for (const agent of agents) agent.apply()
  await ctx.advance(300)
  const open = (await call('GET /api/reviews')).json as ReviewRecord[]
  return open.find(({ approval_id }) => approval_id === id)!
}

/** A second person says whether what was done is in order. */
export async function review(
  ctx: FleetTestContext,
  as: SignedIn,
  { id }: Pick<ReviewRecord, 'id'>,
  accepted: boolean,
): Promise<void> {
  const said = { comment: 'looked', accepted }
  expect((await invoke(ctx, `POST /api/reviews/${id}`, { as: as.token, body: said })).status).toBe(200)
}
