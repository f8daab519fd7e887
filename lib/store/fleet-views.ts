import type { Db } from './db.ts'

/** A view of the fleet that a user saved. */
export interface FleetView {
  id: string
  name: string
  /** The query of the page's address. */
  query: string
  /** Whether everybody sees it. */
  isShared: boolean
}

/** A view as a user sees it. */
export interface SeenFleetView extends FleetView {
  /** The email of who saved it, where that was somebody else; else null. */
  sharedBy: string | null
}

/** Views that a user can have. */
export const FLEET_VIEWS_MAX = 20
/** Views that users share with everybody, all together. */
export const SHARED_VIEWS_MAX = 100

/** The views of a user by name, and then those that others share. */
export const listFleetViews = (db: Db, userId: string): Promise<SeenFleetView[]> =>
  db.query<SeenFleetView>(
    `select v.id, v.name, v.query, v.is_shared as "isShared",
       case when v.user_id = $1 then null else u.email end as "sharedBy"
     from fleet_views v join users u on u.id = v.user_id
     where v.user_id = $1 or v.is_shared
     order by v.user_id <> $1, lower(v.name), v.name, u.email
     limit $2`,
    [userId, FLEET_VIEWS_MAX + SHARED_VIEWS_MAX],
  )

/** What became of a view that was to be saved. */
export type SavedFleetView =
  /** `wasShared`: whether everybody saw the one that it took the place of. */
  | { ok: true; view: FleetView; wasShared: boolean }
  | { ok: false; code: 'unauthorized' | 'views-full' | 'shared-views-full' }

/** Save a view over the user's own of the same name, or as a new one. The user may be gone. */
export async function saveFleetView(
  tx: Db,
  userId: string,
  { id, name, query, isShared }: FleetView,
  now: Date,
): Promise<SavedFleetView> {
  // One saves at a time, so that none is counted twice.
  const users = await tx.query('select id from users where id = $1 for update', [userId])
  if (users.length === 0) return { ok: false, code: 'unauthorized' }
  if (isShared && (await countOtherShared(tx, userId, name)) >= SHARED_VIEWS_MAX)
    return { ok: false, code: 'shared-views-full' }
  const before = await tx.query<{ isShared: boolean }>(
    'select is_shared as "isShared" from fleet_views where user_id = $1 and name = $2 for update',
    [userId, name],
  )
  const rows = await tx.query<FleetView>(
    `insert into fleet_views (id, user_id, name, query, is_shared, updated_at)
     select $1, $2, $3, $4, $5, $6
     where (select count(*) from fleet_views where user_id = $2) < $7
       or exists (select from fleet_views where user_id = $2 and name = $3)
     on conflict (user_id, name) do update
       set query = excluded.query, is_shared = excluded.is_shared, updated_at = excluded.updated_at
     returning id, name, query, is_shared as "isShared"`,
    [id, userId, name, query, isShared, now, FLEET_VIEWS_MAX],
  )
  if (rows[0] === undefined) return { ok: false, code: 'views-full' }
  return { ok: true, view: rows[0], wasShared: before[0]?.isShared ?? false }
}

/** How many views are shared, besides the one of this user and name. Those who share wait for each other. */
async function countOtherShared(tx: Db, userId: string, name: string): Promise<number> {
  await tx.query('select pg_advisory_xact_lock(hashtext($1))', ['fleet_views.shared'])
  const rows = await tx.query<{ count: number }>(
    `select count(*)::int as count from fleet_views where is_shared and not (user_id = $1 and name = $2)`,
    [userId, name],
  )
  return rows[0]!.count
}

const SEEN = 'id = $2 and (user_id = $1 or is_shared)'

/** Whose a view is that a user sees; undefined when there is none of this id for the user. */
export async function findFleetView(
  db: Db,
  userId: string,
  id: string,
): Promise<{ isOwn: boolean } | undefined> {
  const rows = await db.query<{ isOwn: boolean }>(
    `select user_id = $1 as "isOwn" from fleet_views where ${SEEN}`,
    [userId, id],
  )
  return rows[0]
}

/** Forget a view that a user sees; undefined when there is none of this id for the user. */
export async function removeFleetView(tx: Db, userId: string, id: string): Promise<FleetView | undefined> {
  const rows = await tx.query<FleetView>(
    `delete from fleet_views where ${SEEN} returning id, name, query, is_shared as "isShared"`,
    [userId, id],
  )
  return rows[0]
}
