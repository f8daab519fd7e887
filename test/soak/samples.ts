/** The values that were read at one moment, by name. */
export type Sample = Readonly<Record<string, number>>

/**
 * By how much values of a kind may grow from beginning to end: by a part of the first value, and by a fixed amount
 * besides.
 */
interface Allowance {
  matches: RegExp
  part: number
  beside: number
  /** Which value of a third of the run counts: the least, where garbage or queues come and go, or the median. */
  by: 'least' | 'middle'
}

const MIB = 1_048_576

/** For each name the first entry that matches counts. */
const ALLOWANCES: readonly Allowance[] = [
  { matches: /^memory heap/, part: 0.1, beside: 6 * MIB, by: 'least' },
  { matches: /^memory /, part: 0.08, beside: 40 * MIB, by: 'least' },
  { matches: /^bytes /, part: 0.25, beside: MIB, by: 'middle' },
  { matches: /^descriptors/, part: 0, beside: 8, by: 'middle' },
  { matches: /^rows /, part: 0.2, beside: 60, by: 'middle' },
  { matches: /^kept /, part: 0.2, beside: 60, by: 'middle' },
  { matches: /^waiting /, part: 0.2, beside: 200, by: 'least' },
]

/**
 * Values that grow with what people do and are kept as long as their workload, or for ever: they are printed and not
 * judged.
 */
const GROWS =
  /^(rows|bytes) (pushes|push_targets|approvals|approval_votes|audit_events|sessions)$|^kept effectiveForms$/

/** How the values of one name developed. */
export interface Line {
  name: string
  first: number
  last: number
  allowed: number | null
  isFlat: boolean
}

/** Compare the first third of a run with its last third, name by name. */
export function judgeSamples(samples: readonly Sample[]): Line[] {
  const third = Math.max(1, Math.floor(samples.length / 3))
  const names = new Set(samples.flatMap((sample) => Object.keys(sample)))
  return [...names].sort().map((name) => {
    const allowance = ALLOWANCES.find(({ matches }) => matches.test(name))
    if (allowance === undefined) throw new Error(`nothing says how much "${name}" may grow`)
    const of = (some: readonly Sample[]) =>
      pick(
        some.map((sample) => sample[name] ?? 0),
        allowance.by,
      )
    const [first, last] = [of(samples.slice(0, third)), of(samples.slice(-third))]
    const allowed = GROWS.test(name) ? null : first * (1 + allowance.part) + allowance.beside
    return { name, first, last, allowed, isFlat: allowed === null || last <= allowed }
  })
}

function pick(values: readonly number[], by: Allowance['by']): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[by === 'least' ? 0 : Math.floor(sorted.length / 2)] ?? 0
}

const shown = (name: string, value: number) =>
  /^(memory|bytes) /.test(name) ? `${(value / MIB).toFixed(1)} MiB` : String(Math.round(value))

/** The lines as a plain-text table; those that grew come last. */
export function toTable(lines: readonly Line[]): string {
  const rows = lines.map(({ name, first, last, allowed, isFlat }) => [
    name,
    shown(name, first),
    shown(name, last),
    allowed === null ? 'grows' : shown(name, allowed),
    isFlat ? '' : 'GREW',
  ])
  const table = [
    ['what', 'first third', 'last third', 'allowed', ''],
    ...rows.sort((a, b) => (a[4]! < b[4]! ? -1 : 1)),
  ]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
