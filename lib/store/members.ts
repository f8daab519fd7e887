import type { Db } from './db.ts'

/** A running process as it writes itself down. */
export interface MemberRow {
  id: string
  /** Where others reach it: `host:port`. */
  address: string
  /** The machine that it runs on, and the id of its process there; '' and 0 for one that is too old to say so. */
  host: string
  pid: number
  version: string
  linkVersion: number
  startedAt: Date
  /** The epoch that it owns, or owned until it lost it; null when it never did. */
  ownedEpoch: number | null
  ownedSince: Date | null
  /** The epoch of the owner that it has a link to. */
  linkedEpoch: number | null
  /** The newest migration that it knows; 0 for a process that is too old to say so. */
  newestMigration: number
  /** The newest one that breaks processes which do not know it; 0 for none. */
  newestBreaking: number
  /** What proves all of this to those who know the fleet's secret; null where there is none. */
  proof: string | null
}

/** A member as another one reads it. */
export interface SeenMember extends MemberRow {
  /** How long ago it renewed its row, by the database's clock. */
  silentMs: number
  /** Whether there is a place for proofs: in an older schema no row can have one. */
  isProvable: boolean
}

/** What one renewal finds. */
export interface MembersFound {
  /** Every member with a row, the last started first; a member's first renewal does not find its own row yet. */
  members: SeenMember[]
  /** Today's epoch; 0 before the first. */
  epoch: number
  /** The newest migration that the database has, and the newest one that breaks who does not know it. */
  schema: { newest: number; breaking: number }
  /** The database's clock. */
  now: Date
}

/** So much is read of each text of a row: what is longer was written by another hand. */
export const TEXT_LENGTH_MAX = 512
/** The most rows that are read, the last started first: a fleet has a few. */
export const MEMBERS_MAX = 1_000

/**
 * Renew a process's row and read everybody's. It does so in an older schema too, where it leaves out the columns that
 * are not there yet: a member joins before the owner that it follows has stopped, and so before it can migrate. The whole
 * row is written anew, so that nothing that another hand has changed in it lasts.
 */
export async function renewMember(db: Db, member: MemberRow): Promise<MembersFound> {
  const rows = await db.query<Partial<SeenMember> & Omit<MembersFound, 'members' | 'schema'> & Schema>(
    `with former as (delete from members where id = $1::jsonb ->> 'id' returning id),
     renewed as (
       insert into members
       select r.* from (select count(*) from former) as first,
         jsonb_populate_record(null::members, $1::jsonb || jsonb_build_object('seen_at', clock_timestamp())) r
       -- A renewal that was given up has written it at this moment.
       on conflict (id) do nothing
     )
     select clock_timestamp() as now,
       coalesce((select epoch from process_epoch where id = 1), 0) as epoch,
       (select coalesce(max(version), 0) from schema_migrations) as newest,
       (select coalesce(max(version), 0) from schema_migrations where is_breaking) as breaking,
       ${cut('m.id')} as id, ${cut('m.address')} as address, ${cut(`coalesce(to_jsonb(m) ->> 'host', '')`)} as host, coalesce((to_jsonb(m) ->> 'pid')::int, 0) as pid,
       ${cut('m.version')} as version, m.link_version as "linkVersion", m.started_at as "startedAt",
       m.owned_epoch as "ownedEpoch", m.owned_since as "ownedSince", m.linked_epoch as "linkedEpoch",
       coalesce((to_jsonb(m) ->> 'newest_migration')::int, 0) as "newestMigration",
       coalesce((to_jsonb(m) ->> 'newest_breaking')::int, 0) as "newestBreaking",
       ${cut(`to_jsonb(m) ->> 'proof'`)} as proof, to_jsonb(m) -> 'proof' is not null as "isProvable",
       extract(epoch from clock_timestamp() - m.seen_at)::double precision * 1000 as "silentMs"
     from (select 1) one left join members m on true
     order by m.started_at desc, m.id
     limit ${MEMBERS_MAX}`,
    [JSON.stringify(toColumns(member))],
  )
  const { epoch, now, newest, breaking } = rows[0]!
  const members = rows.flatMap(({ epoch: _, now: __, newest: ___, breaking: ____, ...row }) =>
    row.id == null ? [] : [row as SeenMember],
  )
  return { members, epoch, schema: { newest, breaking }, now }
}

