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
  /** Many rows that are given as lists, `$1` and on, behind this alias: what an insert selects from. */
  unnested(alias: string): string
  /**
   * The lists for it, one of each column, read from what the rows are made of. They are PostgreSQL's texts: to write an
   * object for each of thousands of rows takes several times as long, and leaves as much for the garbage collector.
   */
  listsOf<T>(items: readonly T[], read: Readonly<Record<Name, (item: T) => Listed>>): string[]
  /** The same of rows that have the program's names. */
  listsOfRows(rows: readonly Readonly<Record<Name, Listed>>[]): string[]
  /** `a = excluded.a, …` of these columns, for an insert that finds its row there. */
  replaced(...names: readonly NoInfer<Name>[]): string
}

/** What a list holds; objects become JSON. */
export type Listed = string | number | boolean | Date | object | null

/**
 * A list as PostgreSQL writes it, for a parameter: the driver asks of each item what it is, and takes three times as long.
 */
export function toList<T>(items: readonly T[], read: (item: T) => Listed): string {
  let lastAt: Date | null = null
  let lastText = ''
  return `{${items
    .map((item) => {
      const value = read(item)
      if (value === null) return 'NULL'
      if (typeof value === 'number' || typeof value === 'boolean') return value
      if (typeof value === 'string') return quote(value)
      if (!(value instanceof Date)) return quote(JSON.stringify(value))
      // Rows that are written together are often of one moment.
      if (lastAt?.getTime() !== value.getTime()) lastText = quote(value.toISOString())
      lastAt = value
      return lastText
    })
    .join(',')}}`
}

const quote = (text: string): string => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`

/**
 * Say a table's columns once, for all that is read from it and inserted into it: `columns<keyof Row>({ … })`. A column
 * that goes through lists says its type behind its name: `'push_id uuid'`.
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
    unnested: (alias) =>
      `unnest(${Object.values<string>(columnOf)
        .map((column, index) => `$${index + 1}::${column.split(' ')[1]}[]`)
        .join(', ')}) as ${alias} (${entries.map(([, column]) => column).join(', ')})`,
    listsOfRows: (rows) => entries.map(([name]) => toList(rows, (row) => row[name])),
    listsOf: (items, read) => entries.map(([name]) => toList(items, read[name])),
    replaced: (...names) =>
      names.map((name) => `${nameOf.get(name)} = excluded.${nameOf.get(name)}`).join(', '),
  }
}
