/** One row of the answer to a renewal, as `lib/store/members.ts` reads it. */
interface AnswerRow {
  id: string | null
  now: Date
  silentMs: number
}

/** Asks PostgreSQL. */
type Ask = <Row extends object>(text: string, params: readonly unknown[]) => Promise<Row[]>

const RENEWS = /\binsert into members\b/
const IS_OF_MEMBERS = /\bmembers\b/

/**
 * Remembers what members said of themselves and were answered. Each renews itself each second and most say the same as
 * before, so that only the times change: those answers are made here, and PostgreSQL is told the times before it is asked
 * anything else about members.
 */
export class MemberAnswers {
  /** By id, the row that each has written last, as text. */
  readonly #said = new Map<string, string>()
  /** By id, when each was seen last. */
  readonly #seen = new Map<string, Date>()
  /** The answer to a renewal, as long as nothing but times has changed since; null when something may have. */
  #rows: readonly AnswerRow[] | null = null
  /** Times that PostgreSQL has not been told. */
  readonly #untold = new Set<string>()

  /** Something that the answers hold may have changed. */
  forget(): void {
    this.#rows = null
  }

  /** Answer a statement of a member's session, or one about members, at this time of the database. */
  async query<Row extends object>(
    text: string,
    params: readonly unknown[],
    now: Date,
    ask: Ask,
  ): Promise<Row[]> {
    if (!RENEWS.test(text)) {
      await this.tell(text, ask)
      return ask(text, params)
    }
    const said = String(params[0])
    const { id } = JSON.parse(said) as { id: string }
    const isSame = this.#said.get(id) === said
    const known = isSame ? this.#rows : null
    if (known === null) await this.tell(text, ask)
    const rows = known === null ? await ask<Row>(text, params) : this.#made(known, now)
    this.#said.set(id, said)
    this.#seen.set(id, now)
    if (known !== null) this.#untold.add(id)
    else this.#rows = isSame ? (rows as unknown as AnswerRow[]) : null
    return rows as Row[]
  }

  /** Before a statement about members: tell PostgreSQL when they were seen. */
  async tell(text: string, ask: Ask): Promise<void> {
    if (this.#untold.size === 0 || !IS_OF_MEMBERS.test(text)) return
    const ids = [...this.#untold]
    this.#untold.clear()
    await ask(
      `update members m set seen_at = t.at from unnest($1::text[], $2::timestamptz[]) as t (id, at) where m.id = t.id`,
      [ids, ids.map((id) => this.#seen.get(id))],
    )
  }

  /** Rows were removed: who is not gone writes all of its own anew. */
  removed(): void {
    this.#said.clear()
    this.forget()
  }

  #made(rows: readonly AnswerRow[], now: Date): AnswerRow[] {
    return rows.map((row) => {
      const seen = this.#seen.get(row.id ?? '')
      return { ...row, now, silentMs: seen === undefined ? row.silentMs : now.getTime() - seen.getTime() }
    })
  }
}
