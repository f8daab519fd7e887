import type { Db } from './db.ts'

/** A view of the fleet that a user saved. */
export interface FleetView {
  id: string
  name: string
  /** The query of the page's address. */
  query: string
}

/** Views that a user can have. */
export const FLEET_VIEWS_MAX = 20

/** The views of a user, by name. */
export const listFleetViews = (db: Db, userId: string): Promise<FleetView[]> =>
  db.query<FleetView>(
    `select id, name, query from fleet_views where user_id = $1 order by lower(name), name`,
    [userId],
  )

/**
 * Save a view over the one of the same name, or as a new one; null when the user is gone, `full` when the user has as
 * many as there can be.
 */
export async function saveFleetView(
  tx: Db,
  userId: string,
  { id, name, query }: FleetView,
  now: Date,
): Promise<FleetView | 'full' | null> {
  // One saves at a time, so that none is counted twice.
  const users = await tx.query('select id from users where id = $1 for update', [userId])
  if (users.length === 0) return null
  const rows = await tx.query<FleetView>(
    `insert into fleet_views (id, user_id, name, query, updated_at)
     select $1, $2, $3, $4, $5
     where (select count(*) from fleet_views where user_id = $2) < $6
       or exists (select from fleet_views where user_id = $2 and name = $3)
     on conflict (user_id, name) do update set query = excluded.query, updated_at = excluded.updated_at
     returning id, name, query`,
    [id, userId, name, query, now, FLEET_VIEWS_MAX],
  )
  return rows[0] ?? 'full'
}

/** Forget a view; false when the user has none of this id. */
export async function removeFleetView(tx: Db, userId: string, id: string): Promise<boolean> {
  return (await tx.execute('delete from fleet_views where user_id = $1 and id = $2', [userId, id])) > 0
}
