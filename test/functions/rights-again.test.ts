import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import alertEngine from '../../functions/alerts/engine.ts'
import { configHash } from '../../lib/model/config-hash.ts'
import type { Db } from '../../lib/store/db.ts'
import { upsertLinkRequest } from '../../lib/store/external-users.ts'
import { listUserGroups, replaceUserGroups } from '../../lib/store/groups.ts'
import { deleteSession, insertSession } from '../../lib/store/sessions.ts'
import type { AlertRecord } from '../../lib/wire/alerts.ts'
import type { ReviewRecord } from '../../lib/wire/reviews.ts'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { AutoApplyScene } from '../support/auto-apply-scene.ts'
import { through } from '../support/faulty-database.ts'
import { fakeAgent } from '../support/fleet.ts'
import { type Answer, addSession, invoke, type SignedIn, signIn } from '../support/invoke.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { configYaml, pushConfig } from '../support/push-config.ts'
import { makeScopedGroup, member, OUTSIDE } from '../support/scopes.ts'

// Whoever loses a right between the moment that a call is let in and the transaction of its change changes nothing: for
// every endpoint that changes something and asks for a permission.
const CHANGES_NOTHING: Readonly<Record<string, string>> = {
  'adopt/check': 'reads',
  'auto-apply/plan': 'reads',
  'campaigns/match': 'reads',
  'campaigns/plan': 'nothing comes of a plan before somebody requests it, which asks again',
  'configs/migration-preview': 'reads',
  'configs/plan': 'reads',
  'configs/plan-export': 'reads',
  'configs/policy-preview': 'reads',
  'configs/validate': 'reads',
  'configs/diff': 'reads',
  'connect/credential': 'reads, and its record stays whoever reads',
  'label-rules/preview': 'reads',
  'legacy/agents': 'always refused',
  'legacy/agents-path': 'always refused',
  'me/preferences': 'one’s own preferences, in one statement that waits for nobody',
  'pushes/preview': 'reads',
  'reports/evidence-pack': 'reads, and its record stays whoever reads',
  'reports/export': 'reads, and its record stays whoever reads',
  'rollouts/canary-validate': 'reads',
  'workloads/direct-push': 'always refused',
}

/** Need no right where they are about one's own; what they are tried with here is everybody's. */
const ASK_BY_THEMSELVES = ['fleet-views/remove', 'fleet-views/save']

const database = await useTestDatabase()
let scene: AutoApplyScene
let ann: SignedIn
let bob: SignedIn
/** What happens when the next transaction is about to begin. */
let beforeNext: (() => Promise<void>) | null = null
/** What happens while the next transaction waits for the lock of the audit trail. */
let beforeChain: (() => Promise<void>) | null = null
const LINK = '00000000-0000-7000-8000-000000000001'
const tried = new Set<string>()
const SICK = {
  healthy: false,
  status: 'StatusPermanentError',
  lastError: 'disk full',
  startTimeMs: 1,
  statusTimeMs: 1,
  children: new Map(),
}

const db = {
  ...through(database.pool),
  async transaction<T>(name: string, work: Parameters<typeof database.pool.transaction<T>>[1]): Promise<T> {
    const act = beforeNext
    beforeNext = null
    await act?.()
    return database.pool.transaction(name, (tx) => work(waiting(tx)))
  },
}

const waiting = (tx: Db): Db => ({
  async query(text, params) {
    const act = text.includes('pg_advisory_xact_lock') ? beforeChain : null
    if (act !== null) beforeChain = null
    await act?.()
    return tx.query(text, params)
  },
  execute: (text, params) => tx.execute(text, params),
})

beforeEach(async () => {
  await scene?.ctx.close()
  scene = await AutoApplyScene.open(database, db)
  ann = await signIn(scene.ctx)
  bob = await signIn(scene.ctx)
})
afterAll(() => scene.ctx.close())

const records = async () =>
  (await database.pool.query<{ count: number }>('select count(*) as count from audit_events'))[0]!.count

const FORBIDDEN = { error: 'forbidden' }
const endpoints = loadFunctions(FUNCTIONS).http.flatMap(({ id, definition: { route, access } }) =>
  access.kind === 'signed-in' && !route.startsWith('GET ')
    ? [
        {
          id,
          refusal: access.reach === 'nothing' ? FORBIDDEN : OUTSIDE.json,
          asksForRight: access.permission !== null || ASK_BY_THEMSELVES.includes(id),
        },
      ]
    : [],
)

