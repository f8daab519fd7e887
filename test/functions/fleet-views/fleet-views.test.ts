import { afterAll, describe, expect, it } from 'vitest'
import { FLEET_VIEWS_MAX, SHARED_VIEWS_MAX } from '../../../lib/store/fleet-views.ts'
import type { FleetView } from '../../../lib/wire/fleet-views.ts'
import { createTestContext, invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())

const list = async ({ token }: SignedIn) =>
  (await invoke(ctx, 'GET /api/me/views', { as: token })).json as FleetView[]
const save = ({ token }: SignedIn, body: object) => invoke(ctx, 'POST /api/me/views', { as: token, body })
const remove = ({ token }: SignedIn, id: string) => invoke(ctx, `DELETE /api/me/views/${id}`, { as: token })

describe('views of the fleet', () => {
  it('are kept by name for whoever saved them, and a name is saved once', async () => {
    const [vera, omar] = [
      await signIn(ctx, { groups: ['viewer'] }),
      await signIn(ctx, { groups: ['editor'] }),
    ]
    expect((await save(vera, { name: '  zone  ', query: 'q=zone%3Aeu' })).status).toBe(200)
    await save(vera, { name: 'Broken', query: 'show=degraded' })
    await save(omar, { name: 'Broken', query: 'show=disconnected' })
    const again = await save(vera, { name: 'zone', query: '' })
    expect((await list(vera)).map(({ name, query }) => [name, query])).toEqual([
      ['Broken', 'show=degraded'],
      ['zone', ''],
    ])
    expect((await list(vera))[1]).toEqual(again.json)
    expect(await list(omar)).toMatchObject([{ name: 'Broken', query: 'show=disconnected' }])
  })

  it('are removed by whoever saved them alone', async () => {
    const [vera, omar] = [await signIn(ctx), await signIn(ctx)]
    const { id } = (await save(vera, { name: 'mine', query: 'q=a' })).json as FleetView
    expect(await remove(omar, id)).toMatchObject({ status: 404, json: { code: 'view_not_found' } })
    expect(await list(vera)).toHaveLength(1)
    expect((await remove(vera, id)).status).toBe(204)
    expect(await list(vera)).toEqual([])
    expect((await remove(vera, id)).status).toBe(404)
    expect((await remove(vera, 'mine')).status).toBe(404)
  })

  it('are refused without a name on one line, and where they are longer than is kept', async () => {
    const vera = await signIn(ctx)
    for (const body of [
      {},
      { name: '  ', query: 'q=a' },
      { name: 'x'.repeat(61), query: '' },
      { name: 'two\nlines', query: '' },
      { name: 'null \0', query: '' },
      { name: 'long', query: 'q'.repeat(1_001) },
      { name: 'null', query: 'q=\0' },
    ])
      expect(await save(vera, body)).toMatchObject({ status: 400, json: { code: 'view_invalid' } })
    expect(await list(vera)).toEqual([])
    expect((await save(vera, { name: 'x'.repeat(60), query: 'q'.repeat(1_000) })).status).toBe(200)
  })

  it('are twenty at most, also when many are saved at once; one that is there can be replaced', async () => {
    const vera = await signIn(ctx)
    const answers = await Promise.all(
      Array.from({ length: FLEET_VIEWS_MAX + 5 }, (_, at) => save(vera, { name: `view ${at}`, query: '' })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(FLEET_VIEWS_MAX)
    expect(answers.filter(({ status }) => status === 409).map(({ json }) => json)).toEqual(
      Array.from({ length: 5 }, () => expect.objectContaining({ code: 'views_full' })),
    )
    const [first] = await list(vera)
    expect((await save(vera, { name: first!.name, query: 'show=degraded' })).status).toBe(200)
    expect(await list(vera)).toHaveLength(FLEET_VIEWS_MAX)
  })

  it('can be shared with everybody by those who make configs, and are nobody else’s to change', async () => {
    const [vera, omar] = [
      await signIn(ctx, { groups: ['viewer'] }),
      await signIn(ctx, { groups: ['editor'] }),
    ]
    await save(vera, { name: 'mine', query: 'q=a' })
    expect((await save(vera, { name: 'ours', query: '', shared: true })).status).toBe(403)
    const ours = (await save(omar, { name: 'ours', query: 'q=b', shared: true })).json as FleetView
    expect(ours).toEqual({ id: ours.id, name: 'ours', query: 'q=b', shared: true })
    expect(await list(vera)).toEqual([
      expect.objectContaining({ name: 'mine', shared: false }),
      { ...ours, shared_by: omar.email },
    ])
    expect(await remove(vera, ours.id)).toMatchObject({ status: 403, json: { error: 'forbidden' } })
    expect(await remove(await signIn(ctx, { groups: ['editor'] }), ours.id)).toMatchObject({ status: 403 })
    // A view of the same name is another one, and one that is saved again unshared is nobody else's any more.
    await save(vera, { name: 'ours', query: 'q=c' })
    expect(await list(vera)).toHaveLength(3)
    await save(omar, { name: 'ours', query: 'q=b' })
    expect((await list(vera)).map(({ query }) => query)).toEqual(['q=a', 'q=c'])
  })

  it('are removed by whoever keeps the settings where somebody shares them, and no others are', async () => {
    const [omar, ada] = [await signIn(ctx, { groups: ['editor'] }), await signIn(ctx)]
    const mine = (await save(omar, { name: 'mine', query: '' })).json as FleetView
    const ours = (await save(omar, { name: 'for all', query: 'q=b', shared: true })).json as FleetView
    expect(await remove(ada, mine.id)).toMatchObject({ status: 404 })
    expect((await remove(ada, ours.id)).status).toBe(204)
    expect(await list(omar)).toEqual([mine])
  })

  it('are in the audit trail where everybody sees them, or no longer does', async () => {
    const [omar, ada] = [await signIn(ctx, { groups: ['editor'] }), await signIn(ctx)]
    const body = { name: 'told', query: 'q=b' }
    const mine = (await save(omar, body)).json as FleetView
    await save(omar, { ...body, shared: true })
    await save(omar, body)
    await remove(omar, mine.id)
    const again = (await save(omar, { ...body, shared: true })).json as FleetView
    await remove(ada, again.id)
    const records = await database.pool.query(
      `select action, email as by, resource_id as id from audit_events
       where resource = 'fleet_view' and resource_id = any($1) order by seq`,
      [[mine.id, again.id]],
    )
    expect(records).toEqual([
      { action: 'fleet_view.share', by: omar.email, id: mine.id },
      { action: 'fleet_view.unshare', by: omar.email, id: mine.id },
      { action: 'fleet_view.share', by: omar.email, id: again.id },
      { action: 'fleet_view.unshare', by: ada.email, id: again.id },
    ])
  })

  it('are shared a hundred times at most, also when many share at once', async () => {
    const editors = await Promise.all(Array.from({ length: 6 }, () => signIn(ctx, { groups: ['editor'] })))
    const wishes = editors.flatMap((editor) =>
      Array.from({ length: FLEET_VIEWS_MAX }, (_, at) => ({ editor, name: `shared ${at}` })),
    )
    const answers = await Promise.all(
      wishes.map(({ editor, name }) => save(editor, { name, query: '', shared: true })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(SHARED_VIEWS_MAX)
    expect(answers.find(({ status }) => status !== 200)).toMatchObject({
      status: 409,
      json: { code: 'shared_views_full' },
    })
  })

  it('are nobody’s for a user who was removed a moment ago', async () => {
    const vera = await signIn(ctx)
    await list(vera)
    await database.pool.execute('DELETE FROM users WHERE id = $1', [vera.userId])
    expect((await save(vera, { name: 'mine', query: '' })).status).toBe(401)
  })
})
