import { INTAKE_LIMITS } from './limits.ts'
import {
  closeMessage,
  lengthTag,
  nextTag,
  openMessage,
  readText,
  shareText,
  skipField,
  type WireReader,
} from './wire-reader.ts'

/** The attributes of one AgentDescription, before the two lists are merged. */
export interface DescriptionAttributes {
  identifying: Map<string, string>
  nonIdentifying: Map<string, string>
}

/** No attributes yet. */
export const emptyDescription = (): DescriptionAttributes => ({
  identifying: new Map(),
  nonIdentifying: new Map(),
})

/** Read an AgentDescription into `attributes`. Only non-empty string values count; others are passed over. */
export function readDescription(reader: WireReader, attributes: DescriptionAttributes): void {
  const outer = openMessage(reader)
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    if (tag === lengthTag(1)) readKeyValue(reader, attributes.identifying)
    else if (tag === lengthTag(2)) readKeyValue(reader, attributes.nonIdentifying)
    else skipField(reader, tag)
  }
  closeMessage(reader, outer)
}

/**
 * Both lists as one, identifying attributes first. On equal keys the non-identifying value wins; past the
 * cap new keys are left out.
 */
export function mergeAttributes(attributes: DescriptionAttributes): ReadonlyMap<string, string> {
  if (attributes.nonIdentifying.size === 0) return attributes.identifying
  const merged = new Map(attributes.identifying)
  for (const [key, value] of attributes.nonIdentifying) {
    if (merged.size < INTAKE_LIMITS.attributes || merged.has(key)) merged.set(key, value)
  }
  return merged
}

function readKeyValue(reader: WireReader, into: Map<string, string>): void {
  let key = ''
  let value: string | null = null
  const outer = openMessage(reader)
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    if (tag === lengthTag(1)) key = readText(reader, INTAKE_LIMITS.attributeKeyLength + 1)
    else if (tag === lengthTag(2)) value = readStringValue(reader)
    else skipField(reader, tag)
  }
  closeMessage(reader, outer)
  if (!value || key === '' || key.length > INTAKE_LIMITS.attributeKeyLength) return
  if (into.size < INTAKE_LIMITS.attributes || into.has(key)) into.set(shareText(key), shareText(value))
}

/** The text of an AnyValue; null when its last member is of another kind. */
function readStringValue(reader: WireReader): string | null {
  let value: string | null = null
  const outer = openMessage(reader)
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    if (tag === lengthTag(1)) value = readText(reader, INTAKE_LIMITS.attributeValueLength)
    else {
      value = null
      skipField(reader, tag)
    }
  }
  closeMessage(reader, outer)
  return value
}