/**
 * Make a change again and again: by somebody who loses every right once it is let in, by somebody whose session ends
 * then, and then by the same person with both.
 */
async function change<T = never>(id: string, request: string, body?: unknown, as = ann): Promise<T> {
  const endpoint = endpoints.find((one) => one.id === id)!
  tried.add(id)
  const call = (): Promise<Answer> =>
    invoke(scene.ctx, request, { as: as.token, ...(body === undefined ? {} : { body }) })
  const refusedAfter = async (take: () => Promise<unknown>, refusal: object) => {
    const before = await records()
    let isTaken = false
    beforeNext = async () => {
      isTaken = true
      await take()
    }
    const refused = await call()
    beforeNext = null
    const found = { id, isTaken, ...refused, records: await records() }
    expect(found).toMatchObject({ id, isTaken: true, ...refusal, records: before })
  }
  if (endpoint.asksForRight) {
    const groups = (await listUserGroups(database.pool, as.userId)).map((group) => group.id)
    const take = () => replaceUserGroups(database.pool, as.userId, [])
    await refusedAfter(take, { status: 403, json: endpoint.refusal })
    await replaceUserGroups(database.pool, as.userId, groups)
  }
  const now = scene.ctx.clock.now()
  await refusedAfter(() => deleteSession(database.pool, as.sessionId), { status: 401 })
  const expiresAt = new Date(now.getTime() + 86_400_000)
  await insertSession(database.pool, { id: as.sessionId, userId: as.userId, createdAt: now, expiresAt })
  const made = await call()
  expect(made.status, `${id}: ${made.text}`).toBeLessThan(300)
  return made.json as T
}

interface WithId {
  id: string
}
const workload = (host = 'vm-1') => `/api/workloads/${scene.agent(host).workloadId}`

describe('whoever loses the right in the moment of a change', () => {
  it('decides nothing about a request', async () => {
    const path = `${workload()}/config/approvals`
    const ask = (port: number) => ({
      draft_yaml: configYaml(port),
      target_group: 'single',
      comment: 'please',
    })
    const { id } = await change<WithId>('approvals/create', `POST ${path}`, ask(11))
    await change('approvals/comment', `POST ${path}/${id}/comments`, { comment: 'hm' })
    await change('approvals/approve', `POST ${path}/${id}/approve`, { comment: 'fine' }, bob)
    await change('approvals/push', `POST ${path}/${id}/push`, { comment: 'go' })
    scene.agent('vm-1').apply()
    await scene.ctx.advance(1_000)
    const second = await change<WithId>('approvals/create', `POST ${path}`, ask(12))
    await change('approvals/reject', `POST ${path}/${second.id}/reject`, { comment: 'no' }, bob)
    const third = await change<WithId>('approvals/create', `POST ${path}`, ask(13))
    await change('approvals/withdraw', `POST ${path}/${third.id}/withdraw`, { comment: 'no' })
  })
})

