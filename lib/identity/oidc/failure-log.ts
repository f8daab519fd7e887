import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'

/** Any stranger can begin sign-ins, so the log gets at most one line of each kind in this time. */
const INTERVAL_MS = 10_000

/**
 * Logs why sign-ins fail: for each code, or each `kind` where one code has several, the reason of the newest, and how many
 * there were of it since its last line. A stranger who is refused again and again does not hide why others are. The kinds
 * are few: each is kept.
 */
export function failureLog(
  { log, clock }: { log: Log; clock: Clock },
  message: string,
): (code: string, err: unknown, kind?: string) => void {
  const said = new Map<string, { lastMs: number; unsaid: number }>()
  return (code, err, kind = code) => {
    const nowMs = clock.monotonicMs()
    const { lastMs, unsaid } = said.get(kind) ?? { lastMs: Number.NEGATIVE_INFINITY, unsaid: 0 }
    const isDue = nowMs - lastMs >= INTERVAL_MS
    if (isDue) log.warn({ err: describe(err), code, count: unsaid + 1 }, message)
    said.set(kind, isDue ? { lastMs: nowMs, unsaid: 0 } : { lastMs, unsaid: unsaid + 1 })
  }
}

const TEXT_MAX = 200
const ERROR_MAX = 100
const STACK_MAX = 4_000
/** How far causes are followed. */
const CAUSES_MAX = 3
/** Codes of the libraries that speak with the provider; names of classes are others in a bundle. */
const LIBRARY_CODE = /^(OAUTH_|ERR_JO|ERR_JW)/

type Described = Record<string, unknown>

const cut = (text: unknown, max: number): string | undefined =>
  typeof text === 'string' ? text.slice(0, max) : undefined

/**
 * What is logged of an error: never all of it. The libraries keep with theirs what the provider answered, megabytes of
 * it with secrets that it echoes, and what a stranger wrote into the address of a callback. What is no error is a reason
 * in words of our own.
 */
function describe(failure: unknown, depth = 0): unknown {
  if (!(failure instanceof Error)) return failure
  const { code, status, error, error_description } = failure as Error & Described
  const isOfLibrary = LIBRARY_CODE.test(String(code))
  // Without a code, the message of a cause may quote what could not be read.
  const isToldAll = depth === 0 || code !== undefined
  const described: Described = {
    type: failure.name,
    message: isToldAll ? cut(failure.message, TEXT_MAX) : undefined,
    code: cut(code, ERROR_MAX),
    status: typeof status === 'number' ? status : undefined,
    error: cut(error, ERROR_MAX),
    error_description: cut(error_description, TEXT_MAX),
    stack: depth === 0 && !isOfLibrary ? cut(failure.stack, STACK_MAX) : undefined,
    ...(depth < CAUSES_MAX ? describeCause(failure.cause, depth) : {}),
  }
  return Object.fromEntries(Object.entries(described).filter(([, value]) => value !== undefined))
}

/** An answer of the provider is told by its status alone. */
function describeCause(cause: unknown, depth: number): Described {
  if (cause instanceof Response) return { status: cause.status }
  return cause instanceof Error ? { cause: describe(cause, depth + 1) } : {}
}
