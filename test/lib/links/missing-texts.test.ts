import { expect, it } from 'vitest'
import { REPORTED_SPARE_MAX, sweep } from '../../../lib/fleet/janitor.ts'
import { ReportedTexts } from '../../../lib/links/reported-texts.ts'
import { silentLog } from '../../../lib/log.ts'
import { findReportedConfig } from '../../../lib/store/reported-configs.ts'
import { type LinkedFront, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues, type PlainMessage } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { READ_HERE } from '../../support/read-configs.ts'

// Each effective config that the owner knows by its hash can be read in the database, whoever has stored it.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openOwner } = fleet

const stores: ReportedTexts[] = []
/** Let all be told, read and stored that agents have said. */
async function settle(): Promise<void> {
  await fleet.ctx.advance(1_000)
  for (const store of stores) await store.storeAll()
}

function openFront(name = 'front'): LinkedFront {
  const { clock, timers } = fleet.ctx
  const reported = new ReportedTexts({ db: database.pool, clock, timers, log: silentLog })
  stores.push(reported)
  return fleet.openFront(name, { reported, normalise: READ_HERE.normalise })
}

const REPORTS_ALL = { capabilities: 0x1007 }
const running = (n: number): PlainMessage => ({
  ...REPORTS_ALL,
  effectiveConfig: {
    configMap: { configMap: { '': { body: Buffer.from(`receivers: { r${n}: {} }`), contentType: '' } } },
  },
})
const described = (n: number): PlainMessage => ({
  ...running(n),
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) },
})

async function clean(): Promise<void> {
  const { db, clock, log, fleet: owner } = fleet.ctx
  const days = { retentionDays: 30, archiveDays: 90, eventRetentionDays: 30, alertRetentionDays: 60 }
  const parts = { db, clock, log, fleet: owner, ...days, workloadsMax: 1_000 }
  await sweep(parts, new AbortController().signal)
  await settle()
}

/** Let texts of others be stored, so many that nobody runs that the janitor removes those that were there before. */
async function crowd(): Promise<void> {
  const now = fleet.ctx.clock.now()
  await database.pool.execute(
    `insert into reported_configs select 'crowd ' || n, '', $1 from generate_series(1, $2::int) n`,
    [now, REPORTED_SPARE_MAX + 10],
  )
}

const isStored = async (): Promise<boolean> =>
  (await findReportedConfig(database.pool, instanceOf(1)!.reportedConfigHash)) !== null

it('a config that its agent goes back to is stored again, where its text was removed meanwhile', async () => {
  const front = openFront()
  front.link(openOwner())
  front.say(1, 1, 1, described(1))
  await settle()
  const { reportedConfigHash: first } = instanceOf(1)!
  front.say(1, 1, 2, running(2))
  await settle()
  await crowd()
  await clean()
  expect(await findReportedConfig(database.pool, first)).toBeNull()
  front.say(1, 1, 3, running(1))
  await settle()
  expect(instanceOf(1)!.reportedConfigHash).toBe(first)
  expect(await isStored()).toBe(true)
})

it('an agent on a socket says again what it runs, where the text of that is missing', async () => {
  const front = openFront()
  front.link(openOwner())
  front.say(1, 1, 1, described(1))
  await settle()
  await database.pool.execute('delete from reported_configs')
  await clean()
  expect(front.asked()).toHaveLength(1)
  front.say(1, 1, 2, described(1))
  await settle()
  expect(await isStored()).toBe(true)
  await clean()
  expect(front.asked()).toHaveLength(1)
})

it('an agent that polls says it again, at whichever front', async () => {
  const [front, other] = [openFront(), openFront('other')]
  const owner = openOwner()
  front.link(owner)
  other.link(owner)
  const poll = async (at: LinkedFront, n: number, more: PlainMessage) => {
    const answer = at.poll(1, n, more)
    await settle()
    return answer
  }
  await poll(other, 1, described(1))
  await poll(front, 2, described(1))
  await database.pool.execute('delete from reported_configs')
  await clean()
  expect((await poll(other, 3, REPORTS_ALL))?.reportFullState).toBe(true)
  await poll(other, 4, described(1))
  expect(await isStored()).toBe(true)
})

it('a front of an earlier build is told nothing that it does not understand', async () => {
  const front = openFront()
  front.link(openOwner(), 6)
  front.say(1, 1, 1, described(1))
  await settle()
  await database.pool.execute('delete from reported_configs')
  await clean()
  expect(front.asked()).toHaveLength(1)
})

it('of many agents that run one config a few are asked for it', async () => {
  const front = openFront()
  front.link(openOwner())
  for (let n = 1; n <= 30; n++) front.say(n, n, 1, described(1))
  await settle()
  await database.pool.execute('delete from reported_configs')
  await clean()
  expect(front.asked()).toHaveLength(10)
})
