import type { Clock } from '../clock.ts'
import type { OwnAttributes } from '../model/own-attributes.ts'
import { UNREAD_MS, unreadForMs } from '../model/unread.ts'
import type { ConfigDiff } from '../wire/diff.ts'
import type { MigrationPreview } from '../wire/migration.ts'
import type { PolicyEvaluation } from '../wire/policy.ts'
import type { ValidationResult } from '../wire/validation.ts'
import type { WorkerPool } from '../workers/pool.ts'
import type { ComponentRef } from './check/components.ts'
import {
  finishValidation,
  type RuntimeCheck,
  type StaticValidation,
  type ValidationTarget,
} from './check/validate.ts'
import type { DiffInput, DiffTextInput } from './diff/context.ts'
import type { Destination } from './diff/destinations.ts'
import type { DiffLines, UnifiedDiff } from './diff/unified-diff.ts'
import type { EffectiveMatch } from './effective/match.ts'
import type { NormalForm } from './effective/normal-form.ts'
import {
  type ConfigJob,
  type ConfigJobResult,
  type ConfigJobResults,
  type DiffLinesRequest,
  type LinesRequest,
  type RenderRequest,
  runConfigJob,
} from './jobs.ts'
import type { MigrationInput } from './migrate/preview.ts'
import type { ConfigOutline } from './outline.ts'
import type { ConfigPatch, Patching } from './patch/patch.ts'
import type { PolicyRequest } from './policy/policy.ts'
import type { Rendering } from './render/render.ts'

/**
 * `server-busy`: the worker threads are all taken, or one gave up on a text that somebody waits for (`gaveUp`), as it
 * may do again.
 */
export type Answered<Result> = ({ ok: true } & Result) | { ok: false; code: 'server-busy'; gaveUp?: true }

/** Everything that reads configs, without holding the event loop. */
export interface ConfigEngine {
  /** All five checks, and every component that the config uses, once. */
  validate(
    text: string,
    about: ValidationTarget,
  ): Promise<Answered<{ result: ValidationResult; required: ComponentRef[] }>>
  /** The four checks that need no collector binary. */
  check(text: string, about: ValidationTarget): Promise<Answered<{ found: StaticValidation }>>
  policy(request: PolicyRequest): Promise<Answered<{ evaluation: PolicyEvaluation }>>
  diff(input: DiffInput): Promise<Answered<{ diff: ConfigDiff }>>
  /** The same as JSON. */
  diffText(input: DiffTextInput): Promise<Answered<{ text: string }>>
  /** The form is null when the text is no config, or could not be read in time. */
  normalForm(text: string, own?: OwnAttributes): Promise<Answered<{ form: NormalForm | null }>>
  /** The verdict is unknown when one of the texts could not be read in time. */
  effectiveMatch(asked: string, reported: string): Promise<Answered<{ match: EffectiveMatch }>>
  /** A vendor's config as a draft, with the draft's own validation. */
  migrate(input: MigrationInput, validatedAt: Date): Promise<Answered<{ preview: MigrationPreview }>>
  /** A version's text with the values of one workload in it. */
  render(request: RenderRequest): Promise<Answered<{ rendering: Rendering }>>
  /** A config with a change made to it. */
  patch(text: string, patch: ConfigPatch): Promise<Answered<{ patching: Patching }>>
  /** Two texts, compared line by line. The diff is null when that takes too long. */
  lines(request: LinesRequest): Promise<Answered<{ diff: UnifiedDiff | null }>>
  /** Some lines of the diff of two texts, in their order. They are null when that takes too long. */
  diffLines(request: DiffLinesRequest): Promise<Answered<{ diff: DiffLines | null }>>
  /** The key of a change (`changeKey`); null when the texts take too long to compare. */
  changeKey(
    before: string,
    after: string,
    values: Readonly<Record<string, string>>,
  ): Promise<Answered<{ key: string | null }>>
  /** The keys of what workloads report (`reportKey`), one for each of `own`; null when that takes too long. */
  reportKeys(
    report: string,
    own: readonly Readonly<Record<string, string>>[],
  ): Promise<Answered<{ keys: string[] | null }>>
  /** What a draft replaces of what instances report, written as the draft is (`baseInWordsOf`); null as above. */
  baseInWordsOf(draft: string, reported: string): Promise<Answered<{ base: string | null }>>
  /** The same in the form of what is reported. */
  baseOfReport(draft: string, reported: string): Promise<Answered<{ base: string }>>
  /**
   * The outlines of stored configs by hash; each is made once and kept. Hashes that `read` does not find, and texts
   * that could not be read in time, are left out.
   */
  outlines(hashes: readonly string[], read: ReadTexts): Promise<ReadonlyMap<string, ConfigOutline>>
  /** Where configs send data to, as `outlines` answers. */
  destinations(
    hashes: readonly string[],
    read: ReadTexts,
  ): Promise<ReadonlyMap<string, readonly Destination[]>>
}

