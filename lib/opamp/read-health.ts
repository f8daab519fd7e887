import { INTAKE_LIMITS } from './limits.ts'
import type { HealthNode } from './report.ts'
import {
  closeMessage,
  fixed64Tag,
  lengthTag,
  nextTag,
  openMessage,
  readText,
  readUint64,
  readUnixNanosAsMs,
  skipField,
  varintTag,
  type WireReader,
} from './wire-reader.ts'

/** A health tree nested deeper than INTAKE_LIMITS.healthDepth. */
export class HealthTooDeep extends Error {
  override readonly name = 'HealthTooDeep'
}

const NO_CHILDREN: ReadonlyMap<string, HealthNode> = new Map()

/** Read a ComponentHealth tree. Throws `HealthTooDeep`; nodes past the cap are left out. */
export function readHealth(reader: WireReader): HealthNode {
  return readNode(reader, 1, { nodes: 1 })
}

function readNode(reader: WireReader, depth: number, count: { nodes: number }): HealthNode {
  if (depth > INTAKE_LIMITS.healthDepth) throw new HealthTooDeep()
  let children: Map<string, HealthNode> | null = null
  let healthy = false
  let status = ''
  let lastError = ''
  let startTimeMs: number | null = null
  let statusTimeMs: number | null = null
  const outer = openMessage(reader)
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    if (tag === varintTag(1)) healthy = readUint64(reader) !== 0
    else if (tag === fixed64Tag(2)) startTimeMs = readUnixNanosAsMs(reader)
    else if (tag === lengthTag(3)) lastError = readText(reader, INTAKE_LIMITS.errorTextLength)
    else if (tag === lengthTag(4)) status = readText(reader, INTAKE_LIMITS.healthStatusLength)
    else if (tag === fixed64Tag(5)) statusTimeMs = readUnixNanosAsMs(reader)
    else if (tag === lengthTag(6) && count.nodes < INTAKE_LIMITS.healthNodes) {
      children ??= new Map()
      readChild(reader, children, depth, count)
    } else skipField(reader, tag)
  }
  closeMessage(reader, outer)
  return { healthy, status, lastError, startTimeMs, statusTimeMs, children: children ?? NO_CHILDREN }
}

function readChild(
  reader: WireReader,
  children: Map<string, HealthNode>,
  depth: number,
  count: { nodes: number },
): void {
  count.nodes += 1
  let name = ''
  let node: HealthNode | null = null
  const outer = openMessage(reader)
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    if (tag === lengthTag(1)) name = readText(reader, INTAKE_LIMITS.healthNameLength)
    else if (tag === lengthTag(2)) node = readNode(reader, depth + 1, count)
    else skipField(reader, tag)
  }
  closeMessage(reader, outer)
  children.set(name, node ?? EMPTY_NODE)
}

const EMPTY_NODE: HealthNode = {
  healthy: false,
  status: '',
  lastError: '',
  startTimeMs: null,
  statusTimeMs: null,
  children: NO_CHILDREN,
}
