import type { Clock } from '../clock.ts'
import type { ConfigEngine } from '../configs/engine.ts'
import type { Rendering } from '../configs/render/render.ts'
import {
  type DeclaredVariable,
  findDeclarationFault,
  openVariable,
  VALUE_LENGTH_MAX,
} from '../configs/render/variables.ts'
import { configHash } from '../model/config-hash.ts'
import { type Fault, faultOf, faultWithin } from '../model/faults.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { sortedJson } from '../model/sorted-json.ts'
import { isStorable } from '../model/storable.ts'
import { compareText } from '../model/text-order.ts'
import { classifyKey } from '../selectors/keys.ts'
import { type LabelRefusal, refuseSelector, type SelectorRefusal } from '../selectors/read-selector.ts'
import type { StoredValueTable, StoredVariable, StoredVersion } from '../store/fleet-configs.ts'
import { eachInTurns } from '../turns.ts'

/** A new version as it is to be stored. */
export type VersionDraft = Pick<StoredVersion, 'body' | 'variables' | 'valueTable' | 'comment'>

/** What a version can be refused for. */
export const VERSION_ERRORS = [
  'server-busy',
  'version-comment-invalid',
  'version-text-invalid',
  'version-variables-invalid',
  'versions-too-large',
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

/** What reading a version works with. */
export interface VersionParts {
  configs: Pick<ConfigEngine, 'render'>
  clock: Pick<Clock, 'monotonicMs'>
}

/**
 * Check a version before it is stored, after which it never changes. Answers the hash of its text, and one of what it
 * means: two versions with the same meaning push the same to every workload but for comments and layout.
 */
export async function readVersion(
  draft: VersionDraft,
  { configs, clock }: VersionParts,
): Promise<{ ok: true; hash: string; meaning: string } | VersionRefusal> {
  const { body, variables, valueTable, comment } = draft
  if (comment.length > COMMENT_LENGTH_MAX || !isStorable(comment))
    return refuse('version-comment-invalid', { max: COMMENT_LENGTH_MAX })
  const declared = variables.map(toDeclared)
  const fault =
    findDeclarationFault(declared) ??
    findLabelFault(variables) ??
    findTableFault(declared, valueTable) ??
    (await findValueFault(declared, valueTable, clock))
  if (fault !== null) return refuse('version-variables-invalid', fault)
  if (!isStorable(body)) return refuse('version-text-invalid', faultOf('text_unstorable'))
  // A sample need not fit the pattern of a variable, so patterns are left out here.
  const sampled = declared.map((variable) => ({ ...variable, pattern: null }))
  const samples = Object.fromEntries(sampled.map(({ name, type }) => [name, SAMPLES[type]]))
  const tried = await configs.render({ text: body, variables: sampled, values: samples, withMeaning: true })
  if (!tried.ok) return refuse(tried.code)
  if (tried.rendering.ok)
    return { ok: true, hash: configHash(body), meaning: meaningOf(draft, tried.rendering) }
  const { fault: wrong, line } = tried.rendering.problem
  return refuse('version-text-invalid', { ...wrong, ...(line === undefined ? {} : { line }) })
}

/** A hash of what decides what a version pushes: what its text says, and the variables in it with their values. */
function meaningOf(
  { variables, valueTable }: Pick<VersionDraft, 'variables' | 'valueTable'>,
  { meaning, variables: used }: Extract<Rendering, { ok: true }>,
): string {
  const isUsed = ({ name }: { name: string }) => used.includes(name)
  const declared = variables
    .filter(isUsed)
    .map(({ description: _, ...variable }) => variable)
    .sort((a, b) => compareText(a.name, b.name))
  const table = used.length === 0 ? null : valueTable
  return configHash(sortedJson([meaning, declared, table]))
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
  name,
  type,
  isRequired,
  pattern,
  fallback,
  description,
})

function findLabelFault(variables: readonly StoredVariable[]): Fault | null {
  for (const { name, label, pattern } of variables) {
    if (label === null) continue
    const known = refuseLabelKey(label)
    if (known !== null) return faultOf('variable_label_unknown', { name, label })
    if (classifyKey(label).class === 'reported' && pattern === null)
      return faultOf('variable_pattern_missing', { name })
  }
  return null
}

const refuseLabelKey = (key: string): SelectorRefusal | LabelRefusal | null =>
  refuseSelector(
    { match_expressions: [{ key, operator: 'Exists' }] },
    { classes: ['trusted', 'identity', 'reported'], withReported: true },
  )

function findTableFault(
  variables: readonly DeclaredVariable[],
  table: StoredValueTable | null,
): Fault | null {
  if (table === null) return null
  if (classifyKey(table.label).class !== 'trusted' || refuseLabelKey(table.label) !== null)
    return faultOf('table_label_unset')
  const names = new Set(variables.map(({ name }) => name))
  const rows = Object.entries(table.rows)
  if (rows.length > TABLE_ROWS_MAX) return faultOf('table_rows_too_many', { max: TABLE_ROWS_MAX })
  for (const [key, row] of rows) {
    if (key === '' || key.length > VALUE_LENGTH_MAX || !isStorable(key)) return faultOf('table_row_bad')
    const unknown = Object.keys(row).find((name) => !names.has(name))
    if (unknown !== undefined) return faultOf('table_variable_undeclared', { name: unknown })
  }
  return null
}

/** Values that are looked at before others get their turn. */
const CHUNK = 100

/** The first default, or value of the table, that its variable cannot have; values that are equal are looked at once. */
async function findValueFault(
  variables: readonly DeclaredVariable[],
  table: StoredValueTable | null,
  clock: VersionParts['clock'],
): Promise<Fault | null> {
  const rows = Object.values(table?.rows ?? {})
  const all = variables.map((variable) => {
    const { name, fallback } = variable
    const given = new Set(rows.flatMap((row) => (Object.hasOwn(row, name) ? [row[name]!] : [])))
    return { check: openVariable(variable), fallback, given }
  })
  function* listValues() {
    for (const { check, fallback, given } of all) {
      if (fallback !== null) yield { check, value: fallback, where: 'default' as const }
      for (const value of given) yield { check, value, where: 'table' as const }
    }
  }
  let found: Fault | null = null
  await eachInTurns(listValues(), { size: CHUNK, clock }, ({ check, value, where }) => {
    if (found !== null) return
    const fault = check(value)
    if (fault !== null) found = faultWithin(where, fault)
  })
  return found
}
