import type { RequestListener } from 'node:http'
import { deriveFleetKeys, type OwnerName, proveOwner, proveRow } from '../../lib/cluster/proofs.ts'
import type { Db } from '../../lib/store/db.ts'
import type { MemberRow } from '../../lib/store/members.ts'
import { TEST_CONFIG } from './invoke.ts'

/** The keys of the processes that tests start. */
export const TEST_KEYS = deriveFleetKeys(TEST_CONFIG.jwtSecret)

/** Have a server of Node prove to be this owner, and answer everything else with `listener`. */
export const provingAs =
  (owner: () => OwnerName, listener: RequestListener): RequestListener =>
  (request, response) => {
    if (request.url !== '/challenge') return listener(request, response)
    const nonce = String(request.headers['x-muster-nonce'])
    const from = String(request.socket.remoteAddress).replace(/^::ffff:/, '')
    response.setHeader('x-muster-proof', proveOwner(TEST_KEYS, owner(), { nonce, from }))
    response.end()
  }

/** Write the row of a member that was there a moment ago, with its proof unless another is given. */
export async function writeMember(
  db: Db,
  row: Pick<MemberRow, 'id' | 'address'> & Partial<MemberRow>,
  seen = '0 seconds',
): Promise<void> {
  const said = {
    host: 'box',
    pid: 7,
    version: '1',
    linkVersion: 4,
    startedAt: new Date(),
    ownedEpoch: null,
    ownedSince: null,
    linkedEpoch: null,
    newestMigration: 9_000,
    newestBreaking: 0,
    ...row,
  }
  const { proof = proveRow(TEST_KEYS, said) } = row
  await db.execute(
    `insert into members (id, address, version, link_version, started_at, seen_at, owned_epoch, owned_since, linked_epoch,
       newest_migration, newest_breaking, proof, host, pid)
     values ($1, $2, $3, $4, $5, clock_timestamp() + $6::interval, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      said.id,
      said.address,
      said.version,
      said.linkVersion,
      said.startedAt,
      seen,
      said.ownedEpoch,
      said.ownedSince,
      said.linkedEpoch,
      said.newestMigration,
      said.newestBreaking,
      proof,
      said.host,
      said.pid,
    ],
  )
}
