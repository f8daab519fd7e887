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
  shareText,
  skipField,
  varintTag,
  type WireReader,
  wireReader,
} from './wire-reader.ts'

/** A health tree nested deeper than INTAKE_LIMITS.healthDepth. */
export class HealthTooDeep extends Error {
  override readonly name = 'HealthTooDeep'
}

const NO_CHILDREN: ReadonlyMap<string, HealthNode> = new Map()

/** Trees up to this size are kept packed; what is larger stays as it was read. */
const PACKED_BYTES_MAX = 65_536

/**
 * Read a ComponentHealth tree. Throws `HealthTooDeep`; nodes past the cap are left out. A tree is kept for every live
 * agent and its children are seldom read, so they are kept packed and unpacked each time they are read.
 */
export function readHealth(reader: WireReader): HealthNode {
  const start = reader.pos
  const node = readTree(reader)
  const length = reader.pos - start
  if (node.children.size === 0 || length > PACKED_BYTES_MAX) return node
  return new PackedHealth(node, (reader.buf as Buffer).toString('latin1', start, reader.pos))
}

const readTree = (reader: WireReader): HealthNode => readNode(reader, 1, { nodes: 1, textLength: 0 })

/** The top node of a tree, and the rest as the bytes that were sent, which take a fifth of the memory of the nodes. */
class PackedHealth implements HealthNode {
  readonly healthy: boolean
  readonly status: string
  readonly lastError: string
  readonly startTimeMs: number | null
  readonly statusTimeMs: number | null
  /** One byte a character, which is how the engine holds it, without a buffer's own overhead. */
  readonly #packed: string

  constructor(top: HealthNode, packed: string) {
    this.healthy = top.healthy
    this.status = top.status
    this.lastError = top.lastError
    this.startTimeMs = top.startTimeMs
    this.statusTimeMs = top.statusTimeMs
    this.#packed = packed
  }

  get packedLength(): number {
    return this.#packed.length
  }

  get children(): ReadonlyMap<string, HealthNode> {
    return readTree(wireReader(Buffer.from(this.#packed, 'latin1'))).children
  }
}

/** How much of the limits a tree has used so far. */
interface Taken {
  nodes: number
  textLength: number
}

function readNode(reader: WireReader, depth: number, count: Taken): HealthNode {
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
    else if (tag === lengthTag(3)) {
      lastError = readText(reader, Math.min(INTAKE_LIMITS.errorTextLength, textLeft(count)))
      count.textLength += lastError.length
    } else if (tag === lengthTag(4)) status = shareText(readText(reader, INTAKE_LIMITS.healthStatusLength))
    else if (tag === fixed64Tag(5)) statusTimeMs = readUnixNanosAsMs(reader)
    else if (tag === lengthTag(6) && count.nodes < INTAKE_LIMITS.healthNodes) {
      children ??= new Map()
      readChild(reader, children, depth, count)
    } else skipField(reader, tag)
  }
  closeMessage(reader, outer)
  return { healthy, status, lastError, startTimeMs, statusTimeMs, children: children ?? NO_CHILDREN }
}

const textLeft = (count: Taken): number => INTAKE_LIMITS.healthTextLength - count.textLength

function readChild(reader: WireReader, children: Map<string, HealthNode>, depth: number, count: Taken): void {
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
