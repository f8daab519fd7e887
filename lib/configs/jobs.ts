import type { OwnAttributes } from '../model/own-attributes.ts'
import type { ConfigDiff } from '../wire/diff.ts'
import type { MigrationPreview } from '../wire/migration.ts'
import type { PolicyEvaluation } from '../wire/policy.ts'
import type { FleetPeer } from './check/target.ts'
import { type StaticValidation, type ValidationTarget, validateStatically } from './check/validate.ts'
import { changeKey } from './diff/changed-lines.ts'
import type { DiffInput, DiffTextInput } from './diff/context.ts'
import { type Destination, listDestinations } from './diff/destinations.ts'
import { diffConfigs } from './diff/diff.ts'
import { reportKey } from './diff/report-key.ts'
import { type DiffLines, diffLines, type UnifiedDiff, unifiedDiff } from './diff/unified-diff.ts'
import { baseInWordsOf, baseOfReport } from './effective/base-of-report.ts'
import { type EffectiveMatch, effectiveMatches } from './effective/match.ts'
import { type NormalForm, normalForm } from './effective/normal-form.ts'
import type { MigrationInput } from './migrate/preview.ts'
import { previewValidatedMigration } from './migrate/validated.ts'
import { type ConfigOutline, outlineConfig } from './outline.ts'
import { type ConfigPatch, type Patching, patchConfig } from './patch/patch.ts'
import { evaluatePolicy, type PolicyRequest } from './policy/policy.ts'
import { type Rendering, renderVersion, type VariableValues } from './render/render.ts'
import { type ReadTemplate, readTemplate } from './render/template.ts'
import type { DeclaredVariable } from './render/variables.ts'
import { parseConfig } from './yaml/parse.ts'
import type { ReadConfig } from './yaml/parse-memory.ts'

/** Work on the text of configs, which may be long: `engine.ts` does it in place when it is short, else in a thread. */
export type ConfigJob =
  | { kind: 'validate'; text: string; about: ValidationTarget }
  | { kind: 'policy'; request: PolicyRequest }
  | { kind: 'diff'; input: DiffInput }
  | { kind: 'diff-text'; input: DiffTextInput }
  | { kind: 'normal-form'; text: string; own: OwnAttributes }
  | { kind: 'effective-match'; asked: string; reported: string }
  | { kind: 'migrate'; input: MigrationInput; validatedAt: Date }
  | { kind: 'outline'; text: string }
  | { kind: 'destinations'; text: string }
  | { kind: 'render'; request: RenderRequest }
  | { kind: 'patch'; text: string; patch: ConfigPatch }
  | { kind: 'lines'; request: LinesRequest }
  | { kind: 'diff-lines'; request: DiffLinesRequest }
  | { kind: 'change-key'; before: string; after: string; values: VariableValues }
  | { kind: 'report-keys'; text: string; own: readonly VariableValues[] }
  | { kind: 'base-of-report'; draft: string; reported: string }
  | { kind: 'base-in-words'; draft: string; reported: string }

/** A version's text and the values of one workload. */
export interface RenderRequest {
  text: string
  variables: readonly DeclaredVariable[]
  values: VariableValues
  /** Whether the answer says what the version means, too. */
  withMeaning?: true
}

/** Two texts to be compared line by line. */
export interface LinesRequest {
  before: string
  after: string
  labels: { before: string; after: string }
  /** The diff is cut there. */
  charactersMax: number
}

/** Two texts of which some lines of the diff are asked for, from a line on; as many as fit into `charactersMax`. */
export interface DiffLinesRequest extends LinesRequest {
  from: number
}

/** What each kind of job answers. */
export interface ConfigJobResults {
  validate: StaticValidation
  policy: PolicyEvaluation
  diff: ConfigDiff
  /** As JSON: a diff can be larger than both configs, and a text crosses threads at no cost. */
  'diff-text': string
  'normal-form': NormalForm | null
  'effective-match': EffectiveMatch
  migrate: MigrationPreview
  outline: ConfigOutline
  destinations: Destination[]
  render: Rendering
  patch: Patching
  lines: UnifiedDiff
  'diff-lines': DiffLines
  'change-key': string
  'report-keys': string[]
  'base-of-report': string
  'base-in-words': string
}

