import type { Db } from './db.ts'

/** How many pushes were submitted on each UTC day since `since`; days without any are not listed. */
export async function countPushesByDay(db: Db, since: Date): Promise<{ day: string; count: number }[]> {
  return db.query<{ day: string; count: number }>(
    `select to_char(submitted_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as count
     from pushes where submitted_at >= $1 group by 1 order by 1`,
    [since],
  )
}
