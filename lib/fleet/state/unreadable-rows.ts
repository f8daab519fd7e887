import type { Log } from '../../log.ts'

/** Rows that are named one by one: another version may have written all of a big fleet. */
const NAMED_MAX = 20

/** Says in the log which rows of a table could not be read in whole. */
export class UnreadableRows {
  readonly #log: Log
  readonly #table: string
  #count = 0

  constructor(log: Log, table: string) {
    this.#log = log
    this.#table = table
  }

  /** Of this row these columns were left out, or the parts of them that do not fit. */
  tell(id: string, fields: readonly string[]): void {
    this.#count++
    if (this.#count > NAMED_MAX) return
    this.#log.error({ table: this.#table, id, fields }, 'what cannot be read of a stored row was left out')
  }

  /** All rows of the table have been read. */
  end(): void {
    const count = this.#count - NAMED_MAX
    if (count <= 0) return
    this.#log.error({ table: this.#table, count }, 'more stored rows could not be read in whole')
  }
}
