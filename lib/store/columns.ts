/** A table's columns, each with the name that the program has for it. */
export interface Columns<Name extends string> {
  /** What is read: rows have the program's names. Behind a table's alias where one is given. */
  select(alias?: string): string
  /** The columns of an insert. */
  readonly names: string
  /** The same behind a table's alias, for an insert that selects. */
  namesOf(alias: string): string
  /** `$1, $2, …`: a place for the value of each. */
  readonly places: string
  /** The values in the order of the columns. Objects become JSON, lists become lists of PostgreSQL. */
  valuesOf(row: Readonly<Record<Name, unknown>>): unknown[]
  /** The columns with their types, for `json_to_recordset`. */
  readonly typed: string
  /**
   * A row with the table's names, for a list of them in one JSON text. What is null is left out: thousands of rows are
   * parsed faster so.
   */
  recordOf(row: Readonly<Record<Name, unknown>>): Record<string, unknown>
  /** `a = excluded.a, …` of these columns, for an insert that finds its row there. */
  replaced(...names: readonly NoInfer<Name>[]): string
}

/**
 * Say a table's columns once, for all that is read from it and inserted into it: `columns<keyof Row>({ … })`. A column
 * that goes through a record says its type behind its name: `'push_id uuid'`.
 */
export function columns<Name extends string>(columnOf: Readonly<Record<Name, string>>): Columns<Name> {
  const entries = Object.entries<string>(columnOf).map(
    ([name, column]) => [name as Name, column.split(' ')[0]!] as const,
  )
  const list = (alias: string) => entries.map(([name, column]) => `${alias}${column} as "${name}"`).join(', ')
  const unaliased = list('')
  const nameOf = new Map(entries)
  return {
    select: (alias) => (alias === undefined ? unaliased : list(`${alias}.`)),
    names: entries.map(([, column]) => column).join(', '),
    namesOf: (alias) => entries.map(([, column]) => `${alias}.${column}`).join(', '),
    places: entries.map((_, index) => `$${index + 1}`).join(', '),
    valuesOf: (row) => entries.map(([name]) => row[name]),
    typed: Object.values(columnOf).join(', '),
    recordOf(row) {
      const record: Record<string, unknown> = {}
      for (const [name, column] of entries) record[column] = row[name] ?? undefined
      return record
    },
    replaced: (...names) =>
      names.map((name) => `${nameOf.get(name)} = excluded.${nameOf.get(name)}`).join(', '),
  }
}
