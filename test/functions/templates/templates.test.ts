import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { BUILT_IN_TEMPLATES } from '../../../lib/configs/templates/built-in.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import type { TemplateRecord } from '../../../lib/wire/templates.ts'
import { type Answer, createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
const viewer = await signIn(ctx, { groups: ['viewer'] })
const editor = await signIn(ctx, { groups: ['editor'] })
const as = editor.token

const YAML = 'receivers:\n  otlp:\n'
const create = (body: unknown) => invoke(ctx, 'POST /api/configs', { as, body })
const list = async (query = ''): Promise<TemplateRecord[]> =>
  (await invoke(ctx, `GET /api/configs${query}`, { as: viewer.token })).json as TemplateRecord[]
const names = (answer: Answer) => (answer.json as TemplateRecord[]).map((one) => one.name)

beforeEach(async () => {
  await database.pool.execute('delete from templates')
})

describe('POST /api/configs', () => {
  it('stores a template and answers it whole', async () => {
    const answer = await create({
      name: ' Gateway ',
      content: YAML,
      kind: 'anything',
      status: 'draft',
      category: ' kubernetes ',
      stack: ' grafana ',
      tags: [' a ', '', 'b', 'a'],
      unknown: 1,
    })
    expect(answer.status).toBe(201)
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: ' Gateway ',
      content: YAML,
      created_at: '2026-07-01T08:00:00.000Z',
      created_by: editor.userId,
      kind: 'saved',
      status: 'ready',
      category: 'kubernetes',
      stack: 'grafana',
      tags: ['a', 'b'],
      built_in: false,
      source_type: 'manual',
    })
    const { id } = answer.json as TemplateRecord
    expect((await invoke(ctx, `GET /api/configs/${id}`, { as })).json).toEqual(answer.json)
  })

  it('keeps drafts as drafts, and where they came from', async () => {
    const answer = await create({
      name: 'a',
      content: 'b',
      kind: 'draft',
      source_type: 'migration_assistant',
    })
    expect(answer.json).toMatchObject({ kind: 'draft', status: 'draft', source_type: 'migration_assistant' })
    const other = await create({ name: 'a', content: 'b', source_type: 'git', category: null, tags: null })
    expect(other.json).toMatchObject({ kind: 'saved', source_type: 'manual' })
    expect(other.json).not.toHaveProperty('category')
    expect(other.json).not.toHaveProperty('tags')
  })

  it('gives the same content a new id each time', async () => {
    const [first, second] = [
      await create({ name: 'a', content: YAML }),
      await create({ name: 'a', content: YAML }),
    ]
    expect([first.status, second.status]).toEqual([201, 201])
    expect((first.json as TemplateRecord).id).not.toBe((second.json as TemplateRecord).id)
  })

  it('writes an audit entry without the content', async () => {
    const { json } = await create({ name: 'audited', content: 'secret: s3cret' })
    const filter = { action: 'config.create' }
    const [entry] = await listAuditRecords(database.pool, filter, { beforeSeq: null, limit: 1, offset: 0 })
    expect(entry).toMatchObject({
      userId: editor.userId,
      resource: 'config',
      resourceId: (json as TemplateRecord).id,
      configHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      detail: '{"name":"audited","kind":"saved"}',
    })
  })

  it.each([
    [{}, 'name and content are required'],
    [{ name: 'a' }, 'name and content are required'],
    [{ name: '', content: 'b' }, 'name and content are required'],
    [{ name: 'a', content: 'b\0' }, 'the text has characters that cannot be stored'],
    [{ name: '\ud800', content: 'b' }, 'the text has characters that cannot be stored'],
    [{ name: 1, content: 'b' }, 'invalid JSON'],
    [{ name: 'a', content: 'b', tags: 'x' }, 'invalid JSON'],
    ['{"name":"a","content":"b"} trailing', 'invalid JSON'],
    ['{', 'invalid JSON'],
  ])('refuses %j', async (body, error) => {
    expect(await create(body)).toMatchObject({ status: 400, json: { error } })
    expect(await list('?kind=saved')).toEqual([])
  })

  it('refuses a body over 1 MiB', async () => {
    const answer = await create({ name: 'a', content: 'x'.repeat(1_048_576) })
    expect(answer).toMatchObject({ status: 413, json: { error: 'request body too large' } })
  })
})