/** Reads the texts of configs by their hashes. */
type ReadTexts = (hashes: readonly string[]) => Promise<readonly { hash: string; body: string }[]>

/** What an engine works with. */
export interface ConfigEngineParts {
  /** Over `config-worker.ts`. */
  workers: WorkerPool<ConfigJob, ConfigJobResult>
  runtimeCheck: RuntimeCheck
  clock: Pick<Clock, 'monotonicMs'>
}

/** Texts up to this many characters are read in place, which takes a few milliseconds where none holds an alias. */
const IN_PLACE_LENGTH_MAX = 1_024
/** Configs of which is kept what was found in them, and how many characters of that; a fleet rarely runs so many. */
const FOUND_MAX = 5_000
const FOUND_LENGTH_MAX = 33_554_432
/** Texts that are fetched in one statement. */
const TEXTS_CHUNK = 50

/**
 * The room of each kind of job, named after whoever waits for its answer. What agents report holds one thread at most,
 * and so do jobs that need no permission beyond being signed in: one is left for operators, who change something.
 */
const ROOM_OF: Readonly<Record<ConfigJob['kind'], keyof typeof CONFIG_ROOMS>> = {
  validate: 'operators',
  policy: 'operators',
  diff: 'operators',
  migrate: 'operators',
  patch: 'operators',
  render: 'operators',
  'change-key': 'operators',
  lines: 'operators',
  'diff-lines': 'operators',
  'report-keys': 'operators',
  'base-of-report': 'operators',
  'base-in-words': 'operators',
  'diff-text': 'viewers',
  outline: 'viewers',
  destinations: 'viewers',
  'effective-match': 'viewers',
  'normal-form': 'agents',
}

/** Threads of the config workers: one more than agents and viewers may hold together. */
export const CONFIG_THREADS = 3
/** The rooms that `ConfigEngineParts.workers` has to have. */
export const CONFIG_ROOMS = {
  operators: { maxThreads: 2, maxQueued: 64 },
  viewers: { maxThreads: 1, maxQueued: 64 },
  agents: { maxThreads: 1, maxQueued: 64 },
} as const

/** How long the values are that have to match a pattern, which takes as long as reading a text, or longer. */
const matchedLength = ({ variables, values }: RenderRequest) =>
  variables.reduce(
    (sum, { name, pattern, fallback }) =>
      pattern === null ? sum : sum + (values[name] ?? fallback ?? '').length,
    0,
  )

/**
 * How long a config is, for what reads it. One with an alias may stand for a much longer one, so it counts as long
 * whatever it holds.
 */
const sizeOf = (text: string) => (text.includes('&') && text.includes('*') ? Infinity : text.length)

const lengthOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0)

/** A diff reads both texts and walks them several times. */
const diffLength = ({ baseText, targetText }: Pick<DiffInput, 'baseText' | 'targetText'>) =>
  2 * (sizeOf(baseText) + sizeOf(targetText))

type JobOf<Kind extends keyof ConfigJobResults> = Extract<ConfigJob, { kind: Kind }>

/** Reads configs: a short text at once, a long one in a thread of the workers. */
class ConfigReader {
  readonly #workers: ConfigEngineParts['workers']

  constructor(workers: ConfigEngineParts['workers']) {
    this.#workers = workers
  }

  /** Null when a thread gave up on the text. */
  async read<Kind extends keyof ConfigJobResults>(
    length: number,
    job: JobOf<Kind>,
  ): Promise<Answered<{ value: ConfigJobResults[Kind] | null }>> {
    const found = await this.run(length, job)
    return !found.ok && found.gaveUp === true ? { ok: true, value: null } : found
  }

