import type { Connection } from '../../../lib/store/connection.ts'
import { DatabaseUnavailable } from '../../../lib/store/db.ts'
import { END_SESSIONS, type MemberRow, type SeenMember } from '../../../lib/store/members.ts'
import type { VirtualTime } from '../time/virtual-time.ts'

type Columns = Record<string, unknown> & { id: string; address: string; host: string }
interface Row {
  columns: Columns
  said: ReturnType<typeof fromColumns>
  startedMs: number
  seenMs: number
}

/** The table of members and the sessions that a process holds the lock with, as `lib/store/members.ts` asks for them. */
export class SimRows {
  readonly #time: VirtualTime
  readonly #endSessions: (memberId: string) => number
  readonly #rows = new Map<string, Row>()
  epoch = 0
  isAway = false

  constructor(time: VirtualTime, endSessions: (memberId: string) => number) {
    this.#time = time
    this.#endSessions = endSessions
  }

  /** A session of the database. */
  connect(): Connection {
    const answer = async <Result>(text: string, params: readonly unknown[]): Promise<Result> => {
      if (this.isAway) throw new DatabaseUnavailable('away')
      return this.#answer(text, params) as Result
    }
    return {
      isBroken: false,
      query: (text: string, params: readonly unknown[] = []) => answer(text, params),
      execute: (text: string, params: readonly unknown[] = []) => answer(text, params),
      onLost() {},
      async close() {},
    } as unknown as Connection
  }

  #answer(text: string, params: readonly unknown[]): unknown {
    if (text.includes('insert into members')) return this.#renew(JSON.parse(String(params[0])) as Columns)
    if (text.includes('to_regclass')) return [{ isThere: true }]
    if (text.includes('select count(*)')) return [{ count: this.#rows.size }]
    if (text === END_SESSIONS) return Array.from({ length: this.#end(params) })
    if (text.includes('m.address = $2'))
      return this.#remove(({ columns }) => this.#isPredecessor(columns, params))
    if (text.includes('owned_epoch is distinct')) return this.#remove((row) => this.#isForgotten(row, params))
    if (text.includes('where id = $1')) return this.#remove(({ columns }) => columns.id === params[0])
    throw new Error(`the simulation knows no answer to: ${text}`)
  }

  #end([id, , silentMs]: readonly unknown[]): number {
    const row = this.#rows.get(String(id))
    const isSilent = row === undefined || this.#time.nowMs - row.seenMs >= Number(silentMs)
    return isSilent ? this.#endSessions(String(id)) : 0
  }

  readonly #isPredecessor = ({ id, address, host }: Columns, params: readonly unknown[]): boolean =>
    id !== params[0] && address === params[1] && host === params[2]

  readonly #isForgotten = ({ columns, seenMs }: Row, [silentMs]: readonly unknown[]): boolean =>
    this.#time.nowMs - seenMs > Number(silentMs) && columns.owned_epoch !== this.epoch

  #remove(isMeant: (row: Row) => boolean): number {
    const meant = [...this.#rows.values()].filter(isMeant)
    for (const { columns } of meant) this.#rows.delete(columns.id)
    return meant.length
  }

  /** What one statement finds is from before it, so that a first renewal does not find its own row. */
  #renew(columns: Columns): unknown[] {
    const { nowMs } = this.#time
    const common = { now: this.#time.databaseNow(), epoch: this.epoch, newest: 9_000, breaking: 0 }
    const rows = [...this.#rows.values()].sort((a, b) => b.startedMs - a.startedMs)
    const found = rows.map(({ said, seenMs }) =>
      Object.assign({}, said, common, { silentMs: nowMs - seenMs }),
    )
    const said = fromColumns(columns)
    this.#rows.set(columns.id, { columns, said, startedMs: said.startedAt.getTime(), seenMs: nowMs })
    return found.length > 0 ? found : [{ ...common, id: null }]
  }
}

const fromColumns = (row: Columns): MemberRow & Pick<SeenMember, 'isProvable'> => ({
  id: row.id,
  address: row.address,
  host: row.host,
  pid: 1,
  version: String(row.version),
  linkVersion: Number(row.link_version),
  startedAt: new Date(String(row.started_at)),
  ownedEpoch: row.owned_epoch as number | null,
  ownedSince: row.owned_since === null ? null : new Date(String(row.owned_since)),
  linkedEpoch: row.linked_epoch as number | null,
  newestMigration: Number(row.newest_migration),
  newestBreaking: Number(row.newest_breaking),
  proof: null,
  isProvable: false,
})