describe('whoever loses the right in the moment of a change of one workload', () => {
  it('puts nothing back and marks nothing', async () => {
    const path = workload('vm-2')
    for (const port of [21, 22]) {
      const approvals = `POST ${path}/config/approvals`
      const body = { draft_yaml: configYaml(port), target_group: 'single', comment: 'please' }
      const { json } = await invoke(scene.ctx, approvals, { as: ann.token, body })
      const { id } = json as WithId
      await invoke(scene.ctx, `${approvals}/${id}/approve`, { as: bob.token, body: { comment: 'fine' } })
      const pushed = await invoke(scene.ctx, `${approvals}/${id}/push`, { as: ann.token, body: {} })
      expect(pushed.status, pushed.text).toBe(202)
      scene.agent('vm-2').apply()
      await scene.ctx.advance(1_000)
    }
    const first = configHash(configYaml(21))
    await change('workloads/label', `POST ${path}/configs/${first}/label`, { label: 'good' })
    await change('known-good/mark', `POST ${path}/configs/${first}/known-good`, { force: true })
    await change('rollback/to-hash', `POST ${path}/configs/${first}/rollback`, { comment: 'back' })
    scene.agent('vm-2').apply()
    await scene.ctx.advance(1_000)
    await change('known-good/clear', `DELETE ${path}/known-good`)
    await change('rollback/to-default', `POST ${path}/rollback`, { comment: 'back' })
    scene.agent('vm-2').apply()
    await scene.ctx.advance(1_000)
    const { json } = await invoke(scene.ctx, 'GET /api/reviews', { as: bob.token })
    const [review] = json as ReviewRecord[]
    await change(
      'reviews/review',
      `POST /api/reviews/${review!.id}`,
      { comment: 'right', accepted: true },
      bob,
    )
  })

  it('decides nothing about a rollout', async () => {
    const agents = ['a', 'b', 'c', 'd'].map((pod) => fakeAgent(scene.ctx.fleet, { host: 'ro', pod }))
    const path = `/api/workloads/${agents[0]!.workloadId}/config`
    await scene.ctx.advance(1_000)
    await pushConfig(scene.ctx.fleet, agents[0]!.workloadId, configYaml(30))
    for (const agent of agents) agent.apply()
    await scene.ctx.advance(1_000)
    const begin = async (port: number) => {
      const body = { draft_yaml: configYaml(port), target_group: 'single', comment: 'please' }
      const asked = await invoke(scene.ctx, `POST ${path}/approvals`, { as: ann.token, body })
      const { id } = asked.json as WithId
      const approve = `POST ${path}/approvals/${id}/approve`
      await invoke(scene.ctx, approve, { as: bob.token, body: { comment: 'fine' } })
      const selection = { strategy: 'count', count: 1 }
      const wanted = { config: configYaml(port), selection, comment: 'go' }
      const { id: canary } = await change<WithId>('rollouts/start', `POST ${path}/canary`, wanted)
      await scene.ctx.advance(1_000)
      return `POST ${path}/canary/${canary}`
    }
    const first = await begin(31)
    agents[0]!.apply()
    await scene.ctx.advance(2_000)
    agents[0]!.say({ health: SICK })
    await scene.ctx.advance(65_000)
    await change('rollouts/continue', `${first}/promote`)
    await change('rollouts/abort', `${first}/abort`)
    const second = await begin(32)
    await change('rollouts/roll-back', `${second}/rollback`)
  })

  it('neither holds it, nor labels, archives or deletes it, nor sets its variables', async () => {
    const path = workload('vm-3')
    const ids = { workload_ids: [scene.agent('vm-3').workloadId] }
    await change('workloads/hold', `POST ${path}/hold`, { reason: 'mine' })
    await change('workloads/release', `POST ${path}/release`)
    await change('holds/create', 'POST /api/holds', { ...ids, reason: 'mine' })
    await change('holds/release', 'POST /api/holds/release', ids)
    await change('workloads/trusted-labels', `PUT ${path}/trusted-labels`, { labels: { team: 'a' } })
    await change('workloads/patch-labels', 'PATCH /api/workloads/labels', { ...ids, labels: { team: 'b' } })
    await change('workloads/set-variables', `PUT ${path}/variables`, { values: { site: 'x' } })
    const config = { owner: 'platform', config: configYaml(41) }
    await change('desired/apply', `POST ${path}/config/desired`, config)
    const over = { owner: 'platform', to_owner: 'shop', to_account_id: ann.userId }
    await change('desired/hand-over', 'POST /api/managed-configs/hand-over', over)
    await change('desired/release', `DELETE ${path}/config/desired?owner=shop`)
    scene.agent('vm-3').lose()
    await scene.ctx.advance(121_000)
    await alertEngine.run(scene.ctx, new AbortController().signal)
    const [alert] = (await invoke(scene.ctx, 'GET /api/alerts', { as: ann.token })).json as AlertRecord[]
    await change('alerts/resolve', `POST /api/alerts/${alert!.id}/resolve`)
    await change('alerts/reopen', `POST /api/alerts/${alert!.id}/reopen`)
    const named = { alert_ids: [alert!.id], reason: 'known' }
    await change('alerts/resolve-many', 'POST /api/alerts/resolve', named)
    await change('workloads/archive', `POST ${path}/archive`)
    await change('workloads/delete', `DELETE ${path}`)
  })
})

