import type { RoleGrant } from '../model/scopes.ts'
import { columns } from './columns.ts'
import type { Db } from './db.ts'
import { GRANTS } from './groups.ts'

/** A token as its holder sees it; the token itself is not kept. */
export interface ApiToken {
  id: string
  userId: string
  name: string
  permissions: string[]
  createdAt: Date
  expiresAt: Date
  /** A command line got it by a sign-in. */
  isLogin: boolean
  /** Whoever made it, and therefore saw it; null where that is not known. */
  madeById: string | null
  /** What that account was called then. */
  madeBy: string | null
  /** To the minute; null while it was never used. */
  lastUsedAt: Date | null
}

/** A token with its holder's authority as it is now. */
export interface ApiTokenRow extends ApiToken {
  email: string
  holder: 'person' | 'service'
  /** Of a person: the last sign-in with a session. */
  lastLoginAt: Date | null
  /** Of a service account: whether somebody answers for it. */
  hasOwner: boolean
  groups: string[]
  roles: RoleGrant[]
}

const TOKEN = {
  id: 'id',
  userId: 'user_id',
  name: 'name',
  permissions: 'permissions',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
  isLogin: 'is_login',
  madeById: 'made_by_id',
  madeBy: 'made_by',
}
const COLUMNS = columns<keyof ApiToken>({ ...TOKEN, lastUsedAt: 'last_used_at' }).select('t')
const HOLDER = `case u.kind when 'service' then 'service' else 'person' end as holder,
  u.last_login_at as "lastLoginAt", u.owner_id is not null as "hasOwner"`
const NEW_TOKEN = columns<keyof typeof TOKEN | 'hash' | 'providerSession'>({
  ...TOKEN,
  hash: 'hash',
  providerSession: 'provider_session',
})

/** Add a token; one of a sign-in through an identity provider ends with the session there. */
export async function insertApiToken(
  tx: Db,
  token: Omit<ApiToken, 'lastUsedAt'> & { hash: string; providerSession?: string | null },
): Promise<void> {
  await tx.execute(
    `insert into api_tokens (${NEW_TOKEN.names}) values (${NEW_TOKEN.places})`,
    NEW_TOKEN.valuesOf({ ...token, providerSession: token.providerSession ?? null }),
  )
}

/** The token with this hash that has not expired at `now`. */
export async function findApiToken(db: Db, hash: string, now: Date): Promise<ApiTokenRow | undefined> {
  const rows = await db.query<ApiTokenRow>(
    `select ${COLUMNS}, u.email, ${HOLDER},
       array_remove(array_agg(g.name order by g.name), null) as groups, ${GRANTS} as roles
     from api_tokens t join users u on u.id = t.user_id
       left join user_groups m on m.user_id = u.id left join groups g on g.id = m.group_id
     where t.hash = $1 and t.expires_at > $2
     group by t.id, u.id`,
    [hash, now],
  )
  return rows[0]
}

/** What says until when a token works. */
export type TokenTerm = Pick<ApiTokenRow, 'holder' | 'hasOwner' | 'expiresAt' | 'lastLoginAt'>

/**
 * Until when a holder's token works, as it is now; undefined where it is gone. It can neither be revoked nor lose its
 * holder's owner before the transaction has ended: whoever does so waits.
 */
export async function keepApiToken(
  tx: Db,
  { id, userId }: { id: string; userId: string },
): Promise<TokenTerm | undefined> {
  const rows = await tx.query<TokenTerm>(
    `select ${HOLDER}, t.expires_at as "expiresAt"
     from api_tokens t join users u on u.id = t.user_id where t.id = $1 and t.user_id = $2
     for key share of t for share of u`,
    [id, userId],
  )
  return rows[0]
}

/** Note that a token was used in a minute, which is given as its beginning. */
export async function noteApiTokenUse(db: Db, id: string, minute: Date): Promise<void> {
  await db.execute(
    `update api_tokens set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at < $2)`,
    [id, minute],
  )
}

