import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import type { ManagedGroupRecord, Me } from '../../../lib/wire/identity.ts'
import { addSession, createTestContext, invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database, { config: { seedAdmin: null } })
afterAll(() => ctx.close())

let admin: SignedIn
beforeEach(async () => {
  await database.pool.execute('delete from users')
  await database.pool.execute('delete from groups where not is_system')
  await database.pool.execute('delete from account_changes')
  await database.pool.execute('update approver_history set had_two = false')
  admin = await signIn(ctx, { email: 'admin@example.com' })
})

const SCOPE = { key: 'muster/env', values: ['staging', 'dev'] }
const call = (request: string, body?: object, as = admin) => invoke(ctx, request, { as: as.token, body })
const create = (more: object = {}) =>
  call('POST /api/groups', { name: 'staging-editors', role: 'editor', scope: SCOPE, ...more })
const make = async (more: object = {}) => (await create(more)).json as ManagedGroupRecord
const list = async () => (await call('GET /api/groups')).json as ManagedGroupRecord[]
const newest = async () =>
  (await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 }))[0]!
const me = async (as: SignedIn) => (await call('GET /api/me', undefined, as)).json as Me

describe('a group', () => {
  it('is made, listed beside those of the system, changed and removed, and each is recorded', async () => {
    const group = await make()
    expect(group).toEqual({
      id: group.id,
      name: 'staging-editors',
      role: 'editor',
      is_system: false,
      member_count: 0,
      scope: { key: 'muster/env', values: ['dev', 'staging'] },
      created_at: ctx.clock.now().toISOString(),
    })
    expect(await newest()).toMatchObject({ action: 'group.create', resource: 'group', resourceId: group.id })
    expect((await list()).map(({ name, is_system }) => [name, is_system])).toEqual([
      ['administrator', true],
      ['editor', true],
      ['viewer', true],
      ['staging-editors', false],
    ])
    const changed = await call(`PUT /api/groups/${group.id}`, { role: 'editor', scope: null })
    expect(changed).toMatchObject({ status: 200, json: { name: 'staging-editors', role: 'editor' } })
    expect(changed.json).not.toHaveProperty('scope')
    expect(JSON.parse((await newest()).detail)).toMatchObject({
      before: { role: 'editor', scope: { key: 'muster/env' } },
      after: { role: 'editor' },
    })
    expect((await call(`DELETE /api/groups/${group.id}`)).status).toBe(204)
    expect(await newest()).toMatchObject({ action: 'group.delete', resourceId: group.id })
    expect(await list()).toHaveLength(3)
  })

  it('is refused with a name, role or scope that it cannot have', async () => {
    await make()
    const refused: [object, number, string][] = [
      [{}, 409, 'group_taken'],
      [{ name: 'editor' }, 409, 'group_taken'],
      [{ name: 'Staging Editors' }, 400, 'group_name_invalid'],
      [{ name: 'x', role: 'owner' }, 400, 'group_role_unknown'],
      [{ name: 'x', scope: { key: 'env', values: ['staging'] } }, 400, 'scope_key_invalid'],
      [{ name: 'x', scope: { key: 'identity/host.name', values: ['a'] } }, 400, 'scope_key_invalid'],
      [{ name: 'x', scope: { key: 'muster/', values: ['a'] } }, 400, 'scope_key_invalid'],
      [{ name: 'x', scope: { key: 'muster/env', values: [] } }, 400, 'scope_values_invalid'],
      [{ name: 'x', scope: { key: 'muster/env', values: [''] } }, 400, 'scope_values_invalid'],
      [{ name: 'x', scope: { key: 'muster/env', values: ['a\u0000'] } }, 400, 'scope_values_invalid'],
    ]
    for (const [more, status, code] of refused)
      expect(await create(more), code).toMatchObject({ status, json: { code } })
    expect(await list()).toHaveLength(4)
  })

  it('cannot bind a role to a scope that has rights about no workload, or none', async () => {
    for (const role of ['administrator', 'viewer']) {
      const refusal = { status: 400, json: { code: 'scope_role_unfit', role, fit: 'editor' } }
      expect(await create({ role })).toMatchObject(refusal)
      expect(await create({ name: `all-${role}`, role, scope: null })).toMatchObject({ status: 201 })
      const made = (await list()).find(({ name }) => name === `all-${role}`)!
      expect(await call(`PUT /api/groups/${made.id}`, { role, scope: SCOPE })).toMatchObject(refusal)
    }
    const insert = `insert into groups (id, name, role, is_system, created_at, scope)
      values ('x', 'x', 'administrator', false, now(), '{"key": "muster/env", "values": ["dev"]}')`
    await expect(database.pool.execute(insert)).rejects.toThrow(/check constraint/)
  })

  it('reaches no further through a request that leaves its scope out, or misspells it', async () => {
    const group = await make()
    for (const more of [{}, { scop: SCOPE }, { scope: SCOPE, scop: SCOPE }]) {
      expect(await call(`PUT /api/groups/${group.id}`, { role: 'editor', ...more })).toMatchObject({
        status: 400,
        json: { code: 'invalid_body' },
      })
    }
    const misspelt = { name: 'wide', role: 'editor', scop: SCOPE }
    expect(await call('POST /api/groups', misspelt)).toMatchObject({ status: 400 })
    expect((await list()).slice(3)).toMatchObject([{ id: group.id, scope: group.scope }])
  })

  it('of the system stays as it is, and one with members stays', async () => {
    const [system] = await list()
    expect(await call(`PUT /api/groups/${system!.id}`, { role: 'viewer', scope: null })).toMatchObject({
      status: 409,
      json: { code: 'group_of_system' },
    })
    expect(await call(`DELETE /api/groups/${system!.id}`)).toMatchObject({ status: 409 })
    const group = await make()
    await signIn(ctx, { groups: ['staging-editors'] })
    expect(await call(`DELETE /api/groups/${group.id}`)).toMatchObject({
      status: 409,
      json: { code: 'group_in_use', count: 1 },
    })
    expect((await list()).at(-1)).toMatchObject({ member_count: 1 })
    expect(await call('DELETE /api/groups/none')).toMatchObject({ status: 404 })
    expect(await call('PUT /api/groups/none', { role: 'viewer', scope: null })).toMatchObject({ status: 404 })
  })

  it('is made by nobody else than who manages users, and in person', async () => {
    const editor = await signIn(ctx, { groups: ['editor'] })
    expect(await call('GET /api/groups', undefined, editor)).toMatchObject({ status: 403 })
    expect(await call('POST /api/groups', { name: 'mine', role: 'administrator' }, editor)).toMatchObject({
      status: 403,
    })
  })
})

