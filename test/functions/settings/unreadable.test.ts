import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import sweep from '../../../functions/janitor/sweep.ts'
import { STORED_SETTINGS } from '../../../lib/model/stored-settings.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import { createFleetContext } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// Somebody writes over a row of the settings by hand, or an older version reads what a newer one stored.
const database = await useTestDatabase()
const ctx = await createFleetContext(database)
afterAll(() => ctx.close())
const admin = await signIn(ctx, { groups: ['administrator'] })

const RULE = { approvals: 1, authorCounts: true, validHours: null }
const POLICY = { production: RULE, other: RULE, unlabelled: RULE }
const UNREADABLE = [
  ...['', '{', 'null', '[]', '{}', '7', '"x"', '[null]', '{"links":[]}', '[{"name":"x"}]'],
  ...['[{"name":"x","url":"https://{name}/"}]', '{"policy":{},"pending":null}', '{"selector":{"a":1}}'],
  ...[
    '{"selector":null,"reason":"x","until":"soon"}',
    '{"policy":null,"pending":{"at":"x"}}',
    ' ',
    '\u0000x'.slice(1),
  ],
]
const GETS: Readonly<Record<keyof typeof STORED_SETTINGS, string>> = {
  approval_policy: 'GET /api/approval-policy',
  approval_policy_lowered: 'GET /api/approval-policy',
  freeze: 'GET /api/freeze',
  recommended_version: 'GET /api/settings/recommended-version',
  workload_links: 'GET /api/settings/workload-links',
}

const BY_TWO_OTHERS = { approvals: 2, author_counts: false, valid_hours: 1 }
const STRICTEST = { production: BY_TWO_OTHERS, other: BY_TWO_OTHERS, unlabelled: BY_TWO_OTHERS }

const get = async (request: string) => {
  const { status, json } = await invoke(ctx, request, { as: admin.token })
  return { status, json: json as Record<string, unknown> }
}
const write = async (name: string, value: string) => {
  await database.pool.execute(
    `insert into settings (name, value, updated_at, updated_by) values ($1, $2, $3, 'a hand')
     on conflict (name) do update set value = excluded.value`,
    [name, value, ctx.clock.now()],
  )
  await ctx.fleetConfigs.load()
  await ctx.recommendedVersion.reload()
}

beforeEach(async () => {
  await database.pool.execute('delete from settings')
  await ctx.fleetConfigs.load()
  await ctx.recommendedVersion.reload()
})

describe('a stored setting that cannot be read', () => {
  it.each(Object.entries(GETS))(
    'leaves the default of %s, or the strictest where less would be asked, which is answered',
    async (name, request) => {
      const fallback = await get(request)
      expect(fallback.status).toBe(200)
      for (const value of UNREADABLE.filter((one) => !(name === 'workload_links' && one === '[]'))) {
        await write(name, value)
        const answer = await get(request)
        // A freeze that nobody can read any more may have been of each workload.
        if (name === 'freeze')
          expect(answer.json, value).toMatchObject({ freeze: { reason: expect.any(String) } })
        // And so may the policy have asked anything.
        else if (name === 'approval_policy')
          expect(answer.json, value).toMatchObject({ ...STRICTEST, unreadable: expect.any(String) })
        else expect(answer, value).toEqual(fallback)
      }
    },
  )

  it('can be stored over', async () => {
    await write('workload_links', '{')
    const body = { links: [{ name: 'Grafana', url: 'https://grafana.example.com/' }] }
    const stored = await invoke(ctx, 'PUT /api/settings/workload-links', { as: admin.token, body })
    expect(stored).toMatchObject({ status: 200, json: body })
    await write('approval_policy', '{')
    const policy = { ...STRICTEST, other: { ...BY_TWO_OTHERS, valid_hours: 24 } }
    // It asks less than what is in force, so that a second person has to confirm it.
    const asked = await invoke(ctx, 'PUT /api/approval-policy', { as: admin.token, body: policy })
    expect(asked).toMatchObject({ status: 200, json: { ...STRICTEST, pending: policy } })
    expect(asked.json).not.toHaveProperty('unreadable')
    await write('freeze', '{')
    expect((await invoke(ctx, 'DELETE /api/freeze', { as: admin.token })).status).toBe(204)
    expect((await get('GET /api/freeze')).json).toEqual({ freeze: null })
  })

  it.each([
    ['{', 'JSON'],
    ['7', 'JSON'],
    [
      JSON.stringify({ policy: { ...POLICY, other: { ...RULE, approvals: 0 } }, pending: null }),
      'policy.other.approvals',
    ],
    [
      JSON.stringify({ policy: { ...POLICY, other: { ...RULE, validHours: 0.5 } }, pending: null }),
      'policy.other.validHours',
    ],
    [
      JSON.stringify({ policy: POLICY, pending: { policy: POLICY, by: 'x', byId: 'x', at: 'soon' } }),
      'pending',
    ],
  ])(
    'alarms of an approval policy that was written over, and says where it is wrong: %s',
    async (value, where) => {
      const alerts = async () => {
        await ctx.alerts.run(new AbortController().signal)
        const all = (await invoke(ctx, 'GET /api/alerts', { as: admin.token })).json as AlertRecord[]
        return all.filter(({ rule }) => rule === 'approval_policy_unreadable')
      }
      await write('approval_policy', value)
      const [alert, ...more] = await alerts()
      expect(more).toEqual([])
      expect(alert).toMatchObject({ severity: 'critical', details: { name: where } })
      expect(alert?.message).toContain(where)
      await database.pool.execute('delete from settings')
      expect(await alerts()).toEqual([])
    },
  )

  it('is told of in one line of the log each time that the janitor looks', async () => {
    const lines = () =>
      ctx.log.lines.filter((line) => JSON.stringify(line).includes('stored settings cannot be read'))
    await sweep.run(ctx, new AbortController().signal)
    expect(lines()).toEqual([])
    for (const name of Object.keys(STORED_SETTINGS)) await write(name, '{')
    await sweep.run(ctx, new AbortController().signal)
    expect(lines()).toHaveLength(1)
    expect(JSON.stringify(lines())).toContain(JSON.stringify(Object.keys(STORED_SETTINGS).toSorted()))
  })
})