describe('whoever loses the right in the moment of a change of many workloads', () => {
  const HOSTS = { match_labels: { 'identity/host.name': 'vm-*' } }

  it('decides nothing about a campaign', async () => {
    const draft = {
      name: 'To 1',
      change: { kind: 'version', fleet_config_id: scene.configId, number: 1, takeover: true },
      scope: {},
      waves: [{}],
      limits: { failed: 50, silent: 50 },
    }
    const planned = async () => {
      const { id } = await change<WithId>('campaigns/create', 'POST /api/campaigns', draft)
      await change('campaigns/edit', `PUT /api/campaigns/${id}`, draft)
      await invoke(scene.ctx, `POST /api/campaigns/${id}/plan`, { as: ann.token })
      await expect.poll(async () => (await scene.readCampaign(id)).status).toBe('planned')
      const { plan_hash } = await scene.readCampaign(id)
      const yes = { comment: 'yes', plan_hash, prod_confirmation: true }
      await change('campaigns/request', `POST /api/campaigns/${id}/request`, yes)
      return { path: `POST /api/campaigns/${id}`, yes }
    }
    const { id } = await change<WithId>('campaigns/create', 'POST /api/campaigns', draft)
    await change('campaigns/remove', `DELETE /api/campaigns/${id}`)
    const rejected = await planned()
    await change('campaigns/reject', `${rejected.path}/reject`, { comment: 'no' }, bob)
    const withdrawn = await planned()
    await change('campaigns/withdraw', `${withdrawn.path}/withdraw`, { comment: 'no' })
    const { path, yes } = await planned()
    await change('campaigns/approve', `${path}/approve`, yes, bob)
    await change('campaigns/comment', `${path}/comments`, { comment: 'hm' })
    await change('campaigns/start', `${path}/start`)
    await change('campaigns/pause', `${path}/pause`)
    await change('campaigns/continue', `${path}/continue`)
    await scene.work()
    await change('campaigns/abort', `${path}/abort`)
    await scene.applyAll(['vm-1', 'vm-2'])
    await scene.work(1_000)
    await change('campaigns/roll-back', `${path}/roll-back`)
    for (let n = 0; n < 5; n++) {
      await scene.work(1_000)
      await scene.applyAll(['vm-1', 'vm-2'])
    }
  })

  it('decides nothing about what applies by itself', async () => {
    await scene.carry(1)
    const path = `POST /api/fleet-configs/${scene.configId}/auto-apply`
    const ask = async () => {
      const { plan_hash } = await scene.plan(1)
      const body = { number: 1, plan_hash, comment: 'for newcomers', prod_confirmation: true }
      await change('auto-apply/request', path, body)
      return { plan_hash, comment: 'yes' }
    }
    await ask()
    await change('auto-apply/reject', `${path}/reject`, { comment: 'no' }, bob)
    await ask()
    await change('auto-apply/withdraw', `${path}/withdraw`, { comment: 'no' })
    const yes = await ask()
    await change('auto-apply/approve', `${path}/approve`, yes, bob)
    await change('auto-apply/pause', `${path}/pause`, { comment: 'wait' })
    await change('auto-apply/continue', `${path}/continue`, { comment: 'on' })
    await change('auto-apply/turn-off', `${path}/turn-off`, { comment: 'off' })
  })

  it('changes no fleet config, by hand or from Git', async () => {
    const body = { name: 'New', selector: { match_labels: { 'identity/host.name': 'none' } }, priority: 3 }
    const { id } = await change<WithId>('fleet-configs/create', 'POST /api/fleet-configs', body)
    const path = `/api/fleet-configs/${id}`
    await change('fleet-configs/update', `PUT ${path}`, { ...body, name: 'Newer' })
    const version = { content: configYaml(1), comment: 'One', variables: [] }
    await change('fleet-configs/add-version', `POST ${path}/versions`, version)
    await change('fleet-configs/remove', `DELETE ${path}`)
    const wish = { owner: 'platform', name: 'git', selector: HOSTS, content: configYaml(51) }
    const made = await change<{ fleet_config_id: string }>(
      'desired/apply-fleet',
      'POST /api/fleet-configs/desired',
      { ...wish, campaign: { takeover: true } },
    )
    const release = `DELETE /api/fleet-configs/${made.fleet_config_id}/desired?owner=platform`
    await change('desired/release-fleet', release)
  })
})