describe('GET /api/configs', () => {
  it('lists what was stored, newest first, then the built-in ones, all without content', async () => {
    await create({ name: 'first', content: YAML })
    ctx.clock.advance(1000)
    await create({ name: 'second', content: YAML })
    const all = await list()
    expect(all.map((one) => one.name)).toEqual([
      'second',
      'first',
      ...BUILT_IN_TEMPLATES.map((one) => one.name),
    ])
    expect(all.every((one) => !('content' in one))).toBe(true)
    expect(all.slice(2).every((one) => one.built_in)).toBe(true)
  })

  it('filters by kind, category and stack, whatever the case', async () => {
    await create({ name: 'mine', content: YAML, category: 'Kubernetes', stack: 'X' })
    await create({ name: 'draft', content: YAML, kind: 'draft' })
    const named = async (query: string) => (await list(query)).map((one) => one.name)
    expect(await named('?kind=DRAFT')).toEqual(['draft'])
    expect(await named('?kind=%00')).toEqual([])
    expect(await named('?kind=Template')).toHaveLength(9)
    expect(await named('?category=KUBERNETES')).toEqual([
      'mine',
      'Kubernetes OTLP to Grafana Tempo/Loki/Mimir',
      'Kubernetes OTLP to Datadog',
    ])
    expect(await named('?category=kubernetes&stack=datadog')).toEqual(['Kubernetes OTLP to Datadog'])
    expect(await named('?stack=none')).toEqual([])
  })

  it('goes through the whole list page by page', async () => {
    for (const name of ['a', 'b', 'c']) await create({ name, content: YAML })
    const whole = (await list()).map((one) => one.id)
    const paged: string[] = []
    let next: string | undefined = '/api/configs?limit=2'
    while (next !== undefined) {
      const answer = await invoke(ctx, `GET ${next}`, { as })
      paged.push(...(answer.json as TemplateRecord[]).map((one) => one.id))
      next = /<(.*)>; rel="next"/.exec(answer.headers['Link'] ?? '')?.[1]
    }
    expect(paged).toEqual(whole)
    expect(names(await invoke(ctx, 'GET /api/configs?limit=1&kind=template', { as }))).toHaveLength(1)
    expect((await invoke(ctx, 'GET /api/configs?cursor=x', { as })).status).toBe(400)
    expect((await invoke(ctx, 'GET /api/configs?limit=0', { as })).status).toBe(400)
  })
})

it('takes so much text of one account, as nobody removes it again', async () => {
  const { id } = (await create({ name: 'Large', content: YAML })).json as TemplateRecord
  const fill = `update templates set content = repeat('x', 64 * 1024 * 1024 - 4096) where id = $1`
  await database.pool.execute(fill, [id])
  expect((await create({ name: 'Small', content: YAML.slice(0, 10) })).status).toBe(201)
  const full = { status: 409, json: { code: 'templates_too_large', max: 64 } }
  // What names and sorts it counts as well.
  expect(await create({ name: 'One more'.repeat(1_000), content: 'x' })).toMatchObject(full)
  expect(await create({ name: 'One more', content: `${YAML}# ${'x'.repeat(4_000)}\n` })).toMatchObject(full)
  const other = await signIn(ctx, { groups: ['editor'] })
  const body = { name: 'Of another', content: YAML }
  expect((await invoke(ctx, 'POST /api/configs', { as: other.token, body })).status).toBe(201)
  const of = (await list()).map(({ name }) => name)
  expect(of).toContain('Of another')
  expect(of).not.toContain('One more')
})

describe('GET /api/configs/{id}', () => {
  it('answers every built-in template with its content', async () => {
    for (const { id, content } of BUILT_IN_TEMPLATES) {
      const answer = await invoke(ctx, `GET /api/configs/${id}`, { as })
      expect(answer).toMatchObject({ status: 200, json: { id, content, built_in: true, kind: 'template' } })
    }
  })

  it.each(['unknown', '00000000-0000-7000-8000-000000000000', "'; drop table templates; --", '%00'])(
    'knows no %j',
    async (id) => {
      const answer = await invoke(ctx, `GET /api/configs/${encodeURIComponent(id)}`, { as })
      expect(answer).toMatchObject({ status: 404, json: { error: 'config not found' } })
    },
  )
})
