import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import { insertPushGroup } from '../../../lib/store/push-groups.ts'
import type { PushGroup } from '../../../lib/wire/pushes.ts'
import { createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
const viewer = await signIn(ctx, { groups: ['viewer'] })
const admin = await signIn(ctx)
const as = admin.token

const list = async () => (await invoke(ctx, 'GET /api/push-groups', { as: viewer.token })).json as PushGroup[]
const create = (body: unknown) => invoke(ctx, 'POST /api/push-groups', { as, body })
const audited = async (action: string) =>
  listAuditRecords(database.pool, { action }, { beforeSeq: null, limit: 10, offset: 0 })

const selector = { match_labels: { 'muster/env': 'dev' }, types: ['collector'] }
const EDGE = {
  id: 'edge',
  name: 'Edge',
  description: '',
  selector: { match_labels: { 'muster/tier': 'edge' } },
}

it('has no groups from the start', async () => {
  expect(await list()).toEqual([])
})

describe('with one group', () => {
  beforeEach(async () => {
    await database.pool.execute('delete from push_groups')
    await database.pool.transaction('test', (tx) => insertPushGroup(tx, EDGE))
  })

  describe('POST /api/push-groups', () => {
    it('adds a group at the end, with an id made from its name, and audits it', async () => {
      const answer = await create({ name: ' Dev & Test ', selector: { ...selector, versions: [] } })
      expect(answer).toMatchObject({ status: 201 })
      expect(answer.json).toEqual({ id: 'dev-test', name: 'Dev & Test', selector })
      expect((await list()).map((group) => group.id)).toEqual(['edge', 'dev-test'])
      const [entry] = await audited('push_group.create')
      expect(entry).toMatchObject({ userId: admin.userId, resource: 'push_group', resourceId: 'dev-test' })
    })

    it('refuses an id that is taken, and changes nothing', async () => {
      const before = await list()
      const answer = await create({ id: 'edge', name: 'Other', selector })
      expect(answer).toMatchObject({ status: 409, json: { code: 'push_group_taken' } })
      expect(await list()).toEqual(before)
    })

    it.each([
      [{ selector }, 'name is required'],
      [{ name: '  ', selector }, 'name is required'],
      [{ name: 'a'.repeat(129), selector }, 'name exceeds 128 characters'],
      [{ name: 'a', description: 'b'.repeat(1025), selector }, 'description exceeds 1024 characters'],
      [{ name: 'a\0', selector }, 'name and description must not have control characters'],
      [
        { name: 'a', id: 'No Slug', selector },
        'id must be 1 to 63 lower-case letters, digits and inner hyphens',
      ],
      [{ name: '日本', selector }, 'id must be 1 to 63 lower-case letters, digits and inner hyphens'],
      [{ name: 'a' }, 'selector has no condition'],
      [{ name: 'a', selector: { types: [], match_labels: {} } }, 'selector has no condition'],
      [{ name: 'a', selector: { types: [''] } }, 'selector (types) has an empty text'],
      [
        { name: 'a', selector: { match_labels: { env: 'a' } } },
        'selector has the key "env", which agents report; here it needs the prefix muster/ or identity/',
      ],
      [
        { name: 'a', selector: { versions: Array(51).fill('1') } },
        'selector has more than 50 entries in versions',
      ],
      [{ name: 'a', selector: { match_labels: { env: 1 } } }, 'invalid JSON'],
    ])('refuses %j', async (body, error) => {
      expect(await create(body)).toMatchObject({ status: 400, json: { error } })
      expect(await list()).toHaveLength(1)
    })
  })

  describe('PUT /api/push-groups/{id}', () => {
    it('replaces everything but the id and the place', async () => {
      await create({ id: 'dev', name: 'Dev', description: 'old', selector })
      await create({ id: 'last', name: 'Last', selector })
      const body = { id: 'other', name: 'Development', selector: { capabilities: ['remote_config'] } }
      const answer = await invoke(ctx, 'PUT /api/push-groups/dev', { as, body })
      const expected = { id: 'dev', name: 'Development', selector: { capabilities: ['remote_config'] } }
      expect(answer).toMatchObject({ status: 200, json: expected })
      expect((await list()).slice(1).map((group) => group.id)).toEqual(['dev', 'last'])
      expect((await list())[1]).toEqual(expected)
      expect(await audited('push_group.update')).toHaveLength(1)
    })

    it('checks the body, and knows no group that is not there', async () => {
      const put = (id: string, body: unknown) => invoke(ctx, `PUT /api/push-groups/${id}`, { as, body })
      expect(await put('edge', { name: 'Edge' })).toMatchObject({ status: 400 })
      for (const id of ['nothing', 'No%20Slug', '%00']) {
        expect(await put(id, { name: 'a', selector })).toMatchObject({
          status: 404,
          json: { error: 'push group not found' },
        })
      }
    })
  })

  describe('DELETE /api/push-groups/{id}', () => {
    it('removes a group once, and audits it', async () => {
      await create({ id: 'dev', name: 'Dev', selector })
      const remove = () => invoke(ctx, 'DELETE /api/push-groups/dev', { as })
      expect(await remove()).toMatchObject({ status: 204, text: '' })
      expect(await remove()).toMatchObject({ status: 404, json: { error: 'push group not found' } })
      expect(await list()).toHaveLength(1)
      expect(await audited('push_group.delete')).toHaveLength(1)
    })
  })
})
