import { afterAll, expect, it } from 'vitest'
import type { WorkloadLinks } from '../../../lib/wire/workload-links.ts'
import { createFleetContext } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = await createFleetContext(database)
afterAll(() => ctx.close())
const admin = await signIn(ctx, { groups: ['administrator'] })
const viewer = (await signIn(ctx, { groups: ['viewer'] })).token

const read = async () => (await invoke(ctx, 'GET /api/settings/workload-links', { as: viewer })).json
const save = (links: unknown, as = admin.token) =>
  invoke(ctx, 'PUT /api/settings/workload-links', { as, body: JSON.stringify({ links }) })
const GRAFANA = { name: 'Grafana', url: 'https://grafana.example.com/d/x?var-host={label:host.name}' }

it('stores the links of workloads for everybody to read, with who stored them, and in the audit trail', async () => {
  expect(await read()).toEqual({ links: [] })
  const stored = await save([{ name: ' Grafana ', url: GRAFANA.url }])
  expect(stored).toMatchObject({ status: 200, json: { links: [GRAFANA], updated_by: admin.email } })
  expect(await read()).toEqual(stored.json)
  expect(await save([])).toMatchObject({ status: 200, json: { links: [] } })
  expect(await read()).toEqual({ links: [] })
  const audited = await database.pool.query<{ detail: string }>(
    'select detail from audit_events where action = $1 order by seq',
    ['settings.workload_links'],
  )
  const text = `${GRAFANA.name} ${GRAFANA.url}`
  expect(audited.map(({ detail }) => JSON.parse(detail))).toEqual([
    { from: '', to: text },
    { from: text, to: '' },
  ])
})

it('is for those who manage the settings', async () => {
  expect((await save([GRAFANA], viewer)).status).toBe(403)
})

it.each([
  ['a name twice', [GRAFANA, GRAFANA], 'link_name_taken'],
  ['no name', [{ ...GRAFANA, name: ' ' }], 'link_name_invalid'],
  ['a name of two lines', [{ ...GRAFANA, name: 'a\nb' }], 'link_name_invalid'],
  ['a long name', [{ ...GRAFANA, name: 'x'.repeat(41) }], 'link_name_invalid'],
  ['http', [{ ...GRAFANA, url: 'http://grafana.example.com/' }], 'link_not_https'],
  ['a script', [{ ...GRAFANA, url: 'javascript:alert(1)' }], 'link_not_https'],
  ['a long address', [{ ...GRAFANA, url: `https://g.example.com/${'x'.repeat(1_000)}` }], 'link_not_https'],
  ['a host that agents would choose', [{ ...GRAFANA, url: 'https://{name}/' }], 'link_host_open'],
  ['an open brace', [{ ...GRAFANA, url: 'https://g.example.com/{id' }], 'link_brace_open'],
  [
    'a foreign placeholder',
    [{ ...GRAFANA, url: 'https://g.example.com/{host}' }],
    'link_placeholder_unknown',
  ],
  ['too many', Array.from({ length: 11 }, (_, at) => ({ ...GRAFANA, name: `${at}` })), 'links_too_many'],
])('refuses %s, and keeps what was stored', async (_, links, code) => {
  const kept = (await save([GRAFANA])).json as WorkloadLinks
  expect(await save(links)).toMatchObject({ status: 400, json: { code } })
  expect(await read()).toEqual(kept)
})
