/** A table's columns, each with the name that the program has for it. */
export interface Columns<Name extends string> {
  /** What is read: rows have the program's names. Behind a table's alias where one is given. */
  select(alias?: string): string
  /** The columns of an insert. */
  readonly names: string
  /** `$1, $2, …`: a place for the value of each. */
  readonly places: string
  /** The values in the order of the columns. Objects become JSON, lists become lists of PostgreSQL. */
  valuesOf(row: Readonly<Record<Name, unknown>>): unknown[]
}

/** Say a table's columns once, for all that is read from it and inserted into it: `columns<keyof Row>({ … })`. */
export function columns<Name extends string>(names: Readonly<Record<Name, string>>): Columns<Name> {
  const entries = Object.entries<string>(names)
  const list = (alias: string) => entries.map(([name, column]) => `${alias}${column} as "${name}"`).join(', ')
  const unaliased = list('')
  return {
    select: (alias) => (alias === undefined ? unaliased : list(`${alias}.`)),
    names: entries.map(([, column]) => column).join(', '),
    places: entries.map((_, index) => `$${index + 1}`).join(', '),
    valuesOf: (row) => entries.map(([name]) => row[name as Name]),
  }
}
