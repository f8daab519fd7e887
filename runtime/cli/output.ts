import { isSecretKey, MASK, redactSecrets } from '../../lib/configs/redact/redact.ts'
import type { RevisionRecord } from '../../lib/wire/revisions.ts'
import type { WorkloadTrouble } from '../../lib/wire/workloads.ts'
import type { ClientIo, Option } from './command.ts'

/** The option of every command that prints records. */
export const OUTPUT_OPTION: Option = {
  name: '--output',
  short: '-o',
  value: 'FORMAT',
  choices: ['table', 'json'],
  says: 'for people or for programs',
}

/**
 * What a service said, fit for a terminal and a pipeline's log: without secrets, in one line, moving no cursor, and
 * no command to whatever reads the log. An agent may call itself anything, and readers of logs skip blanks of any kind.
 */
export const toLine = (text: string): string =>
  redactSecrets(text)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/^(\p{Zs}*):(?=:)/u, '$1: ')
    .replaceAll(/##(?=\w*\[)/g, '## ')

/** The same of several lines, none of which begins at the margin but the first. */
export const toLines = (text: string): string =>
  text
    .split(/\n(?= {2})/)
    .map(toLine)
    .join('\n')

/** Print one line. */
export const printLine = (io: ClientIo, text: string): void => io.out(`${toLine(text)}\n`)

/**
 * Characters that JSON does not escape inside a string and that a terminal may act on, and the second sign of what the
 * reader of a log may take for a command to it.
 */
const OBEYED = /(?<=#)#(?=\w*\[)|[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu
const escapeUnits = (text: string): string =>
  text.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** A value as JSON that is no command to a terminal or to whatever reads the log of a pipeline. */
export const toSafeJson = (value: unknown): string =>
  `${JSON.stringify(value, null, 2).replaceAll(OBEYED, escapeUnits)}\n`

/** Print a value for programs, without secrets, since what is printed ends up in the logs of pipelines. */
export const printJson = (io: ClientIo, value: unknown): void =>
  io.out(toSafeJson(withoutSecrets(value, false)))

/** The same value with its texts redacted, and with nothing readable below a name that says that it is secret. */
function withoutSecrets(value: unknown, isSecret: boolean): unknown {
  if (typeof value === 'string') return isSecret ? MASK : redactSecrets(value)
  if (typeof value === 'number') return isSecret ? MASK : value
  if (Array.isArray(value)) return value.map((part) => withoutSecrets(part, isSecret))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      redactSecrets(key),
      withoutSecrets(part, isSecret || isSecretKey(key)),
    ]),
  )
}

const GOOD = new Set(['connected', 'applied', 'approved', 'pushed', 'succeeded', 'unchanged', 'done'])
const BAD = new Set(['failed', 'critical', 'rejected', 'disconnected', 'held', 'refused', 'halted'])

/** Whether words have a colour: on a terminal, unless NO_COLOR says that nothing has. */
export const hasColour = ({ isTerminal, env }: Pick<ClientIo, 'isTerminal' | 'env'>): boolean =>
  isTerminal && !env['NO_COLOR']

/** A table whose columns stand below each other; words that say how something is have a colour on a terminal. */
export function printTable(
  io: ClientIo,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  // The head may hold a name too.
  const titles = head.map(toLine)
  const clean = rows.map((row) => row.map(toLine))
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...clean.map((row) => row[column]?.length ?? 0)),
  )
  const isColoured = hasColour(io)
  const line = (cells: readonly string[]) => {
    const padded = cells.map((cell, column) => {
      const filler = ' '.repeat(column === cells.length - 1 ? 0 : widths[column]! - cell.length + 2)
      return `${isColoured ? colour(cell) : cell}${filler}`
    })
    io.out(`${padded.join('').trimEnd()}\n`)
  }
  line(titles)
  for (const row of clean) line(row)
}

function colour(word: string): string {
  const code = GOOD.has(word)
    ? 32
    : BAD.has(word)
      ? 31
      : word === 'pending' || word === 'degraded'
        ? 33
        : null
  return code === null ? word : `\u001b[${code}m${word}\u001b[0m`
}

/** The first 12 characters of a hash; `-` where there is none. */
export const shortHash = (hash: string | undefined): string => hash?.slice(0, 12) ?? '-'

/** How many instances are unhealthy beside what a trouble is about, as `, 2 of 4 unhealthy`; empty where none is. */
export const sayUnhealthy = ({ unhealthy_count: count, instance_count: total }: WorkloadTrouble): string =>
  count === undefined ? '' : `, ${count} of ${total ?? count} unhealthy`

/** How a push stands, in one word: one in stages that waits for somebody has halted, and is not under way. */
export const sayStanding = ({ status, rollout_status: stages }: RevisionRecord): string =>
  status === 'pending' && stages === 'halted' ? 'halted' : status