  async run<Kind extends keyof ConfigJobResults>(
    length: number,
    job: JobOf<Kind>,
  ): Promise<Answered<{ value: ConfigJobResults[Kind] }>> {
    if (length <= IN_PLACE_LENGTH_MAX) return { ok: true, value: runConfigJob(job) as ConfigJobResults[Kind] }
    const outcome = await this.#workers.run(job, [], ROOM_OF[job.kind])
    if (outcome.ok) return { ok: true, value: outcome.value as ConfigJobResults[Kind] }
    const busy = { ok: false, code: 'server-busy' } as const
    return outcome.code === 'worker-busy' ? busy : { ...busy, gaveUp: true }
  }
}

/** What was found in a config; null for a text that a thread gave up: the others that look do not wait for it each time. */
interface Kept<Found> {
  found: Found | null
  length: number
  /** How often in a row a thread gave it up, until when it is left alone (monotonic), and whether it is asked for again. */
  times: number
  untilMs: number
  isAsked: boolean
}

/** How many of those all that look ask for in a minute: each may hold a thread for as long as it may take. */
const UNREAD_AT_ONCE = 3

/** Whether a text that was given up is to be asked for again by whoever looks now. */
function openAsking(clock: Pick<Clock, 'monotonicMs'>): (one: Kept<unknown>) => boolean {
  let count = 0
  let sinceMs = -Infinity
  return (one) => {
    const nowMs = clock.monotonicMs()
    if (nowMs < one.untilMs) return false
    if (nowMs - sinceMs >= UNREAD_MS) [count, sinceMs] = [0, nowMs]
    if (count >= UNREAD_AT_ONCE) return false
    count++
    Object.assign(one, { untilMs: nowMs + UNREAD_MS, isAsked: true })
    return true
  }
}

/** What is found in configs by one kind of job, by hash; the last ones are kept. */
function openFound<Kind extends 'outline' | 'destinations'>(
  reader: ConfigReader,
  clock: Pick<Clock, 'monotonicMs'>,
  kind: Kind,
): (hashes: readonly string[], read: ReadTexts) => Promise<Map<string, ConfigJobResults[Kind]>> {
  type Found = ConfigJobResults[Kind]
  const kept = new Map<string, Kept<Found>>()
  const isAskedAgain = openAsking(clock)
  let length = 0
  const keep = (hash: string, found: Found | null) => {
    const before = kept.get(hash)
    // Somebody else has found it meanwhile, or noted that it was given up.
    if (found === null && before !== undefined && !before.isAsked) return
    const times = found === null ? (before?.times ?? 0) + 1 : 0
    const untilMs = clock.monotonicMs() + unreadForMs(times)
    const one = { found, length: JSON.stringify(found).length, times, untilMs, isAsked: false }
    length += one.length - (before?.length ?? 0)
    kept.set(hash, one)
    for (const [oldest, { length: less }] of kept) {
      if (kept.size <= FOUND_MAX && length <= FOUND_LENGTH_MAX) break
      kept.delete(oldest)
      length -= less
    }
  }
  return async (hashes, read) => {
    const answer = new Map<string, Found>()
    const missing: string[] = []
    for (const hash of new Set(hashes)) {
      const known = kept.get(hash)
      if (known !== undefined && known.found !== null) answer.set(hash, known.found)
      else if (known === undefined || isAskedAgain(known)) missing.push(hash)
    }
    for (let i = 0; i < missing.length; i += TEXTS_CHUNK) {
      for (const { hash, body: text } of await read(missing.slice(i, i + TEXTS_CHUNK))) {
        const job = { kind, text } as unknown as JobOf<Kind>
        const found = await reader.read<Kind>(sizeOf(text), job)
        if (!found.ok) continue
        if (found.value !== null) answer.set(hash, found.value)
        keep(hash, found.value)
      }
    }
    return answer
  }
}