describe('whoever loses the right in the moment of a change of what belongs to all', () => {
  it('changes no setting, template, freeze, push group or rule', async () => {
    const until = new Date(scene.ctx.clock.now().getTime() + 3_600_000).toISOString()
    await change('freeze/set', 'PUT /api/freeze', { reason: 'holidays', until })
    await change('freeze/lift', 'DELETE /api/freeze')
    await change('settings/recommend-version', 'PUT /api/settings/recommended-version', {
      version: '0.120.0',
    })
    await change('settings/save-workload-links', 'PUT /api/settings/workload-links', {
      links: [{ name: 'Grafana', url: 'https://grafana.example.com/{id}' }],
    })
    const template = { name: 'One', kind: 'template', content: configYaml(1) }
    const view = await change<WithId>('fleet-views/save', 'POST /api/me/views', {
      name: 'Ours',
      query: '',
      shared: true,
    })
    await change('fleet-views/remove', `DELETE /api/me/views/${view.id}`, undefined, bob)
    await change('templates/create', 'POST /api/configs', template)
    const group = { name: 'Edge', description: '', selector: { match_labels: { 'muster/env': 'dev' } } }
    const { id } = await change<WithId>('push-groups/create', 'POST /api/push-groups', group)
    await change('push-groups/update', `PUT /api/push-groups/${id}`, group)
    await change('push-groups/remove', `DELETE /api/push-groups/${id}`)
    const rule = {
      name: 'QA',
      selector: { match_labels: { 'identity/host.name': 'qa-*' } },
      labels: { env: 'qa' },
      confirm_lowering: true,
    }
    const made = await change<WithId>('label-rules/create', 'POST /api/label-rules', rule)
    await change('label-rules/update', `PUT /api/label-rules/${made.id}`, { ...rule, name: 'Tests' })
    await change('label-rules/remove', `DELETE /api/label-rules/${made.id}`)
    const another = { approvals: 1, author_counts: false }
    const policy = { production: another, other: another, unlabelled: another }
    await change('approval-policy/change', 'PUT /api/approval-policy', policy)
  })

  it('changes no user, group, service account or token', async () => {
    const group = { name: 'testers', role: 'editor' }
    const { id } = await change<WithId>('groups/create', 'POST /api/groups', group)
    await change('groups/update', `PUT /api/groups/${id}`, { role: 'viewer', scope: null })
    await change('groups/remove', `DELETE /api/groups/${id}`)
    const account = { name: 'bot', owner_id: bob.userId, groups: ['editor'] }
    const bot = await change<WithId>('service-accounts/create', 'POST /api/service-accounts', account)
    const path = `/api/service-accounts/${bot.id}`
    await change('service-accounts/update', `PATCH ${path}`, { groups: ['editor'] })
    const expires_at = new Date(scene.ctx.clock.now().getTime() + 86_400_000).toISOString()
    const token = { name: 'ci', permissions: ['workload:push_config'], expires_at }
    const made = await change<WithId>('tokens/create-for-service-account', `POST ${path}/tokens`, token)
    await change('tokens/revoke-of-user', `DELETE /api/users/${bot.id}/tokens/${made.id}`)
    await change('service-accounts/remove', `DELETE ${path}`)
    const password = 'correct horse battery'
    const user = { email: 'new@example.com', password, groups: ['viewer'] }
    const { id: newcomer } = await change<WithId>('users/create', 'POST /api/users', user)
    await change('users/update', `PATCH /api/users/${newcomer}`, { groups: ['editor'] })
    for (const [step, request] of [
      ['users/refuse-link-request', `DELETE /api/link-requests/${LINK}`],
      ['users/accept-link-request', `POST /api/link-requests/${LINK}/accept`],
    ] as const) {
      await upsertLinkRequest(database.pool, {
        id: LINK,
        userId: newcomer,
        issuer: 'https://id.example.com',
        subject: 's',
        email: user.email,
        requestedAt: scene.ctx.clock.now(),
      })
      await change(step, request)
    }
    await change('users/remove', `DELETE /api/users/${newcomer}`)
  })

  it('gives nobody a token of one’s own, and takes none, and confirms no command line', async () => {
    const expires_at = new Date(scene.ctx.clock.now().getTime() + 86_400_000).toISOString()
    const token = { name: 'mine', permissions: ['workload:push_config'], expires_at }
    const { id } = await change<WithId>('tokens/create', 'POST /api/tokens', token)
    await change('tokens/revoke', `DELETE /api/tokens/${id}`)
    const login = { challenge: 'c'.repeat(43), state: 's'.repeat(43), port: 4_711, machine: 'laptop' }
    await change('auth/confirm-command-line', 'POST /api/auth/command-line', login)
    const email = 'eve@example.com'
    const [current_password, new_password] = ['correct horse battery', 'staple of another kind']
    const user = { email, password: current_password, groups: ['viewer'] }
    const made = await invoke(scene.ctx, 'POST /api/users', { as: ann.token, body: user })
    const eve = await addSession(scene.ctx, { userId: (made.json as WithId).id, email })
    await change('me/password', 'PUT /api/me/password', { current_password, new_password }, eve)
  })

  it('may give the right, and the session, away by the change itself', async () => {
    const own = async (method: string, body?: object) => {
      const dan = await signIn(scene.ctx)
      const path = `${method} /api/users/${dan.userId}`
      return (await invoke(scene.ctx, path, { as: dan.token, ...(body ? { body } : {}) })).status
    }
    expect(await own('PATCH', { groups: ['viewer'] })).toBe(200)
    expect(await own('DELETE')).toBe(204)
  })
})

