import type { ConfigEngine } from '../configs/engine.ts'
import {
  type DeclaredVariable,
  describeDeclarationFault,
  describeValueFault,
  VALUE_LENGTH_MAX,
} from '../configs/render/variables.ts'
import { configHash } from '../model/config-hash.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { isStorable } from '../model/storable.ts'
import { classifyKey } from '../selectors/keys.ts'
import { type LabelRefusal, refuseSelector, type SelectorRefusal } from '../selectors/read-selector.ts'
import type { StoredValueTable, StoredVariable, StoredVersion } from '../store/fleet-configs.ts'

/** A new version as it is to be stored. */
export type VersionDraft = Pick<StoredVersion, 'body' | 'variables' | 'valueTable' | 'comment'>

/** What a version can be refused for. */
export const VERSION_ERRORS = [
  'server-busy',
  'version-comment-invalid',
  'version-text-invalid',
  'version-variables-invalid',
] as const
/** Why a version cannot be stored. */
export type VersionRefusal = Refusal<(typeof VERSION_ERRORS)[number]>

/** Values that fill placeholders only to see whether the text can be rendered at all. */
const SAMPLES: Readonly<Record<StoredVariable['type'], string>> = {
  string: 'sample',
  integer: '1',
  number: '1',
  boolean: 'true',
  duration: '1s',
}
const COMMENT_LENGTH_MAX = 4_000
const TABLE_ROWS_MAX = 1_000

/** Check a version before it is stored, after which it never changes. Answers the hash of its text. */
export async function readVersion(
  draft: VersionDraft,
  configs: Pick<ConfigEngine, 'render'>,
): Promise<{ ok: true; hash: string } | VersionRefusal> {
  const { body, variables, valueTable, comment } = draft
  if (comment.length > COMMENT_LENGTH_MAX || !isStorable(comment))
    return refuse('version-comment-invalid', { max: COMMENT_LENGTH_MAX })
  const declared = variables.map(toDeclared)
  const fault =
    describeDeclarationFault(declared) ?? describeLabels(variables) ?? describeTable(declared, valueTable)
  if (fault !== null) return refuse('version-variables-invalid', { reason: fault })
  if (!isStorable(body))
    return refuse('version-text-invalid', { reason: 'the text holds characters that cannot be stored' })
  // A sample need not fit the pattern of a variable, so patterns are left out here.
  const sampled = declared.map((variable) => ({ ...variable, pattern: null }))
  const samples = Object.fromEntries(sampled.map(({ name, type }) => [name, SAMPLES[type]]))
  const tried = await configs.render({ text: body, variables: sampled, values: samples })
  if (!tried.ok) return refuse(tried.code)
  if (tried.rendering.ok) return { ok: true, hash: configHash(body) }
  const { message, line } = tried.rendering.problem
  return refuse('version-text-invalid', { reason: message, ...(line === undefined ? {} : { line }) })
}

/** A stored variable as rendering wants it. */
export const toDeclared = ({
  name,
  type,
  isRequired,
  pattern,
  fallback,
  description,
}: StoredVariable): DeclaredVariable => ({
  ...{ name, type, isRequired, pattern, fallback, description },
})

function describeLabels(variables: readonly StoredVariable[]): string | null {
  for (const { name, label, pattern } of variables) {
    if (label === null) continue
    const known = refuseLabelKey(label)
    if (known !== null) return `variable "${name}": ${label} is no label`
    if (classifyKey(label).class === 'reported' && pattern === null)
      return `variable "${name}" takes what agents report, so it needs a pattern`
  }
  return null
}

const refuseLabelKey = (key: string): SelectorRefusal | LabelRefusal | null =>
  refuseSelector(
    { match_expressions: [{ key, operator: 'Exists' }] },
    { classes: ['trusted', 'identity', 'reported'], withReported: true },
  )

function describeTable(
  variables: readonly DeclaredVariable[],
  table: StoredValueTable | null,
): string | null {
  if (table === null) return null
  if (classifyKey(table.label).class !== 'trusted' || refuseLabelKey(table.label) !== null)
    return 'the table of values needs a label that operators set, such as muster/site'
  const rows = Object.entries(table.rows)
  if (rows.length > TABLE_ROWS_MAX) return `the table of values has more than ${TABLE_ROWS_MAX} rows`
  for (const [key, row] of rows) {
    if (key === '' || key.length > VALUE_LENGTH_MAX || !isStorable(key))
      return 'the table of values has a bad row'
    for (const [name, value] of Object.entries(row)) {
      const variable = variables.find((one) => one.name === name)
      if (variable === undefined) return `the table of values names "${name}", which is not declared`
      const fault = describeValueFault(variable, value)
      if (fault !== null) return `the table of values: ${fault}`
    }
  }
  return null
}