/** The tokens of a holder, the oldest first, those that expired lately too. */
export async function listApiTokens(db: Db, userId: string): Promise<ApiToken[]> {
  return db.query<ApiToken>(
    `select ${COLUMNS} from api_tokens t where t.user_id = $1 order by t.created_at, t.id`,
    [userId],
  )
}

/**
 * The tokens of a service account that work still and were made by whoever owned it, or by an account that is gone or not
 * known: who made them has them, whoever answers for the account now.
 */
export async function listTokensSeenBefore(
  db: Db,
  { id, formerOwnerId, ownerId }: { id: string; formerOwnerId: string | null; ownerId: string },
  now: Date,
): Promise<ApiToken[]> {
  return db.query<ApiToken>(
    `select ${COLUMNS} from api_tokens t where t.user_id = $1 and t.expires_at > $4
       and t.made_by_id is distinct from $3
       and (t.made_by_id = $2 or not exists (select from users u where u.id = t.made_by_id))
     order by t.created_at, t.id`,
    [id, formerOwnerId, ownerId, now],
  )
}

/** Take a holder's token away; undefined when there is none of that id. */
export async function deleteApiToken(tx: Db, userId: string, id: string): Promise<ApiToken | undefined> {
  const rows = await tx.query<ApiToken>(
    `delete from api_tokens t where t.id = $1 and t.user_id = $2 returning ${COLUMNS}`,
    [id, userId],
  )
  return rows[0]
}

/** Take all tokens of a holder away; returns their ids. */
export async function deleteUserApiTokens(tx: Db, userId: string): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(`delete from api_tokens where user_id = $1 returning id`, [
    userId,
  ])
  return rows.map((row) => row.id)
}

/** Take the tokens away that a holder's command lines got by signing in; returns their ids. */
export async function deleteUserLoginTokens(tx: Db, userId: string): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `delete from api_tokens where user_id = $1 and is_login returning id`,
    [userId],
  )
  return rows.map((row) => row.id)
}

/** The ids of the tokens of a person, and of the service accounts that the person answers for. */
export async function listTokensAnsweredFor(tx: Db, userId: string): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `select t.id from api_tokens t join users u on u.id = t.user_id where u.id = $1 or u.owner_id = $1`,
    [userId],
  )
  return rows.map((row) => row.id)
}

/** Delete a holder's expired tokens of sign-ins, and the oldest of the others beyond `keptMax`; returns the ids. */
export async function deleteLoginTokens(
  tx: Db,
  userId: string,
  now: Date,
  keptMax: number,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `delete from api_tokens where user_id = $1 and is_login and (expires_at <= $2 or id in (
       select id from api_tokens where user_id = $1 and is_login and expires_at > $2
       order by created_at desc, id desc offset $3)) returning id`,
    [userId, now, keptMax],
  )
  return rows.map((row) => row.id)
}

/**
 * End the tokens of command lines that people signed in through a provider, by one subject or one session there where
 * given, and by both also those of which nobody knows the session there; returns their ids.
 */
export async function deleteProviderLoginTokens(
  tx: Db,
  of: { issuer: string; subject: string | null; providerSession: string | null },
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `delete from api_tokens t using users u
     where u.id = t.user_id and t.is_login and u.issuer = $1
       and ($2::text is null or t.provider_session = $2 or ($3::text is not null and t.provider_session is null))
       and ($3::text is null or u.subject = $3)
     returning t.id`,
    [of.issuer, of.providerSession, of.subject],
  )
  return rows.map((row) => row.id)
}

/** Forget tokens that expired before `before`, and those of sign-ins that expired before `now`. */
export async function deleteExpiredApiTokens(tx: Db, before: Date, now: Date): Promise<number> {
  return tx.execute(`delete from api_tokens where expires_at <= $1 or (is_login and expires_at <= $2)`, [
    before,
    now,
  ])
}