type Schema = MembersFound['schema']

const cut = (text: string): string => `left(${text}, ${TEXT_LENGTH_MAX})`

const toColumns = (member: MemberRow) => ({
  id: member.id,
  address: member.address,
  host: member.host,
  pid: member.pid,
  version: member.version,
  link_version: member.linkVersion,
  started_at: member.startedAt,
  owned_epoch: member.ownedEpoch,
  owned_since: member.ownedSince,
  linked_epoch: member.linkedEpoch,
  newest_migration: member.newestMigration,
  newest_breaking: member.newestBreaking,
  proof: member.proof,
})

/** Remove the row of a process that stops. */
export async function removeMember(db: Db, id: string): Promise<void> {
  await db.execute(`delete from members where id = $1`, [id])
}

/** Remove the rows of members that have been silent for `silentMs`, but for today's owner; returns how many. */
export async function removeSilentMembers(db: Db, silentMs: number): Promise<number> {
  return db.execute(
    `delete from members where seen_at < clock_timestamp() - make_interval(secs => $1 / 1000.0)
       and owned_epoch is distinct from (select epoch from process_epoch where id = 1)`,
    [silentMs],
  )
}

/**
 * Remove the rows of processes that were reached where this one is, on the same machine: it listens there now, so they
 * have ended.
 */
export async function removePredecessors(
  db: Db,
  { id, address, host }: Pick<MemberRow, 'id' | 'address' | 'host'>,
): Promise<number> {
  return db.execute(
    `delete from members m where m.id <> $1 and m.address = $2 and to_jsonb(m) ->> 'host' = $3 and $3 <> ''`,
    [id, address, host],
  )
}

const SESSIONS = 'muster/'

/** The name under which the sessions of a member are known to the database. */
export const sessionNameOf = (memberId: string): string => `${SESSIONS}${memberId}`

/** The member that a session is of, by its name; null where it is of no member. */
export const memberOfSession = (name: string): string | null =>
  name.startsWith(SESSIONS) ? name.slice(SESSIONS.length) : null

/** The statement that ends the sessions of a member; exported for tests to recognise. */
export const END_SESSIONS = `select pg_terminate_backend(a.pid) from pg_stat_activity a
     where a.application_name = $2 and a.datname = current_database()
       and not exists (select from members m
         where m.id = $1 and m.seen_at >= clock_timestamp() - make_interval(secs => $3 / 1000.0))`

/**
 * End every session of a member that has been silent for `silentMs`, or has no row, and so free its locks; returns how
 * many.
 */
export async function endSessionsOf(db: Db, memberId: string, silentMs: number): Promise<number> {
  const rows = await db.query(END_SESSIONS, [memberId, sessionNameOf(memberId), silentMs])
  return rows.length
}

/** Whether members have rows, however old; false in a schema that has no place for them yet. */
export async function hasMembers(db: Db): Promise<boolean> {
  return (await countMembers(db, null)) > 0
}

/** How many members renewed their rows within `silentMs` (null: ever); 0 in a schema that has no members yet. */
export async function countMembers(db: Db, silentMs: number | null): Promise<number> {
  const [table] = await db.query<{ isThere: boolean }>(
    `select to_regclass('members') is not null as "isThere"`,
  )
  if (!table!.isThere) return 0
  const [found] = await db.query<{ count: number }>(
    `select count(*)::int as count from members
     where $1::float8 is null or seen_at >= clock_timestamp() - make_interval(secs => $1 / 1000.0)`,
    [silentMs],
  )
  return found!.count
}
