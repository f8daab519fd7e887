import type { ConfigDiff } from '../wire/diff.ts'
import type { PolicyEvaluation } from '../wire/policy.ts'
import type { ValidationResult } from '../wire/validation.ts'
import type { WorkerPool } from '../workers/pool.ts'
import type { ComponentRef } from './components.ts'
import type { DiffInput } from './diff-context.ts'
import type { EffectiveMatch } from './effective-match.ts'
import { type ConfigJob, type ConfigJobResult, type ConfigJobResults, runConfigJob } from './jobs.ts'
import type { NormalForm } from './normal-form.ts'
import type { PolicyRequest } from './policy.ts'
import { finishValidation, type RuntimeCheck, type ValidationTarget } from './validate.ts'

/** `server-busy`: the worker threads are all taken, or one gave up on a text. */
export type Answered<Result> = ({ ok: true } & Result) | { ok: false; code: 'server-busy' }

/** Everything that reads configs, without holding the event loop. */
export interface ConfigEngine {
  /** All five checks, and every component that the config uses, once. */
  validate(
    text: string,
    about: ValidationTarget,
  ): Promise<Answered<{ result: ValidationResult; required: ComponentRef[] }>>
  policy(request: PolicyRequest): Promise<Answered<{ evaluation: PolicyEvaluation }>>
  diff(input: DiffInput): Promise<Answered<{ diff: ConfigDiff }>>
  /** Null when the text is no config, or could not be read in time. */
  normalForm(text: string): Promise<NormalForm | null>
  effectiveMatch(asked: string, reported: string): Promise<EffectiveMatch>
}

export interface ConfigEngineParts {
  /** Over `config-worker.ts`. */
  workers: WorkerPool<ConfigJob, ConfigJobResult>
  runtimeCheck: RuntimeCheck
}

/** Texts up to this many characters are read in place: a few milliseconds, less than a thread's turn costs. */
const IN_PLACE_LENGTH_MAX = 16_384

/** An engine over worker threads. */
export function openConfigEngine({ workers, runtimeCheck }: ConfigEngineParts): ConfigEngine {
  async function run<Kind extends keyof ConfigJobResults>(
    length: number,
    job: Extract<ConfigJob, { kind: Kind }>,
  ): Promise<Answered<{ value: ConfigJobResults[Kind] }>> {
    if (length <= IN_PLACE_LENGTH_MAX) return { ok: true, value: runConfigJob(job) as ConfigJobResults[Kind] }
    const outcome = await workers.run(job)
    return outcome.ok
      ? { ok: true, value: outcome.value as ConfigJobResults[Kind] }
      : { ok: false, code: 'server-busy' }
  }
  return {
    async validate(text, about) {
      const found = await run<'validate'>(text.length, { kind: 'validate', text, about })
      if (!found.ok) return found
      const result = await finishValidation(text, found.value, about.validatedAt, runtimeCheck)
      return { ok: true, result, required: found.value.required }
    },
    async policy(request) {
      const length = request.candidate.length + (request.current?.length ?? 0)
      const found = await run<'policy'>(length, { kind: 'policy', request })
      return found.ok ? { ok: true, evaluation: found.value } : found
    },
    async diff(input) {
      // A diff reads both texts and walks them several times.
      const length = 2 * (input.baseText.length + input.targetText.length)
      const found = await run<'diff'>(length, { kind: 'diff', input })
      return found.ok ? { ok: true, diff: found.value } : found
    },
    async normalForm(text) {
      const found = await run<'normal-form'>(text.length, { kind: 'normal-form', text })
      return found.ok ? found.value : null
    },
    async effectiveMatch(asked, reported) {
      const length = asked.length + reported.length
      const found = await run<'effective-match'>(length, { kind: 'effective-match', asked, reported })
      return found.ok ? found.value : { verdict: 'unknown', paths: [] }
    },
  }
}
