import { afterEach, beforeEach, expect, it } from 'vitest'
import { type FaultyDatabase, faultyDatabase } from '../../../support/faulty-database.ts'
import { createFleetContext, type FleetTestContext } from '../../../support/fleet.ts'
import { readFrame } from '../../../support/frames.ts'
import { invoke, signIn } from '../../../support/invoke.ts'
import { useTestDatabase } from '../../../support/postgres.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let db: FaultyDatabase

beforeEach(async () => {
  db = faultyDatabase(database.pool)
  ctx = await createFleetContext(database, { db })
})
afterEach(async () => {
  expect(db.pending()).toEqual([])
  await ctx.close()
})

/** Sign somebody in and open a socket of theirs. */
async function browser() {
  const { token } = await signIn(ctx)
  const found = await ctx.identity.authenticate(token)
  if (!found.ok) throw new Error(found.code)
  const got: { closed: unknown[]; types: string[] } = { closed: [], types: [] }
  ctx.hub.add(
    {
      send(frames) {
        got.types.push(...frames.map((frame) => readFrame(frame).type))
        return frames.length
      },
      close: (...why) => void got.closed.push(why),
      drop() {},
    },
    found.user,
  )
  return { ...found.user, token, got }
}

it.each(['user.delete', 'session.close'])(
  'nobody goes on listening who was removed or signed out, also where the answer was lost (%s)',
  async (name) => {
    const admin = await browser()
    const other = await browser()
    db.loseAnswer(name)
    const ended =
      name === 'user.delete'
        ? invoke(ctx, `DELETE /api/users/${other.userId}`, { as: admin.token })
        : ctx.identity.logOut(other.token, '192.0.2.1')
    await expect(ended).rejects.toThrow('connection lost')
    // From memory this one still stands for a while.
    await ctx.advance(1_000)
    expect(await ctx.identity.authenticate(other.token)).toMatchObject({ ok: false, code: 'unauthorized' })
    expect(other.got.closed).toEqual([[1008, 'token expired']])
    other.got.types.length = 0
    ctx.hub.broadcast({ type: 'label_rules_update', rule_count: 7 })
    ctx.hub.flush()
    expect(other.got.types).toEqual([])
    expect(admin.got.types.at(-1)).toBe('label_rules_update')
    expect(admin.got.closed).toEqual([])
  },
)