/** Wait until `act` is over, or waits in the database for something that another transaction holds. */
async function untilDoneOrWaiting(act: Promise<unknown>): Promise<void> {
  let isDone = false
  void act.finally(() => {
    isDone = true
  })
  const waiting = 'select count(*)::int as count from pg_stat_activity where wait_event_type = $1'
  for (;;) {
    const [row] = await database.pool.query<{ count: number }>(
      `${waiting} and datname = current_database()`,
      ['Lock'],
    )
    if (isDone || row!.count > 0) return
  }
}

describe('whoever loses the right while a change waits for the audit trail', () => {
  it('changes nothing', async () => {
    const before = await records()
    let isTaken = false
    beforeChain = async () => {
      isTaken = true
      await replaceUserGroups(database.pool, ann.userId, [])
    }
    const body = { values: { site: 'x' } }
    const refused = await invoke(scene.ctx, `PUT ${workload()}/variables`, { as: ann.token, body })
    expect({ isTaken, status: refused.status, records: await records() }).toEqual({
      isTaken: true,
      status: 403,
      records: before,
    })
  })

  const settings = () => ({ version: `0.${++versions}.0` })
  let versions = 120
  const CHANGES: readonly (readonly [what: string, request: () => string, body: () => object])[] = [
    ['settings', () => 'PUT /api/settings/recommended-version', settings],
    ['groups', () => 'POST /api/groups', () => ({ name: `group-${++versions}`, role: 'editor' })],
    ['users', () => `PATCH /api/users/${bob.userId}`, () => ({ groups: ['viewer'] })],
    [
      'service accounts',
      () => 'POST /api/service-accounts',
      () => ({ name: `bot-${++versions}`, owner_id: bob.userId, groups: ['editor'] }),
    ],
    ['variables', () => `PUT ${workload()}/variables`, () => ({ values: { site: 'x' } })],
  ]
  const ENDS = {
    'the group': () =>
      invoke(scene.ctx, `PATCH /api/users/${ann.userId}`, { as: cay.token, body: { groups: ['viewer'] } }),
    'the session': () => invoke(scene.ctx, 'POST /api/auth/logout', { as: ann.token }),
    'the user': () => invoke(scene.ctx, `DELETE /api/users/${ann.userId}`, { as: cay.token }),
  }
  let cay: SignedIn

  it.each(
    CHANGES.flatMap(([what, request, body]) =>
      Object.entries(ENDS).map(([end, act]) => ({ what, request, body, end, act })),
    ),
  )('changes no $what once $end is gone', async ({ request, body, act }) => {
    cay = await signIn(scene.ctx)
    const before = await records()
    let ending: Promise<Answer> | null = null
    /** What was recorded when it was answered that the right is gone. */
    let then = before
    beforeChain = async () => {
      ending = act().then(async (answer) => {
        then = await records()
        return answer
      })
      await untilDoneOrWaiting(ending)
    }
    const made = await invoke(scene.ctx, request(), { as: ann.token, body: body() })
    expect((await ending!).status).toBeLessThan(300)
    // Either it was made before, or it is refused: nothing is recorded once the end has been answered.
    expect({ status: made.status, records: await records() }).toEqual({
      status: expect.any(Number),
      records: then,
    })
    expect([200, 201, 401, 403]).toContain(made.status)
  })

  it('changes nothing with a token that is revoked, or a service account that nobody answers for', async () => {
    const { id } = (
      await invoke(scene.ctx, 'POST /api/service-accounts', {
        as: ann.token,
        body: { name: 'robot', owner_id: bob.userId, groups: ['administrator'] },
      })
    ).json as WithId
    const expires_at = new Date(scene.ctx.clock.now().getTime() + 86_400_000).toISOString()
    const token = { name: 'ci', permissions: ['settings:manage'], expires_at }
    const ends = [
      (tokenId: string) => database.pool.execute('delete from api_tokens where id = $1', [tokenId]),
      () => database.pool.execute('update users set owner_id = null where id = $1', [id]),
    ]
    for (const end of ends) {
      const made = await invoke(scene.ctx, `POST /api/service-accounts/${id}/tokens`, {
        as: ann.token,
        body: token,
      })
      const { id: tokenId, token: secret } = made.json as WithId & { token: string }
      const before = await records()
      beforeNext = () => end(tokenId).then(() => undefined)
      const call = { as: secret, body: settings() }
      const refused = await invoke(scene.ctx, 'PUT /api/settings/recommended-version', call)
      expect([refused.status, await records()], refused.text).toEqual([401, before])
    }
  })
})

