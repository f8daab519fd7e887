import { readFileSync } from 'node:fs'
import { LINK_SHAPES } from '../../lib/links/frames.ts'

// What may be said on a link of each version: one record per version, which stays as it is once a build speaks it.

/** Which side says it. */
type Side = 'front' | 'owner'

/** What may be said on a link: the fields of a batch, and of each kind of entry what it holds. */
export interface LinkRecord extends Record<Side, Readonly<Record<string, readonly unknown[]>>> {
  batch: readonly string[]
}

const records = new Map<number, LinkRecord>()

/** The record of a version. */
export function recordOf(version: number): LinkRecord {
  const known = records.get(version)
  if (known !== undefined) return known
  const text = readFileSync(new URL(`../fixtures/links/v${version}.json`, import.meta.url), 'utf8')
  const record = JSON.parse(text) as LinkRecord
  records.set(version, record)
  return record
}

/** What this build says and reads, in the form of a record. */
export function shapesNow(): LinkRecord {
  const written = JSON.stringify(LINK_SHAPES, (_, value: unknown) =>
    isStruct(value) ? describe(value) : value,
  )
  return JSON.parse(written) as LinkRecord
}

interface AnyStruct {
  type: string
  schema: unknown
  is(value: unknown): boolean
}
const isStruct = (value: unknown): value is AnyStruct =>
  typeof value === 'object' && value !== null && 'schema' in value && 'coercer' in value

/** A struct in words: its type or fields, and whether it may be absent or null. */
function describe(struct: AnyStruct): unknown {
  const { type, schema } = struct
  const may = [struct.is(undefined) ? ' or absent' : '', struct.is(null) ? ' or null' : ''].join('')
  if (type !== 'object') return `${type}${schema == null ? '' : ` ${JSON.stringify(schema)}`}${may}`
  const fields = Object.entries(schema as Record<string, AnyStruct>)
  return { [`object${may}`]: Object.fromEntries(fields.map(([name, field]) => [name, describe(field)])) }
}

/** Throws where a batch holds what no build of this version reads. */
export function checkSaid(version: number, side: Side, text: string): void {
  const record = recordOf(version)
  const batch = JSON.parse(text) as { entries: unknown[][] }
  for (const field of Object.keys(batch))
    if (!record.batch.includes(field)) throw new Error(`version ${version} of a link has no field ${field}`)
  for (const [kind, ...values] of batch.entries)
    if (record[side][String(kind)]?.length !== values.length)
      throw new Error(
        `version ${version} of a link has no such entry of the ${side}: ${JSON.stringify([kind])}`,
      )
}
