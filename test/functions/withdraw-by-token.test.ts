import { afterEach, describe, expect, it } from 'vitest'
import type { ApprovalRecord } from '../../lib/wire/approvals.ts'
import { AutoApplyScene } from '../support/auto-apply-scene.ts'
import { CampaignScene } from '../support/campaign-scene.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../support/invoke.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { configYaml } from '../support/push-config.ts'

const database = await useTestDatabase()
let scene: CampaignScene | AutoApplyScene
afterEach(() => scene.ctx.close())

/** The same person, who calls by a token that may request and nothing else. */
async function byToken(holder: SignedIn): Promise<SignedIn> {
  return { ...holder, token: (await makeApiToken(scene.ctx, holder, ['config:request'])).token }
}
const refused = { status: 403, json: { code: 'session_required' } }

describe('a token withdraws only what its holder asked for, and a person what anybody did', () => {
  it('of requests for one workload, approved or not', async () => {
    const made = await CampaignScene.open(database, 1)
    scene = made
    const { ctx, agents, editor, approver } = made
    const path = `/api/workloads/${agents[0]!.workloadId}/config/approvals`
    const call = (as: SignedIn, request: string, body: object) => invoke(ctx, request, { as: as.token, body })
    const approved = async (): Promise<string> => {
      const draft = { draft_yaml: configYaml(3) }
      const { id } = (await call(editor, `POST ${path}`, draft)).json as ApprovalRecord
      expect((await call(approver, `POST ${path}/${id}/approve`, { comment: 'yes' })).status).toBe(200)
      return id
    }
    const eve = await signIn(ctx, { groups: ['editor'] })
    const withdraw = (as: SignedIn, id: string) => call(as, `POST ${path}/${id}/withdraw`, { comment: '' })
    const first = await approved()
    expect(await withdraw(await byToken(eve), first)).toMatchObject(refused)
    expect(await withdraw(await byToken(approver), first)).toMatchObject(refused)
    expect(await withdraw(await byToken(editor), first)).toMatchObject({ json: { status: 'withdrawn' } })
    expect(await withdraw(eve, await approved())).toMatchObject({ json: { status: 'withdrawn' } })
  })

  it('nor does it take the place of what another asked for by asking for something else', async () => {
    const made = await CampaignScene.open(database, 1)
    scene = made
    const { ctx, agents, editor, approver } = made
    const path = `/api/workloads/${agents[0]!.workloadId}/config/approvals`
    const ask = async (as: SignedIn, n: number, target_group = '') => {
      const body = { draft_yaml: configYaml(n), target_group }
      const { status, json } = await invoke(ctx, `POST ${path}`, { as: as.token, body })
      return { status, json: json as ApprovalRecord }
    }
    const statusOf = async (id: string) =>
      ((await invoke(ctx, `GET ${path}/${id}`, { as: editor.token })).json as ApprovalRecord).status
    const { id } = (await ask(editor, 3)).json
    const kept = await ask(await byToken(approver), 4)
    expect(kept).toMatchObject({ status: 403, json: { code: 'session_required', approval_id: id } })
    expect(await statusOf(id)).toBe('pending')
    expect((await ask(await byToken(approver), 4, 'elsewhere')).status).toBe(201)
    const own = await ask(await byToken(editor), 4)
    expect([own.status, (await ask(approver, 5)).status]).toEqual([201, 201])
    expect(await statusOf(own.json.id)).toBe('retired')
  })

  it('but what a service account asked for gives way, and what somebody did whose account is gone', async () => {
    const made = await CampaignScene.open(database, 1)
    scene = made
    const { ctx, agents, editor, approver } = made
    const path = `/api/workloads/${agents[0]!.workloadId}/config/approvals`
    const ask = async (as: SignedIn, n: number) => {
      const body = { draft_yaml: configYaml(n) }
      const { status, json } = await invoke(ctx, `POST ${path}`, { as: as.token, body })
      expect(status, JSON.stringify(json)).toBe(201)
      return (json as ApprovalRecord).id
    }
    const statusOf = async (id: string) =>
      ((await invoke(ctx, `GET ${path}/${id}`, { as: approver.token })).json as ApprovalRecord).status
    const former = await ask(editor, 3)
    await database.pool.execute('delete from users where id = $1', [editor.userId])
    const ofBot = await ask(await byToken(approver), 4)
    const bot = await signIn(ctx, { groups: ['editor'] })
    await database.pool.execute('update approvals set requester_id = $2 where id = $1', [ofBot, bot.userId])
    await database.pool.execute(
      `update users set kind = 'service', owner_id = $2, email_key = null, password_hash = null where id = $1`,
      [bot.userId, approver.userId],
    )
    const next = await ask(await byToken(approver), 5)
    expect(await Promise.all([former, ofBot, next].map(statusOf))).toEqual(['retired', 'retired', 'pending'])
  })

  it('of campaigns', async () => {
    const made = await CampaignScene.open(database, 1)
    scene = made
    const withdraw = (as: SignedIn, id: string) => made.call('POST', `/${id}/withdraw`, { comment: '' }, as)
    const first = await made.approved()
    expect(await withdraw(await byToken(made.approver), first)).toMatchObject(refused)
    expect((await made.record(first)).status).toBe('approved')
    expect(await withdraw(await byToken(made.editor), first)).toMatchObject({ json: { status: 'withdrawn' } })
    expect(await withdraw(made.approver, await made.approved())).toMatchObject({ status: 200 })
  })

  it('of versions that are to apply by themselves', async () => {
    const made = await AutoApplyScene.open(database)
    scene = made
    await made.carry(1)
    await made.request(1)
    const withdraw = (as: SignedIn) => made.on('POST', '/withdraw', {}, as)
    expect(await withdraw(await byToken(made.approver))).toMatchObject(refused)
    expect(await withdraw(await byToken(made.editor))).toMatchObject({ json: { status: 'withdrawn' } })
    await made.request(1)
    expect(await withdraw(made.approver)).toMatchObject({ json: { status: 'withdrawn' } })
  })
})