describe('whoever has the right within a scope', () => {
  let sue: SignedIn
  let groupId: string
  let groups = 0
  beforeEach(async () => {
    const { id, name } = await makeScopedGroup(scene.ctx, ann, `staging-${++groups}`)
    groupId = id
    for (const host of ['vm-1', 'vm-2', 'vm-3']) await scene.label(host, { env: 'staging' })
    sue = await member(scene.ctx, name)
  })

  const refusedWhen = async (act: () => Promise<unknown>, request: string, body?: unknown) => {
    const call = () => invoke(scene.ctx, request, { as: sue.token, ...(body === undefined ? {} : { body }) })
    const before = await records()
    let own = 0
    beforeNext = async () => {
      const then = await records()
      await act()
      own = (await records()) - then
    }
    expect(await call(), request).toMatchObject(OUTSIDE)
    expect(await records(), request).toBe(before + own)
  }

  const bind = (values: readonly string[]) => () =>
    invoke(scene.ctx, `PUT /api/groups/${groupId}`, {
      as: ann.token,
      body: { role: 'editor', scope: { key: 'muster/env', values } },
    })

  it('changes no workload that leaves the scope in that moment', async () => {
    const leave = () => scene.label('vm-1', { env: 'live' })
    await refusedWhen(leave, `PUT ${workload()}/variables`, { values: { site: 'x' } })
  })

  it('changes no workload once the group is bound to another scope', async () => {
    scene.agent('vm-1').lose()
    await scene.ctx.advance(121_000)
    const asked = { draft_yaml: configYaml(2), target_group: 'single', comment: 'please' }
    for (const [request, body] of [
      [`POST ${workload()}/config/approvals`, asked],
      [`POST ${workload()}/hold`, { reason: 'mine' }],
      [`POST ${workload()}/archive`, undefined],
    ] as const) {
      await refusedWhen(bind(['live']), request, body)
      await bind(['staging'])()
    }
  })

  it('carries no campaign beyond it once the group is bound to another scope', async () => {
    const draft = {
      name: 'To 1',
      change: { kind: 'version', fleet_config_id: scene.configId, number: 1, takeover: true },
      scope: {},
      waves: [{}],
    }
    await refusedWhen(bind(['other']), 'POST /api/campaigns', draft)
    await bind(['staging', 'dev'])()
    const made = await invoke(scene.ctx, 'POST /api/campaigns', { as: sue.token, body: draft })
    expect(made.status, made.text).toBe(201)
    const { id } = made.json as WithId
    await refusedWhen(bind(['other']), `PUT /api/campaigns/${id}`, { ...draft, name: 'Mine' })
    await refusedWhen(bind(['dev']), `POST /api/campaigns/${id}/withdraw`, { comment: 'no' })
    await bind(['staging', 'dev'])()
    const edited = await invoke(scene.ctx, `PUT /api/campaigns/${id}`, { as: sue.token, body: draft })
    expect(edited.status, edited.text).toBe(200)
  })
})

describe('an endpoint that changes something', () => {
  it('is tried here, or stands in the list of those that change nothing', () => {
    expect([...tried, ...Object.keys(CHANGES_NOTHING)].toSorted()).toEqual(
      endpoints.map(({ id }) => id).toSorted(),
    )
  })
})