/** Comparing texts line by line. */
function openComparing(
  reader: ConfigReader,
): Pick<ConfigEngine, 'lines' | 'diffLines' | 'changeKey' | 'reportKeys' | 'baseInWordsOf' | 'baseOfReport'> {
  return {
    async lines(request) {
      const length = request.before.length + request.after.length
      const found = await reader.read<'lines'>(length, { kind: 'lines', request })
      return found.ok ? { ok: true, diff: found.value } : found
    },
    async diffLines(request) {
      const length = request.before.length + request.after.length
      const found = await reader.read<'diff-lines'>(length, { kind: 'diff-lines', request })
      return found.ok ? { ok: true, diff: found.value } : found
    },
    async changeKey(before, after, values) {
      // The values are looked for in the difference.
      const length = before.length + after.length + lengthOf(Object.values(values))
      const found = await reader.read<'change-key'>(length, { kind: 'change-key', before, after, values })
      return found.ok ? { ok: true, key: found.value } : found
    },
    async reportKeys(text, own) {
      // The text is gone through once for each, whose values are looked for in it.
      const length = text.length * Math.max(1, own.length) + lengthOf(own.flatMap(Object.values<string>))
      const found = await reader.read<'report-keys'>(length, { kind: 'report-keys', text, own })
      return found.ok ? { ok: true, keys: found.value } : found
    },
    async baseOfReport(draft, reported) {
      const job = { kind: 'base-of-report', draft, reported } as const
      const found = await reader.run<'base-of-report'>(2 * (sizeOf(draft) + sizeOf(reported)), job)
      return found.ok ? { ok: true, base: found.value } : found
    },
    async baseInWordsOf(draft, reported) {
      // The draft is read once more for each difference.
      const job = { kind: 'base-in-words', draft, reported } as const
      const found = await reader.read<'base-in-words'>(4 * (sizeOf(draft) + sizeOf(reported)), job)
      return found.ok ? { ok: true, base: found.value } : found
    },
  }
}

/** An engine over worker threads. */
export function openConfigEngine({ workers, runtimeCheck, clock }: ConfigEngineParts): ConfigEngine {
  const reader = new ConfigReader(workers)
  return {
    async validate(text, about) {
      const found = await reader.run<'validate'>(sizeOf(text), { kind: 'validate', text, about })
      if (!found.ok) return found
      const result = await finishValidation(text, found.value, about.validatedAt, runtimeCheck)
      return { ok: true, result, required: found.value.required }
    },
    async check(text, about) {
      const found = await reader.run<'validate'>(sizeOf(text), { kind: 'validate', text, about })
      return found.ok ? { ok: true, found: found.value } : found
    },
    async policy(request) {
      const length = sizeOf(request.candidate) + sizeOf(request.current ?? '')
      const found = await reader.run<'policy'>(length, { kind: 'policy', request })
      return found.ok ? { ok: true, evaluation: found.value } : found
    },
    async diff(input) {
      const found = await reader.run<'diff'>(diffLength(input), { kind: 'diff', input })
      return found.ok ? { ok: true, diff: found.value } : found
    },
    async diffText(input) {
      // The rest of the fleet is looked through as well.
      const length = diffLength(input) + input.peersText.length
      const found = await reader.run<'diff-text'>(length, { kind: 'diff-text', input })
      return found.ok ? { ok: true, text: found.value } : found
    },
    async normalForm(text, own = {}) {
      const found = await reader.run<'normal-form'>(sizeOf(text), { kind: 'normal-form', text, own })
      return found.ok ? { ok: true, form: found.value } : found
    },
    async effectiveMatch(asked, reported) {
      const length = sizeOf(asked) + sizeOf(reported)
      const found = await reader.read<'effective-match'>(length, { kind: 'effective-match', asked, reported })
      return found.ok ? { ok: true, match: found.value ?? { verdict: 'unknown', paths: [] } } : found
    },
    async migrate(input, validatedAt) {
      // A source is read several times, and its draft once more.
      const length = 4 * sizeOf(input.source)
      const found = await reader.run<'migrate'>(length, { kind: 'migrate', input, validatedAt })
      return found.ok ? { ok: true, preview: found.value } : found
    },
    async render(request) {
      const length = sizeOf(request.text) + matchedLength(request)
      const found = await reader.run<'render'>(length, { kind: 'render', request })
      return found.ok ? { ok: true, rendering: found.value } : found
    },
    async patch(text, patch) {
      // What a patch puts in is read as often as the text is, and each of its parts is an edit of its own.
      const length = 3 * sizeOf(text) + JSON.stringify(patch).length
      const found = await reader.run<'patch'>(length, { kind: 'patch', text, patch })
      return found.ok ? { ok: true, patching: found.value } : found
    },
    ...openComparing(reader),
    outlines: openFound(reader, clock, 'outline'),
    destinations: openFound(reader, clock, 'destinations'),
  }
}
