import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { type StillMay, stillCovers, stillHolds } from '../../../lib/identity/still-may.ts'
import { type Grant, grantsOf, type PlaceLabels, type RoleGrant } from '../../../lib/model/scopes.ts'
import { insertGroup, replaceUserGroups } from '../../../lib/store/groups.ts'
import { insertUser } from '../../../lib/store/users.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const NOW = new Date('2026-01-01T00:00:00Z')
const IN_TEST = { key: 'muster/env', values: ['test'] }
const WITHIN_TEST: RoleGrant = { role: 'editor', scope: IN_TEST }
const EVERYWHERE: RoleGrant = { role: 'editor', scope: null }

let userId = ''

beforeEach(async () => {
  userId = randomUUID()
  await insertUser(database.pool, {
    id: userId,
    email: `${userId}@example.com`,
    emailKey: `${userId}@example.com`,
    passwordHash: 'x',
    createdAt: NOW,
  })
})

/** Make these the roles that the user's groups give from now on. */
async function belongsTo(...roles: RoleGrant[]): Promise<void> {
  const ids: string[] = []
  for (const [n, { role, scope }] of roles.entries()) {
    const id = `${userId}-${n}-${scope === null ? 'all' : scope.values.join('-')}`
    await insertGroup(database.pool, { id, name: id, role, scope, isSystem: false, createdAt: NOW })
    ids.push(id)
  }
  await replaceUserGroups(database.pool, userId, ids)
}

let labels: Record<string, PlaceLabels> = {}
const mayPush = (grants: readonly Grant[]): StillMay =>
  stillHolds({ userId, grants }, ['workload:push_config'], (id) => labels[id] ?? null)

beforeEach(() => {
  labels = { here: { env: 'test' }, there: { env: 'production' } }
})

describe('a right on workloads that is asked for again', () => {
  it('holds where it was held when the call came, and is held still', async () => {
    await belongsTo(WITHIN_TEST)
    const still = mayPush(grantsOf([WITHIN_TEST]))
    expect(await still(database.pool, ['here'])).toBe(true)
    expect(await still(database.pool, [])).toBe(true)
    expect(await still(database.pool, ['here', 'there'])).toBe(false)
    expect(await still(database.pool, ['gone'])).toBe(false)
  })

  it('is lost with the group', async () => {
    await belongsTo()
    expect(await mayPush(grantsOf([WITHIN_TEST]))(database.pool, ['here'])).toBe(false)
  })

  it('is lost with the label of the workload', async () => {
    await belongsTo(WITHIN_TEST)
    const still = mayPush(grantsOf([WITHIN_TEST]))
    labels = { here: { env: 'production' } }
    expect(await still(database.pool, ['here'])).toBe(false)
  })

  it('is not won meanwhile: a token that may less than its holder gains nothing', async () => {
    await belongsTo(EVERYWHERE)
    expect(await mayPush(grantsOf([WITHIN_TEST]))(database.pool, ['there'])).toBe(false)
    expect(await mayPush([])(database.pool, ['here'])).toBe(false)
  })

  it('must be held with all others that are asked for', async () => {
    await belongsTo(WITHIN_TEST)
    const both = stillHolds(
      { userId, grants: grantsOf([WITHIN_TEST]) },
      ['workload:push_config', 'users:manage'],
      (id) => labels[id] ?? null,
    )
    expect(await both(database.pool, ['here'])).toBe(false)
  })
})

describe('a right on all that a change can reach, asked for again', () => {
  const covers = (grants: readonly Grant[], values: string[]) =>
    stillCovers(database.pool, { userId, grants }, 'workload:push_config', {
      selector: { match_expressions: [{ key: 'muster/env', operator: 'In', values }] },
    })

  it('holds within the scope only, by what was held and what is held', async () => {
    await belongsTo(WITHIN_TEST)
    expect(await covers(grantsOf([WITHIN_TEST]), ['test'])).toBe(true)
    expect(await covers(grantsOf([WITHIN_TEST]), ['test', 'production'])).toBe(false)
    expect(await covers(grantsOf([EVERYWHERE]), ['production'])).toBe(false)
    await belongsTo(EVERYWHERE)
    expect(await covers(grantsOf([WITHIN_TEST]), ['production'])).toBe(false)
    expect(await covers(grantsOf([EVERYWHERE]), ['production'])).toBe(true)
  })
})
