import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import type { Cluster } from '../../../lib/wire/system.ts'
import { eventually } from '../../support/eventually.ts'
import { startTestMember, type TestMember, untilOwner } from '../../support/members.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'

// A build whose newest migration breaks the builds before it, in a fleet in which those still run.

const MIGRATIONS = fileURLToPath(new URL('../../../migrations', import.meta.url))

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function openFleet(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  return database
}

/** The migrations of a build that has one more, which breaks older builds. */
async function nextMigrations(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'muster-migrations-'))
  cleanups.push(() => rm(directory, { recursive: true }))
  await cp(MIGRATIONS, directory, { recursive: true })
  await writeFile(
    join(directory, '9000-next.sql'),
    '-- breaks older binaries: yes\n\ncreate table of_the_next_build (id integer);\n',
  )
  return directory
}

async function start(database: TestDatabase, migrations = MIGRATIONS): Promise<TestMember> {
  const member = await startTestMember(database, {}, { migrations })
  cleanups.push(() => member.stop())
  return member
}

const readiness = async ({ url }: TestMember) => {
  const reply = await fetch(`${url}/readyz`)
  return { status: reply.status, text: await reply.text() }
}
const untilReady = (member: TestMember) =>
  eventually('it is ready', async () => (await readiness(member)).status === 200)
const isMigrated = async ({ pool }: TestDatabase) => {
  const [found] = await pool.query<{ isThere: boolean }>(
    `select to_regclass('of_the_next_build') is not null as "isThere"`,
  )
  return found!.isThere
}
const newestApplied = async ({ pool }: TestDatabase) => {
  const [found] = await pool.query<{ newest: number }>('select max(version) as newest from schema_migrations')
  return found!.newest
}
const clusterOf = async (asked: TestMember, as: string): Promise<Cluster> =>
  (await (await asked.call('GET', '/api/system/cluster', { as })).json()) as Cluster

describe('a migration that breaks older builds', () => {
  it('waits until no older member is left, while its process serves and says that it waits', async () => {
    const database = await openFleet()
    const old = await start(database)
    await untilOwner(old)
    const front = await start(database)
    await untilReady(front)
    const next = await start(database, await nextMigrations())
    await untilReady(next)

    const as = await old.token()
    const members = await eventually('the owner has seen it', async () => {
      const cluster = await clusterOf(next, as)
      return cluster.members.length === 3 && cluster.members
    })
    const waiting = Object.fromEntries(
      members.map(({ address, waits_for }) => [address, waits_for.toSorted()]),
    )
    expect(waiting).toEqual({
      [old.internalAddress]: [],
      [front.internalAddress]: [],
      [next.internalAddress]: [old.internalAddress, front.internalAddress].toSorted(),
    })
    expect((await readiness(next)).text).toMatch(/^ready; waits/)
    expect((await readiness(front)).text).toBe('ready')

    // The owner stops. The newest member would follow, were the other not there.
    await old.stop()
    await untilOwner(front)
    expect(await isMigrated(database)).toBe(false)
    expect(next.member.owner()).toBeNull()
    await untilReady(next)
    expect((await next.call('GET', '/api/workloads', { as })).status).toBe(200)
    expect(next.log.lines.filter(({ message }) => /waits to be the owner/.test(message))).not.toEqual([])

    await front.stop()
    await untilOwner(next)
    expect(await isMigrated(database)).toBe(true)
    expect((await readiness(next)).text).toBe('ready')
    expect((await clusterOf(next, as)).members.flatMap(({ waits_for }) => waits_for)).toEqual([])
  })

  it('is made at once where all members know it', async () => {
    const database = await openFleet()
    const before = await start(database)
    await untilOwner(before)
    await before.stop()
    const migrations = await nextMigrations()
    const members = await Promise.all([start(database, migrations), start(database, migrations)])
    await eventually('one owns', () => members.some(({ member }) => member.owner() !== null))
    expect(await isMigrated(database)).toBe(true)
  })

  it('ends an older process that comes, or comes back, after it was made', async () => {
    const database = await openFleet()
    const next = await start(database, await nextMigrations())
    await untilOwner(next)
    const old = await start(database)
    await eventually('it gives up', () => old.fatal())
    expect(old.fatal()).toMatch(/a newer version has changed the database/)
    expect(next.fatal()).toBeNull()
  })

  it('keeps no process from joining a fleet whose schema has no place for what it says of itself', async () => {
    const database = await openFleet()
    const old = await start(database)
    await untilOwner(old)
    // As a build left it that knew nothing of this.
    await database.pool.execute(
      'alter table members drop column newest_migration, drop column newest_breaking, drop column proof',
    )
    await database.pool.execute(
      `delete from schema_migrations where name in ('migrations-of-members', 'proofs-of-members')`,
    )
    const next = await start(database, await nextMigrations())
    await untilReady(next)
    const as = await old.token()
    expect((await next.call('GET', '/api/workloads', { as })).status).toBe(200)
    expect(next.member.owner()).toBeNull()
    await old.stop()
    await untilOwner(next)
    expect(await newestApplied(database)).toBe(9000)
  })
})
