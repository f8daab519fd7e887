import { expect, it } from 'vitest'
import { configHash } from '../../../../lib/model/config-hash.ts'
import type { Database } from '../../../../lib/store/db.ts'
import { through } from '../../../support/faulty-database.ts'
import { createFleetContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'

const database = await useTestDatabase()

it('an offer that could not be stored takes nothing from a newer one that was', async () => {
  let gate: Promise<void> | null = null
  let refuse = () => {}
  let isHeld = false
  const { pool } = database
  const db: Database = {
    ...through(pool),
    async transaction(name, work) {
      const held = gate
      gate = null
      isHeld = held !== null
      await held
      return pool.transaction(name, work)
    },
  }
  const ctx = await createFleetContext(database, { db })
  const first = fakeAgent(ctx.fleet, { host: 'batch' })
  await pushConfig(ctx.fleet, first.workloadId, configYaml())
  first.apply()
  await ctx.advance(1_000)
  const second = fakeAgent(ctx.fleet, { host: 'batch' })
  gate = new Promise((_, reject) => {
    refuse = () => reject(new Error('no'))
  })
  // The offer of the joiner is about to be stored, and does not get there.
  ctx.timers.advance(20)
  while (!isHeld) await new Promise((resolve) => setImmediate(resolve))
  await pushConfig(ctx.fleet, first.workloadId, configYaml(4318))
  refuse()
  await ctx.advance(5_000)
  expect(second.offered()).toEqual([configHash(configYaml(4318))])
  await ctx.close()
})
