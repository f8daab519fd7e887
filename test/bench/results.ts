import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../../runtime/build/bundle.mjs'

/** One number of a measure. */
export interface Figure {
  name: string
  value: number
  unit: string
  /** The targets: at most, or at least, this value; absent where there is none. */
  atMost?: number
  atLeast?: number
}

/** What one measure found. */
export interface MeasureResult {
  id: string
  title: string
  agents: number
  figures: Figure[]
  /** How busy each process was, in percent of one core. */
  busy: Readonly<Record<string, number>>
  note?: string
}

/** Whether the figure reaches its target; null without one. */
export function isReached({ value, atMost, atLeast }: Figure): boolean | null {
  if (atMost !== undefined) return value <= atMost
  if (atLeast !== undefined) return value >= atLeast
  return null
}

const show = (value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(2))

/** The results as a table in plain text. */
export function toTable(results: readonly MeasureResult[]): string {
  const rows = results.flatMap((result) => [
    ['', '', '', '', ''],
    [result.id, result.title, `${result.agents} agents`, '', ''],
    ...result.figures.map((figure) => {
      const target =
        figure.atMost !== undefined
          ? `<= ${show(figure.atMost)}`
          : figure.atLeast !== undefined
            ? `>= ${show(figure.atLeast)}`
            : ''
      const verdict = isReached(figure)
      return [
        '',
        figure.name,
        `${show(figure.value)} ${figure.unit}`.trim(),
        target,
        verdict === null ? '' : verdict ? 'ok' : 'MISSED',
      ]
    }),
    [
      '',
      'CPU',
      Object.entries(result.busy)
        .map(([name, percent]) => `${name} ${percent} %`)
        .join(', '),
      '',
      '',
    ],
    ...(result.note === undefined ? [] : [['', 'note', result.note, '', '']]),
  ])
  const widths = [4, 46, 40, 12, 8]
  return rows
    .map((row) =>
      row
        .map((cell, n) => cell.padEnd(widths[n]!))
        .join(' ')
        .trimEnd(),
    )
    .join('\n')
}

/** Write the results into `test/bench/results`; returns the file's path. */
export function saveResults(results: readonly MeasureResult[], startedAt: Date): string {
  const folder = join(ROOT, 'test', 'bench', 'results')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${startedAt.toISOString().replaceAll(':', '-')}.json`)
  let commit = ''
  try {
    commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim()
  } catch {
    // Without a Git checkout there is no commit to name; the results are saved all the same.
  }
  const machine = {
    cores: cpus().length,
    model: cpus()[0]?.model ?? '',
    load: loadavg(),
    node: process.version,
  }
  writeFileSync(path, `${JSON.stringify({ startedAt, commit, machine, results }, null, 2)}\n`)
  return path
}