describe('the members of a group', () => {
  it('have at once what the group gives, where it gives it', async () => {
    const group = await make()
    const ada = await signIn(ctx, { groups: ['staging-editors'] })
    const own = await me(ada)
    expect(own.permissions).toEqual([])
    expect(own.groups).toMatchObject([{ name: 'staging-editors', scope: group.scope }])
    expect(own.scoped).toMatchObject([{ scope: group.scope }])
    expect(own.scoped![0]!.permissions).toContain('workload:push_config')
    await call(`PUT /api/groups/${group.id}`, { role: 'viewer', scope: null })
    expect(await me(ada)).not.toHaveProperty('scoped')
    await call(`PUT /api/groups/${group.id}`, { role: 'editor', scope: null })
    expect((await me(ada)).permissions).toContain('workload:push_config')
  })

  it('count as regrouped when the group is changed, and as approvers, within a scope too', async () => {
    const group = await make({ role: 'viewer', scope: null })
    const ada = await signIn(ctx, { groups: ['staging-editors'] })
    await call(`PUT /api/groups/${group.id}`, { role: 'editor', scope: SCOPE })
    const changes = await database.pool.query('select user_id::text as id, by_id as by from account_changes')
    expect(changes).toEqual([{ id: ada.userId, by: admin.userId }])
    expect(await database.pool.query('select had_two as "hadTwo" from approver_history')).toEqual([
      { hadTwo: true },
    ])
  })

  it('may not all lose the role of an administrator', async () => {
    const group = await make({ name: 'platform', role: 'administrator', scope: null })
    const other = await signIn(ctx, { groups: ['platform'] })
    expect((await call(`PATCH /api/users/${admin.userId}`, { groups: ['viewer'] }, other)).status).toBe(200)
    admin = await addSession(ctx, other)
    expect(await call(`PUT /api/groups/${group.id}`, { role: 'editor', scope: null })).toMatchObject({
      status: 409,
      json: { code: 'last_administrator' },
    })
    expect((await list()).at(-1)).toMatchObject({ role: 'administrator' })
  })
})

describe('what somebody may do, where, and why', () => {
  it('says the scopes of each right, and of the groups that give it', async () => {
    const group = await make()
    const ada = await signIn(ctx, { groups: ['staging-editors', 'viewer'] })
    const rights = (await call('GET /api/me/rights', undefined, ada)).json as {
      groups: object[]
      rights: { permission: string }[]
    }
    expect(rights.groups).toEqual([
      { name: 'staging-editors', role: 'editor', scope: group.scope },
      { name: 'viewer', role: 'viewer' },
    ])
    const right = (permission: string) => rights.rights.find((one) => one.permission === permission)
    expect(right('config:approve')).toEqual({
      permission: 'config:approve',
      groups: ['staging-editors'],
      scopes: [group.scope],
    })
    expect(right('users:manage')).toEqual({ permission: 'users:manage', groups: [] })
    await call(`PATCH /api/users/${ada.userId}`, { groups: ['staging-editors', 'editor'] })
    const after = (await call(`GET /api/users/${ada.userId}/rights`)).json as typeof rights
    expect(after.rights.find(({ permission }) => permission === 'config:approve')).toEqual({
      permission: 'config:approve',
      groups: ['editor', 'staging-editors'],
    })
  })
})
