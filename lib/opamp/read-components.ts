import { toHex } from '../ids.ts'
import { INTAKE_LIMITS } from './limits.ts'
import type { ReportedComponents } from './report.ts'
import {
  closeMessage,
  lengthTag,
  nextTag,
  openMessage,
  readText,
  skipField,
  type WireReader,
} from './wire-reader.ts'

/** Read AvailableComponents: the hash, and the type names of each category (metadata is passed over). */
export function readComponents(reader: WireReader): ReportedComponents {
  let hash = ''
  const categories = new Map<string, string[]>()
  const count = { names: 0 }
  const outer = openMessage(reader)
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    if (tag === lengthTag(2)) hash = readHash(reader)
    else if (tag === lengthTag(1) && categories.size < INTAKE_LIMITS.componentCategories) {
      readCategory(reader, categories, count)
    } else skipField(reader, tag)
  }
  closeMessage(reader, outer)
  return { hash, components: categories.size === 0 ? null : sortNames(categories) }
}

/** An opaque hash as lower-case hex, cut where it is longer than any hash of ours. */
export function readHash(reader: WireReader): string {
  const bytes = reader.bytes()
  return toHex(bytes.length > INTAKE_LIMITS.hashBytes ? bytes.subarray(0, INTAKE_LIMITS.hashBytes) : bytes)
}

function sortNames(categories: Map<string, string[]>): ReadonlyMap<string, readonly string[]> {
  const sorted = new Map<string, readonly string[]>()
  for (const category of [...categories.keys()].sort()) {
    const types = categories.get(category)!.sort()
    sorted.set(
      category,
      types.filter((type, index) => type !== types[index - 1]),
    )
  }
  return sorted
}

/** One entry of the outer map: the category's name and its ComponentDetails. */
function readCategory(reader: WireReader, categories: Map<string, string[]>, count: { names: number }): void {
  let name = ''
  const types: string[] = []
  const entry = openMessage(reader)
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    if (tag === lengthTag(1)) name = readText(reader, INTAKE_LIMITS.componentNameLength + 1)
    else if (tag === lengthTag(2)) readTypeNames(reader, types, count)
    else skipField(reader, tag)
  }
  closeMessage(reader, entry)
  if (name.length <= INTAKE_LIMITS.componentNameLength) categories.set(name, types)
}

/** The keys of a ComponentDetails' sub_component_map; deeper levels are not read. */
function readTypeNames(reader: WireReader, types: string[], count: { names: number }): void {
  const details = openMessage(reader)
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    if (tag === lengthTag(2) && count.names < INTAKE_LIMITS.componentNames) {
      const name = readMapKey(reader, INTAKE_LIMITS.componentNameLength + 1)
      if (name !== '' && name.length <= INTAKE_LIMITS.componentNameLength) {
        types.push(name)
        count.names += 1
      }
    } else skipField(reader, tag)
  }
  closeMessage(reader, details)
}

function readMapKey(reader: WireReader, lengthMax: number): string {
  let key = ''
  const entry = openMessage(reader)
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    if (tag === lengthTag(1)) key = readText(reader, lengthMax)
    else skipField(reader, tag)
  }
  closeMessage(reader, entry)
  return key
}
