import { UUID } from '../ids.ts'
import type { RoleGrant } from '../model/scopes.ts'
import type { Db } from './db.ts'
import { seen } from './external-users.ts'
import { GRANTS } from './groups.ts'

/**
 * SQL for that by which several accounts are known to be one person's, of the accounts that `people` lists by `uuid`: an
 * e-mail, by whichever claim the provider ever told it, and the provider's subject. Full names are left out: two people
 * may have the same. `is_vouched`: nobody chose it himself.
 */
const NAMES_OF_PEOPLE = `select p.uuid, ${seen('u.email_key')} as name, true as is_vouched from people p join users u on u.id = p.uuid where u.kind = 'local'
   union select p.uuid, ${seen('n.name')}, n.is_vouched from people p
     join provider_names n on n.user_id = p.uuid where position('@' in n.name) > 1
   union select p.uuid, e.issuer || e'\\n' || e.subject, true from people p join external_ids e on e.user_id = p.uuid`

/** That one account made another one, set its password, linked or regrouped it, or made a token of it. */
export interface AccountTie {
  /** The other account that was asked about. */
  otherId: string
  /** Whether the account was changed, or changed the other one. */
  way: 'was-changed' | 'changed'
  /** Whether this account itself did it, or was changed; else another one that is known to be of the same person. */
  isOwn: boolean
  /** The same of the other account. */
  isOthersOwn: boolean
  /** RFC 3339. */
  at: string
}

/** An account, and how it stands to others: all that decides whether it counts as an approver of what these asked for. */
export interface AccountStanding {
  id: string
  email: string
  /** Its roles, and where these hold. */
  roles: RoleGrant[]
  /** When anybody last changed this account; null for never. */
  changedAt: Date | null
  /** Those of the others that are known to be of the same person. */
  alsoIds: string[]
  /** Those of them whose e-mail, by which that is known, is vouched for, or that have the same subject. */
  vouchedIds: string[]
  ties: AccountTie[]
}

/**
 * How each of these accounts stands to `others`, which may be gone. Missing are service accounts and those that are
 * gone themselves. Of the other accounts of a person those are known that changed one of these, were changed by one, or
 * changed one of the others: one step is looked back and no further.
 */
export function listAccountStandings(
  db: Db,
  ids: readonly string[],
  others: readonly string[],
): Promise<AccountStanding[]> {
  return db.query<AccountStanding>(
    `with people as materialized (
       select distinct id::uuid as uuid from (
         select unnest($1::text[] || $2::text[]) as id
         union select by_id from account_changes where user_id::text = any($1::text[] || $2::text[])
         union select user_id::text from account_changes where by_id = any($1::text[])) all_of
       where id ~ '${UUID.source}'),
     names as materialized (${NAMES_OF_PEOPLE}),
     same as materialized (
       select n.uuid, o.uuid::text as other, bool_or(o.is_vouched) as is_vouched
       from names n join names o on o.name = n.name and o.uuid <> n.uuid group by n.uuid, o.uuid),
     -- The accounts of the persons; whose is the one that was asked about.
     kin as materialized (
       select id, id as whose from unnest($1::text[] || $2::text[]) as id
       union select s.uuid::text, s.other from same s where s.other = any($1::text[] || $2::text[])),
     ties as materialized (
       select c.user_id::text as id, json_build_object('otherId', k.whose, 'way', 'was-changed',
           'isOwn', true, 'isOthersOwn', k.id = k.whose, 'at', c.changed_at) as tie
         from account_changes c join kin k on k.id = c.by_id
         where c.user_id::text = any($1::text[]) and k.whose = any($2::text[])
           and c.user_id::text not in (c.by_id, k.whose)
       union all select me.whose, json_build_object('otherId', k.whose, 'way', 'changed',
           'isOwn', me.id = me.whose, 'isOthersOwn', k.id = k.whose, 'at', c.changed_at)
         from account_changes c join kin k on k.id = c.user_id::text join kin me on me.id = c.by_id
         where me.whose = any($1::text[]) and k.whose = any($2::text[]) and me.whose not in (c.user_id::text, k.whose))
     select u.id::text as id, u.email,
       (select ${GRANTS} from user_groups m join groups g on g.id = m.group_id where m.user_id = u.id) as roles,
       (select max(c.changed_at) from account_changes c where c.user_id = u.id) as "changedAt",
       array(select s.other from same s where s.uuid = u.id and s.other = any($2::text[])) as "alsoIds",
       array(select s.other from same s where s.uuid = u.id and s.is_vouched and s.other = any($2::text[])) as "vouchedIds",
       coalesce((select json_agg(t.tie) from ties t where t.id = u.id::text), '[]') as ties
     from users u where u.id::text = any($1::text[]) and u.kind <> 'service' order by u.email`,
    [ids, others],
  )
}

/** The people who hold one of these roles, be it within a scope only, by e-mail; at most `most`. */
export async function listHolders(db: Db, roles: readonly string[], most: number): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `select u.id::text as id from users u
     where u.kind <> 'service' and exists (
       select from user_groups m join groups g on g.id = m.group_id where m.user_id = u.id and g.role = any($1::text[]))
     order by u.email limit $2`,
    [roles, most],
  )
  return rows.map(({ id }) => id)
}

/** Those of these accounts that are, or are known to be of the same person as, one of `others`; also of accounts that are gone. */
export async function listSamePeople(
  db: Db,
  ids: readonly string[],
  others: readonly string[],
): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(
    `with people as (
       select distinct id::uuid as uuid from unnest($1::text[] || $2::text[]) as id where id ~ '${UUID.source}'),
     names as materialized (${NAMES_OF_PEOPLE})
     select id from unnest($1::text[]) as id where id = any($2::text[])
       or exists (select from names n join names o on o.name = n.name
         where n.uuid::text = id and o.uuid::text = any($2::text[]))`,
    [ids, others],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Remember that somebody made an account, set its password, linked or regrouped it, or made a token of it. */
export async function noteAccountChange(tx: Db, userId: string, byId: string, now: Date): Promise<void> {
  await tx.execute(
    `insert into account_changes (user_id, by_id, changed_at) values ($1, $2, $3)
     on conflict (user_id, by_id) do update set changed_at = excluded.changed_at`,
    [userId, byId, now],
  )
}

/** Forget who changed accounts that went before a time; of those of which it is not known when, those changed before it. */
export async function deleteOldAccountChanges(tx: Db, before: Date): Promise<void> {
  await tx.execute(
    `delete from account_changes c where coalesce(c.gone_at, c.changed_at) < $1 and not exists (select from users u where u.id = c.user_id)`,
    [before],
  )
}

/** That an account was made or changed after a time. */
export interface AccountChangeSince {
  /** Of whoever did it; null where that account is gone, or where it was no account. */
  email: string | null
  at: Date
  /** The identity provider did it, by a first sign-in or by its groups. */
  isByProvider: boolean
  /** The account itself was made after that time. */
  isNew: boolean
}

/** Who made or changed an account after a time, the last first; without an e-mail where that account is gone. */
export function listChangersSince(db: Db, userId: string, since: Date): Promise<AccountChangeSince[]> {
  return db.query<AccountChangeSince>(
    `select u.email, c.changed_at as at, c.by_id !~ '${UUID.source}' as "isByProvider",
       coalesce((select o.created_at > $2 from users o where o.id = c.user_id), false) as "isNew"
     from account_changes c left join users u on u.id::text = c.by_id
     where c.user_id::text = $1 and c.changed_at > $2 order by c.changed_at desc, c.by_id`,
    [userId, since],
  )
}
