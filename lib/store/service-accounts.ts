import type { Db } from './db.ts'

/** An account that machines use; it cannot sign in. */
export interface ServiceAccount {
  id: string
  name: string
  /** Null once the owner was removed: then its tokens do not work. */
  owner: { id: string; email: string } | null
  /** Sorted names. */
  groups: string[]
  createdAt: Date
}

interface ServiceAccountRow {
  id: string
  email: string
  owner_id: string | null
  owner_email: string | null
  groups: string[]
  created_at: Date
}

/** Begins the text that is stored and shown in place of a service account's e-mail; no e-mail address begins so. */
export const SERVICE_PREFIX = 'service:'

const SELECT = `select u.id, u.email, u.created_at, u.owner_id, o.email as owner_email,
    array(select g.name from user_groups m join groups g on g.id = m.group_id where m.user_id = u.id order by g.name)
      as groups
  from users u left join users o on o.id = u.owner_id`

function toServiceAccount(row: ServiceAccountRow): ServiceAccount {
  const isOwned = row.owner_id !== null && row.owner_email !== null
  return {
    id: row.id,
    name: row.email.slice(SERVICE_PREFIX.length),
    owner: isOwned ? { id: row.owner_id!, email: row.owner_email! } : null,
    groups: row.groups,
    createdAt: row.created_at,
  }
}

/** Add a service account; false when the name is taken. */
export async function insertServiceAccount(
  tx: Db,
  account: { id: string; name: string; ownerId: string; createdAt: Date },
): Promise<boolean> {
  const inserted = await tx.execute(
    `insert into users (id, email, kind, owner_id, created_at) values ($1, $2, 'service', $3, $4)
     on conflict (email) where kind = 'service' do nothing`,
    [account.id, `${SERVICE_PREFIX}${account.name}`, account.ownerId, account.createdAt],
  )
  return inserted > 0
}

/** One service account. */
export async function findServiceAccount(db: Db, id: string): Promise<ServiceAccount | undefined> {
  const rows = await db.query<ServiceAccountRow>(`${SELECT} where u.id = $1 and u.kind = 'service'`, [id])
  return rows[0] && toServiceAccount(rows[0])
}

/** All service accounts, by name. */
export async function listServiceAccounts(db: Db): Promise<ServiceAccount[]> {
  const rows = await db.query<ServiceAccountRow>(`${SELECT} where u.kind = 'service' order by u.email, u.id`)
  return rows.map(toServiceAccount)
}

/** Name another person who answers for a service account. */
export async function setServiceAccountOwner(tx: Db, id: string, ownerId: string): Promise<void> {
  await tx.execute(`update users set owner_id = $2 where id = $1 and kind = 'service'`, [id, ownerId])
}

/** How many service accounts there are. */
export async function countServiceAccounts(tx: Db): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `select count(*)::int as count from users where kind = 'service'`,
  )
  return rows[0]?.count ?? 0
}
