import { readFirstDocument } from '../yaml/document.ts'
import { isSameValue } from '../yaml/equal.ts'
import { parseConfig } from '../yaml/parse.ts'
import type { ReadConfig } from '../yaml/parse-memory.ts'
import { DOCUMENT_MARK } from '../yaml/plain.ts'
import { type ConfigObject, type ConfigValue, emptyObject, isObject } from '../yaml/value.ts'
import { DoesNotFit } from './does-not-fit.ts'
import { editText, renameKey } from './edit-text.ts'
import { editPipelines, type PipelineEdit } from './pipelines.ts'
import { type Renaming, renameComponent } from './rename.ts'

/** A place in a config, key by key; keys may hold dots and slashes. */
export type ConfigPath = readonly string[]

/** What a config must say for a patch to fit it. */
export interface Expectation {
  path: ConfigPath
  /** Whether something is there at all. */
  exists?: boolean
  /** What is there. */
  value?: ConfigValue
}

/** A change for many configs that may differ in everything else. Its parts are done in the order of the fields. */
export interface ConfigPatch {
  expect?: readonly Expectation[]
  rename_component?: readonly Renaming[]
  remove?: readonly ConfigPath[]
  /** Mappings merge, lists and single values replace; null is a value. */
  merge?: ConfigObject
  pipeline?: readonly PipelineEdit[]
}

/** The kinds of reason why a patch was not made. */
export const PATCH_PROBLEMS = [
  /** The config cannot be read, or holds a second document. */
  'patch_base_invalid',
  /** The config is not one that the patch is meant for. */
  'patch_does_not_fit',
  /** The text is written in a way in which the change could not be made without touching anything else. */
  'patch_mismatch',
] as const
/** One of these reasons. */
export type PatchProblemCode = (typeof PATCH_PROBLEMS)[number]

/** Why a patch was not made, with words for it. */
export interface PatchProblem {
  code: PatchProblemCode
  message: string
}

/** The outcome of a patch: the patched text, or why there is none. */
export type Patching =
  | {
      ok: true
      text: string
      /** Places, as paths, that name a renamed component too and were left as they are. */
      otherMatches: string[]
    }
  | { ok: false; problem: PatchProblem }

const refuse = (code: PatchProblemCode, message: string): Patching => ({
  ok: false,
  problem: { code, message },
})

/**
 * A config with a change made to it. Comments, order and layout of everything else stay; an alias or a merge key that
 * is in the way is written out there, and every other place that uses the anchor keeps its value. The result is read
 * again and must be the config with the change, and nothing else. The same text comes back where nothing changes.
 */
export function patchConfig(
  text: string,
  patch: ConfigPatch,
  readConfig: ReadConfig = parseConfig,
): Patching {
  const base = readConfig(text)
  if (!base.ok) return refuse('patch_base_invalid', base.problem.message)
  if (holdsMore(text)) return refuse('patch_base_invalid', 'the config holds a second document')
  try {
    const { root } = base.document
    for (const expectation of patch.expect ?? []) checkExpectation(root, expectation)
    let renamed = text
    let target = root
    const otherMatches: string[] = []
    for (const renaming of patch.rename_component ?? []) {
      const outcome = renameComponent(target, renaming)
      target = outcome.root
      otherMatches.push(...outcome.otherMatches)
      // The key is renamed where it stands, so that comments around the definition stay with it.
      renamed = renameKey(renamed, [renaming.category, renaming.from], renaming.to) ?? renamed
    }
    for (const path of patch.remove ?? []) target = removeAt(target, path)
    if (patch.merge !== undefined) target = mergeValues(target, patch.merge) as ConfigObject
    for (const edit of patch.pipeline ?? []) target = editPipelines(target, edit)
    return finish({ text, renamed, target, otherMatches }, readConfig)
  } catch (stop) {
    if (stop instanceof DoesNotFit) return refuse('patch_does_not_fit', stop.message)
    throw stop
  }
}

/** A text whose first key is indented: its first document ends at a key that is not. */
const FIRST_IS_INDENTED = /^(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]+[^\s#]/

/** Whether a text holds a second document, for which it is read anew only where it may. */
function holdsMore(text: string): boolean {
  if (!DOCUMENT_MARK.test(text) && !FIRST_IS_INDENTED.test(text)) return false
  const read = readFirstDocument(text)
  return read.ok && read.hasMore
}

function finish(
  {
    text,
    renamed,
    target,
    otherMatches,
  }: { text: string; renamed: string; target: ConfigObject; otherMatches: string[] },
  readConfig: ReadConfig,
): Patching {
  const edited = editText(renamed, target)
  const found = edited === null ? null : readConfig(edited)
  if (edited === null || found === null || !found.ok || !isSameValue(found.document.root, target))
    return refuse('patch_mismatch', 'the change cannot be made without touching anything else')
  return { ok: true, text: edited === renamed && renamed === text ? text : edited, otherMatches }
}

/** How a path is named in a message. */
export const sayPath = (path: ConfigPath): string => path.join('::')

function valueAt(root: ConfigValue, path: ConfigPath): ConfigValue | undefined {
  let value: ConfigValue | undefined = root
  for (const key of path) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

function checkExpectation(root: ConfigObject, { path, exists, value }: Expectation): void {
  const found = valueAt(root, path)
  if (exists !== undefined && (found !== undefined) !== exists)
    throw new DoesNotFit(`${sayPath(path)} is ${exists ? 'not there' : 'there'}`)
  if (value !== undefined && !isSameValue(found, value))
    throw new DoesNotFit(`${sayPath(path)} is not what is expected`)
}

function removeAt(root: ConfigObject, path: ConfigPath, from = 0): ConfigObject {
  const key = path[from]
  if (key === undefined || !Object.hasOwn(root, key)) throw new DoesNotFit(`${sayPath(path)} is not there`)
  if (from === path.length - 1) return without(root, key)
  const inner = root[key]
  if (!isObject(inner)) throw new DoesNotFit(`${sayPath(path)} is not there`)
  return { ...root, [key]: removeAt(inner, path, from + 1) }
}

function without(object: ConfigObject, left: string): ConfigObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== left))
}

function mergeValues(value: ConfigValue | undefined, patch: ConfigValue): ConfigValue {
  if (!isObject(patch)) return patch
  const merged = Object.assign(emptyObject(), isObject(value) ? value : {})
  for (const [key, entry] of Object.entries(patch)) merged[key] = mergeValues(merged[key], entry)
  return merged
}
