import type { DesiredResult } from '../../lib/wire/desired.ts'
import type { FleetTestContext } from './fleet.ts'
import { invoke, type SignedIn, signIn } from './invoke.ts'

/** Let an owner in Git keep a workload: it asks for this config, and somebody else approves that. */
export async function keepInGit(
  ctx: FleetTestContext,
  workloadId: string,
  { as, ...body }: { as: SignedIn; owner: string; config: string },
): Promise<{ status: number }> {
  const path = `/api/workloads/${workloadId}/config`
  const asked = await invoke(ctx, `POST ${path}/desired`, { as: as.token, body })
  if (asked.status !== 200) throw new Error(`Git could not ask: ${JSON.stringify(asked.json)}`)
  const approval = `${path}/approvals/${(asked.json as DesiredResult).approval_id}`
  const { token } = await signIn(ctx)
  const approved = await invoke(ctx, `POST ${approval}/approve`, { as: token, body: { comment: 'fine' } })
  if (approved.status !== 200) throw new Error(`Nobody could approve: ${JSON.stringify(approved.json)}`)
  return approved
}