/** What any job answers. */
export type ConfigJobResult = ConfigJobResults[keyof ConfigJobResults]

/** How long the texts are that a job reads, in UTF-16 units. */
function lengthOf(job: ConfigJob): number {
  switch (job.kind) {
    case 'policy':
      return job.request.candidate.length + (job.request.current?.length ?? 0)
    case 'diff':
      return job.input.baseText.length + job.input.targetText.length
    case 'diff-text':
      return job.input.baseText.length + job.input.targetText.length + job.input.peersText.length
    case 'effective-match':
      return job.asked.length + job.reported.length
    case 'migrate':
      return job.input.source.length
    case 'render':
      return job.request.text.length
    case 'lines':
    case 'diff-lines':
      return job.request.before.length + job.request.after.length
    case 'change-key':
      return job.before.length + job.after.length
    case 'base-of-report':
    case 'base-in-words':
      return job.draft.length + job.reported.length
    default:
      return job.text.length
  }
}

const HEAP_OF_ANY_JOB = 32 * 1_048_576
/** Measured with what costs most: brackets full of empty brackets, and lists of single letters. */
const HEAP_PER_UNIT = 600

/** The most heap that a job takes while it runs, in bytes. */
export const heapOfConfigJob = (job: ConfigJob): number => HEAP_OF_ANY_JOB + HEAP_PER_UNIT * lengthOf(job)

/** Do one job, here and now. The readers may remember what they read. */
export function runConfigJob(
  job: ConfigJob,
  readConfig: ReadConfig = parseConfig,
  readVersion: ReadTemplate = readTemplate,
): ConfigJobResult {
  switch (job.kind) {
    case 'validate':
      return validateStatically(job.text, job.about, readConfig)
    case 'policy':
      return evaluatePolicy(job.request, readConfig)
    case 'diff':
      return diffConfigs(job.input, readConfig)
    case 'diff-text':
      return JSON.stringify(diffConfigs(withPeers(job.input), readConfig))
    case 'normal-form':
      return normalForm(job.text, job.own)
    case 'effective-match':
      return effectiveMatches(read(job.asked), read(job.reported))
    case 'migrate':
      return previewValidatedMigration(job.input, job.validatedAt)
    case 'outline':
      return outlineConfig(job.text)
    case 'destinations':
      return destinationsOf(job.text)
    case 'render':
      return renderFor(job.request, readConfig, readVersion)
    case 'patch':
      return patchConfig(job.text, job.patch, readConfig)
    case 'lines':
      return compareLines(job.request)
    case 'diff-lines':
      return listLines(job.request)
    case 'change-key':
      return changeKey(job.before, job.after, job.values)
    case 'report-keys':
      return job.own.map((own) => reportKey(job.text, own))
    case 'base-of-report':
      return baseOfReport(job.reported, job.draft, readConfig)
    case 'base-in-words':
      return baseInWordsOf(job.draft, job.reported, readConfig)
  }
}

const renderFor = (
  { text, variables, values, withMeaning }: RenderRequest,
  readConfig: ReadConfig,
  readVersion: ReadTemplate,
): Rendering => renderVersion(text, variables, values, { withMeaning, readTemplate: readVersion, readConfig })

/** Where a config sends data to; of a text that cannot be read, nowhere. */
function destinationsOf(text: string): Destination[] {
  const config = read(text)
  return config === null ? [] : listDestinations(config.root)
}

const compareLines = ({ before, after, labels, charactersMax }: LinesRequest): UnifiedDiff =>
  unifiedDiff(before, after, labels, charactersMax)

const listLines = ({ before, after, labels, ...page }: DiffLinesRequest): DiffLines =>
  diffLines(before, after, labels, page)

const withPeers = ({ peersText, ...input }: DiffTextInput): DiffInput => ({
  ...input,
  peers: JSON.parse(peersText) as FleetPeer[],
})

function read(text: string) {
  const parsed = parseConfig(text)
  return parsed.ok ? parsed.document : null
}
