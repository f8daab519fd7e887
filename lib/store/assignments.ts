/** The columns that a move of something with a status can set; `isJson` where the value is stored as JSON. */
export type MovedColumns<Move> = Readonly<Record<keyof Move, { column: string; isJson?: boolean }>>

/** `a = $4, b = $5::jsonb, …` for what a move sets; the values are added to `params`, which hold those before them. */
export function assignmentsOf<Move extends object>(
  columns: MovedColumns<Move>,
  move: Move,
  params: unknown[],
): string {
  const assignments = Object.entries(move).map(([key, value]) => {
    const { column, isJson = false } = columns[key as keyof Move]
    params.push(isJson && value !== null ? JSON.stringify(value) : value)
    return `${column} = $${params.length}${isJson ? '::jsonb' : ''}`
  })
  return assignments.join(', ')
}
