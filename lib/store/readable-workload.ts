import { enums, is, nullable, number, record, string, type, union } from 'superstruct'
import type { AvailableComponents } from '../model/components.ts'
import type { StoredWorkload } from './workloads.ts'

// A row may have been written by hand, or by another version. What does not fit is left out, so that nobody who works
// with a workload meets a shape that the types rule out.

const RemoteConfigStatus = type({
  status: enums(['applying', 'applied', 'failed']),
  configHash: string(),
  updatedAt: string(),
  error: nullable(
    type({
      cause: string(),
      title: string(),
      parameters: record(string(), union([string(), number()])),
      text: string(),
    }),
  ),
})

/** A workload as far as its row can be read, and the columns of which something had to be left out. */
export interface ReadableWorkload {
  workload: StoredWorkload
  unreadable: string[]
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The entries of an object that are texts; itself where all of them are. */
export function textsOf(value: unknown): Readonly<Record<string, string>> {
  if (!isObject(value)) return {}
  const entries = Object.entries(value)
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return texts.length === entries.length ? (value as Record<string, string>) : Object.fromEntries(texts)
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

// A list may hold thousands of names, and a big fleet has a list in each row: a struct takes many times as long.
const isComponents = (value: unknown): value is AvailableComponents =>
  isObject(value) &&
  typeof value.hash === 'string' &&
  isObject(value.components) &&
  Object.values(value.components).every(isTexts)

const TEXTS = [
  ['fingerprintKeys', 'fingerprint_keys'],
  ['labels', 'labels'],
  ['handLabels', 'trusted_labels'],
  ['ruleLabels', 'rule_labels'],
] as const

/** Read a row: of labels and keys those that are texts, of the rest what this version knows the shape of. */
export function readWorkload(row: StoredWorkload): ReadableWorkload {
  const unreadable: string[] = []
  const readable: Partial<StoredWorkload> = {}
  for (const [name, column] of TEXTS) {
    const texts = textsOf(row[name])
    if (texts === row[name]) continue
    readable[name] = texts
    unreadable.push(column)
  }
  if (row.remoteConfigStatus !== null && !is(row.remoteConfigStatus, RemoteConfigStatus)) {
    readable.remoteConfigStatus = null
    unreadable.push('remote_config_status')
  }
  if (row.availableComponents !== null && !isComponents(row.availableComponents)) {
    readable.availableComponents = null
    unreadable.push('available_components')
  }
  return { workload: unreadable.length === 0 ? row : { ...row, ...readable }, unreadable }
}
