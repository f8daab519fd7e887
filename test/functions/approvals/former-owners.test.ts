import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { ApiTokenCreated, ServiceAccountRecord } from '../../../lib/wire/identity.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

// What a service account did is its owner's of that time for good, and of whoever owns it at the approval.

const database = await useTestDatabase()
let ctx: FleetTestContext
let agent: FakeAgent
let admin: SignedIn
let editor: SignedIn
let former: SignedIn
let heir: SignedIn
let bot: ServiceAccountRecord
let token: string
let configId: string

const call = async (request: string, as: string, body?: object) => {
  const { status, json } = await invoke(ctx, request, { as, body })
  expect(status, JSON.stringify(json)).toBeLessThan(300)
  return json
}
const own = (ownerId: string) =>
  call(`PATCH /api/service-accounts/${bot.id}`, admin.token, { owner_id: ownerId })

beforeAll(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  admin = await signIn(ctx)
  editor = await signIn(ctx, { groups: ['editor'] })
  former = await signIn(ctx, { groups: ['editor'] })
  heir = await signIn(ctx, { groups: ['editor'] })
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
  const account = { name: 'bot', owner_id: former.userId, groups: ['editor'] }
  bot = (await call('POST /api/service-accounts', admin.token, account)) as ServiceAccountRecord
  const asked = {
    name: 'ci',
    permissions: ['config:create', 'config:request'],
    expires_at: new Date(ctx.clock.now().getTime() + 86_400_000).toISOString(),
  }
  const made = await call(`POST /api/service-accounts/${bot.id}/tokens`, admin.token, asked)
  token = (made as ApiTokenCreated).token
  const config = { name: 'Hosts', selector: { match_labels: { 'muster/tier': 'none' } } }
  configId = ((await call('POST /api/fleet-configs', admin.token, config)) as { id: string }).id
})
afterAll(() => ctx.close())

const path = () => `/api/workloads/${agent.workloadId}/config/approvals`
async function request(seed: number, as: string): Promise<string> {
  const body = { draft_yaml: configYaml(seed), comment: 'please' }
  return ((await call(`POST ${path()}`, as, body)) as ApprovalRecord).id
}
async function approve(id: string, as: SignedIn): Promise<unknown[]> {
  const { status, json } = await invoke(ctx, `POST ${path()}/${id}/approve`, {
    as: as.token,
    body: { comment: 'fine' },
  })
  return [status, (json as { reason?: string }).reason]
}

describe('whoever owned a service account when it did something', () => {
  it('is author of what it requested, after it was handed to another, who is as well', async () => {
    await own(former.userId)
    const id = await request(2, token)
    await own(heir.userId)
    expect(await approve(id, former)).toEqual([409, 'author'])
    expect(await approve(id, heir)).toEqual([409, 'author'])
    expect(await approve(id, editor)).toEqual([200, undefined])
  })

  it('is author of the version that it wrote, wherever that text is requested, also once it is removed', async () => {
    await own(former.userId)
    const version = { content: configYaml(3), comment: 'by machine' }
    await call(`POST /api/fleet-configs/${configId}/versions`, token, version)
    await own(heir.userId)
    const id = await request(3, editor.token)
    expect(await approve(id, former)).toEqual([409, 'author'])
    expect(await approve(id, heir)).toEqual([409, 'author'])
    await call(`DELETE /api/service-accounts/${bot.id}`, admin.token)
    expect(await approve(id, former)).toEqual([409, 'author'])
  })
})
