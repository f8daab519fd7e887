import type { Db } from './db.ts'

/** A running process as it writes itself down. */
export interface MemberRow {
  id: string
  /** Where others reach it: `host:port`. */
  address: string
  version: string
  linkVersion: number
  startedAt: Date
  /** The epoch that it owns, or owned until it lost it; null when it never did. */
  ownedEpoch: number | null
  ownedSince: Date | null
  /** The epoch of the owner that it has a link to. */
  linkedEpoch: number | null
}

/** A member as another one reads it. */
export interface SeenMember extends MemberRow {
  /** How long ago it renewed its row, by the database's clock. */
  silentMs: number
}

/** What one renewal finds. */
export interface MembersFound {
  /** Every member with a row, the last started first; a member's first renewal does not find its own row yet. */
  members: SeenMember[]
  /** Today's epoch; 0 before the first. */
  epoch: number
  /** The database's clock. */
  now: Date
}

/** Renew a process's row and read everybody's. */
export async function renewMember(db: Db, member: MemberRow): Promise<MembersFound> {
  const rows = await db.query<Partial<SeenMember> & { epoch: number | null; now: Date }>(
    `with renewed as (
       insert into members (id, address, version, link_version, started_at, owned_epoch, owned_since, linked_epoch, seen_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())
       on conflict (id) do update set owned_epoch = excluded.owned_epoch, owned_since = excluded.owned_since,
         linked_epoch = excluded.linked_epoch, seen_at = clock_timestamp()
     )
     select clock_timestamp() as now, (select epoch from process_epoch where id = 1) as epoch,
       m.id, m.address, m.version, m.link_version as "linkVersion", m.started_at as "startedAt",
       m.owned_epoch as "ownedEpoch", m.owned_since as "ownedSince", m.linked_epoch as "linkedEpoch",
       extract(epoch from clock_timestamp() - m.seen_at)::double precision * 1000 as "silentMs"
     from (select 1) one left join members m on true
     order by m.started_at desc, m.id`,
    [
      ...[member.id, member.address, member.version, member.linkVersion, member.startedAt],
      ...[member.ownedEpoch, member.ownedSince, member.linkedEpoch],
    ],
  )
  const { epoch, now } = rows[0]!
  const members = rows.flatMap(({ epoch: _, now: __, ...row }) => (row.id == null ? [] : [row as SeenMember]))
  return { members, epoch: epoch ?? 0, now }
}

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

/** The name under which the sessions of a member are known to the database. */
export const sessionNameOf = (memberId: string): string => `muster/${memberId}`

/** End every session of a member that has been silent for `silentMs`, and so free its locks; returns how many. */
export async function endSessionsOf(db: Db, memberId: string, silentMs: number): Promise<number> {
  const rows = await db.query(
    `select pg_terminate_backend(a.pid) from members m
     join pg_stat_activity a on a.application_name = $2 and a.datname = current_database()
     where m.id = $1 and m.seen_at < clock_timestamp() - make_interval(secs => $3 / 1000.0)`,
    [memberId, sessionNameOf(memberId), silentMs],
  )
  return rows.length
}

/** How many members renewed their rows within `silentMs`; 0 in a schema that has no members yet. */
export async function countMembers(db: Db, silentMs: number): Promise<number> {
  const [table] = await db.query<{ isThere: boolean }>(
    `select to_regclass('members') is not null as "isThere"`,
  )
  if (!table!.isThere) return 0
  const [found] = await db.query<{ count: number }>(
    `select count(*)::int as count from members where seen_at >= clock_timestamp() - make_interval(secs => $1 / 1000.0)`,
    [silentMs],
  )
  return found!.count
}
