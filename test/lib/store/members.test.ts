import { expect, it } from 'vitest'
import { renewMember, TEXT_LENGTH_MAX } from '../../../lib/store/members.ts'
import { writeMember } from '../../support/owners.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()

it('reads no more than so much of a text that somebody has written into a row', async () => {
  await writeMember(database.pool, { id: 'x', address: 'y'.repeat(100_000), version: 'z'.repeat(100_000) })
  const { members } = await renewMember(database.pool, {
    id: 'a',
    address: 'a:1',
    host: 'box',
    pid: 7,
    version: '1',
    linkVersion: 5,
    startedAt: new Date(),
    ownedEpoch: null,
    ownedSince: null,
    linkedEpoch: null,
    newestMigration: 0,
    newestBreaking: 0,
    proof: 'x',
  })
  const found = members.find(({ id }) => id === 'x')!
  expect([found.address.length, found.version.length]).toEqual([TEXT_LENGTH_MAX, TEXT_LENGTH_MAX])
})
