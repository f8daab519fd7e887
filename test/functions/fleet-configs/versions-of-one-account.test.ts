import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FleetTestContext } from '../../support/fleet.ts'
import { addSession, invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
const FULL = { status: 409, json: { code: 'versions_too_large', max: 128, days: 30 } }
const WISH = { name: 'edge', selector: { match_labels: { 'muster/nowhere': 'x' } } }

let ctx: FleetTestContext
let eve: SignedIn
let id: string
beforeAll(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  eve = await signIn(ctx, { groups: ['editor'] })
  id = ((await invoke(ctx, 'POST /api/fleet-configs', { as: eve.token, body: WISH })).json as { id: string })
    .id
})
afterAll(() => ctx.close())

/** A text that takes so many bytes also where it is stored. */
const large = (bytes: number) => `${configYaml()}# ${randomBytes(bytes).toString('base64')}\n`
const add = (token: string, content: string) =>
  invoke(ctx, `POST /api/fleet-configs/${id}/versions`, { as: token, body: { content } })

it('takes so much text of one account within a month, by hand and from Git, as versions stay', async () => {
  expect((await add(eve.token, configYaml())).status).toBe(201)
  await database.pool.execute('alter table fleet_config_versions alter column body set storage external')
  await database.pool.execute(
    `insert into fleet_config_versions
       (fleet_config_id, number, body, hash, variables, comment, author, author_id, author_ids, created_at)
     select fleet_config_id, 0, repeat('x', 128 * 1024 * 1024 - 8192), hash, variables, comment, author, author_id,
       author_ids, created_at from fleet_config_versions where fleet_config_id = $1`,
    [id],
  )
  expect((await add(eve.token, configYaml(4318))).status).toBe(201)
  expect(await add(eve.token, large(16_000))).toMatchObject(FULL)
  const { token } = await makeApiToken(ctx, eve, ['config:create', 'config:request'])
  const fromGit = { owner: 'eves', ...WISH, name: 'from-git', content: large(16_000) }
  expect(await invoke(ctx, 'POST /api/fleet-configs/desired', { as: token, body: fromGit })).toMatchObject(
    FULL,
  )
  const other = await signIn(ctx, { groups: ['editor'] })
  expect((await add(other.token, large(16_000))).status).toBe(201)
  ctx.clock.advance(31 * 86_400_000)
  const again = await addSession(ctx, eve)
  expect((await add(again.token, large(16_000))).status).toBe(201)
})
