import { AgentToServer } from '../../../lib/opamp/schema.ts'

/** How the agents of the load are spread over workloads. */
export interface Shape {
  /** How many workloads the agents are spread over evenly. With as many as agents each has one of its own. */
  workloads: number
}

const CAPABILITIES = 0x1 | 0x2 | 0x4 | 0x800 | 0x1000 | 0x2000 | 0x4000
const PLACEHOLDER_TEXT = '00000000-0000-4000-8000-0000000000ff'
const EFFECTIVE_BYTES = 8_192
const HEALTH_COMPONENTS = 12
const COMPONENT_KINDS = ['receivers', 'processors', 'exporters', 'extensions', 'connectors']
const COMPONENT_NAMES = 20

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })

/** The 16 bytes of the agent's uid, shaped like a UUIDv4. */
export function uidOf(index: number): Buffer {
  const uid = Buffer.from('6d757374657240008000000000000000', 'hex')
  uid.writeUInt32BE(index, 12)
  return uid
}

function uidText(uid: Buffer): string {
  const hex = uid.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** An effective config of 8 KB that names the agent which runs it. */
function effectiveConfig(): string {
  const head = [
    'exporters:\n  debug:\n    verbosity: basic\n',
    `extensions:\n  opamp:\n    instance_uid: ${PLACEHOLDER_TEXT}\n`,
    'receivers:\n  otlp:\n    protocols:\n      grpc:\n        endpoint: localhost:4317\n',
    'service:\n  pipelines:\n    traces:\n      receivers: [otlp]\n      exporters: [debug]\nprocessors:\n',
  ].join('')
  const lines: string[] = []
  let length = head.length
  for (let n = 0; length < EFFECTIVE_BYTES; n++) {
    const line = `  attributes/${n}:\n    actions:\n      - key: team\n        value: blue-${n}\n        action: upsert\n`
    lines.push(line)
    length += line.length
  }
  return head + lines.join('')
}

function healthTree(round = 0) {
  const statusTimeUnixNano = `17672256${String(round).padStart(2, '0')}000000000`
  const node = {
    healthy: true,
    status: 'StatusOK',
    startTimeUnixNano: '1767225600000000000',
    statusTimeUnixNano,
  }
  const componentHealthMap = Object.fromEntries(
    Array.from({ length: HEALTH_COMPONENTS }, (_, n) => [`pipeline:traces/${n}`, node]),
  )
  return { ...node, componentHealthMap }
}

function availableComponents() {
  const names = Array.from({ length: COMPONENT_NAMES }, (_, n) => [`component${n}`, {}])
  const components = Object.fromEntries(
    COMPONENT_KINDS.map((kind) => [kind, { subComponentMap: Object.fromEntries(names) }]),
  )
  return { components, hash: Buffer.alloc(32, 7) }
}

/** Encode a first report without the uid and the sequence number; all agents of a workload share it. */
function firstReport(workload: number): Buffer {
  const message = {
    agentDescription: {
      identifyingAttributes: [
        attribute('service.name', 'otelcol-bench'),
        attribute('service.version', '0.149.0'),
        attribute('service.instance.id', PLACEHOLDER_TEXT),
      ],
      nonIdentifyingAttributes: [
        attribute('k8s.namespace.name', 'bench'),
        attribute('k8s.deployment.name', `gateway-${workload}`),
        attribute('k8s.pod.name', `gateway-${PLACEHOLDER_TEXT}`),
        attribute('os.type', 'linux'),
        attribute('os.description', 'Debian GNU/Linux 12 (bookworm)'),
        attribute('host.arch', 'amd64'),
      ],
    },
    capabilities: CAPABILITIES,
    health: healthTree(),
    effectiveConfig: {
      configMap: {
        configMap: { '': { body: Buffer.from(effectiveConfig()), contentType: 'text/yaml' } },
      },
    },
    availableComponents: availableComponents(),
  }
  return Buffer.from(AgentToServer.encode(AgentToServer.fromObject(message)).finish())
}

/** Encode the health of a round without the uid and the sequence number; all agents share it. */
function healthReport(round: number): Buffer {
  const message = { capabilities: CAPABILITIES, health: healthTree(round) }
  return Buffer.from(AgentToServer.encode(AgentToServer.fromObject(message)).finish())
}

interface Template {
  bytes: Buffer
  /** The offsets at which the uid stands as text. */
  uidTextAt: number[]
}

function positionsOf(bytes: Buffer, text: string): number[] {
  const positions: number[] = []
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) positions.push(at)
  return positions
}

const varintLength = (value: number): number => (value < 128 ? 1 : 1 + varintLength(Math.floor(value / 128)))

function writeVarint(bytes: Buffer, at: number, value: number): number {
  let rest = value
  let next = at
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[next++] = (rest % 128) | 0x80
  bytes[next++] = rest
  return next
}

const MASK_BYTES = 4
/** The bytes before the sequence number: header 0, the uid, and the tag of the sequence number. */
const FIXED_BYTES = 1 + 18 + 1

/**
 * Makes frames by copying a template and patching it. The mask is zero, which the protocol allows and which spares the
 * load from touching each byte.
 */
export class Frames {
  readonly #templates = new Map<number, Template>()
  /** By round. */
  readonly #healths = new Map<number, Buffer>()
  readonly #capabilities = Buffer.from([0x20, ...varintBytes(CAPABILITIES)])

  /** A first report of 11 KB; with `hash` it also says that this config is applied. */
  report(shape: Shape, index: number, uid: Buffer, sequence: number, hash: Buffer | null): Buffer {
    const template = this.#templateOf(index % shape.workloads)
    const status = hash === null ? null : statusField(hash)
    const frame = this.#open(uid, sequence, template.bytes.length + (status?.length ?? 0))
    const start = frame.length - template.bytes.length - (status?.length ?? 0)
    template.bytes.copy(frame, start)
    const text = uidText(uid)
    for (const at of template.uidTextAt) frame.write(text, start + at, 'latin1')
    if (status !== null) status.copy(frame, start + template.bytes.length)
    return frame
  }

  /** A heartbeat: a message with nothing but the capabilities. */
  beat(uid: Buffer, sequence: number): Buffer {
    const frame = this.#open(uid, sequence, this.#capabilities.length)
    this.#capabilities.copy(frame, frame.length - this.#capabilities.length)
    return frame
  }

  /** A report of 1 KB in which the health differs from that of the round before. */
  health(uid: Buffer, sequence: number, round: number): Buffer {
    const known = this.#healths.get(round)
    const health = known ?? healthReport(round)
    if (known === undefined) this.#healths.set(round, health)
    const frame = this.#open(uid, sequence, health.length)
    health.copy(frame, frame.length - health.length)
    return frame
  }

  /** A report that this config is applied. */
  applied(uid: Buffer, sequence: number, hash: Buffer): Buffer {
    const status = statusField(hash)
    const frame = this.#open(uid, sequence, this.#capabilities.length + status.length)
    this.#capabilities.copy(frame, frame.length - status.length - this.#capabilities.length)
    status.copy(frame, frame.length - status.length)
    return frame
  }

  /** A masked binary frame with the fields that every message starts with; `rest` bytes are left to fill. */
  #open(uid: Buffer, sequence: number, rest: number): Buffer {
    const payload = FIXED_BYTES + varintLength(sequence) + rest
    const lengthBytes = payload < 126 ? 0 : payload < 65_536 ? 2 : 8
    const frame = Buffer.allocUnsafe(2 + lengthBytes + MASK_BYTES + payload)
    frame[0] = 0x82
    frame[1] = 0x80 | (lengthBytes === 0 ? payload : lengthBytes === 2 ? 126 : 127)
    if (lengthBytes === 2) frame.writeUInt16BE(payload, 2)
    else if (lengthBytes === 8) frame.writeBigUInt64BE(BigInt(payload), 2)
    frame.fill(0, 2 + lengthBytes, 2 + lengthBytes + MASK_BYTES)
    let at = 2 + lengthBytes + MASK_BYTES
    frame[at++] = 0x00
    frame[at++] = 0x0a
    frame[at++] = 16
    at += uid.copy(frame, at)
    frame[at++] = 0x10
    writeVarint(frame, at, sequence)
    return frame
  }

  #templateOf(workload: number): Template {
    const known = this.#templates.get(workload)
    if (known !== undefined) return known
    const bytes = firstReport(workload)
    const template = { bytes, uidTextAt: positionsOf(bytes, PLACEHOLDER_TEXT) }
    // Where each agent is a workload of its own, a template is used once and is not worth keeping.
    if (this.#templates.size < 256) this.#templates.set(workload, template)
    return template
  }
}

function varintBytes(value: number): number[] {
  const bytes = Buffer.alloc(varintLength(value))
  writeVarint(bytes, 0, value)
  return [...bytes]
}

/** RemoteConfigStatus with status APPLIED, as a field of AgentToServer. */
function statusField(hash: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from([0x3a, hash.length + 4, 0x0a, hash.length]),
    hash,
    Buffer.from([0x10, 1]),
  ])
}

/** The parts of a ServerToAgent that the load looks at. */
export interface ServerWord {
  offeredHash: Buffer | null
  wantsFullState: boolean
  isError: boolean
}

/** Read a server's message, its header included. */
export function readServerWord(message: Buffer): ServerWord {
  const word: ServerWord = { offeredHash: null, wantsFullState: false, isError: false }
  let at = 1
  while (at < message.length) {
    const tag = message[at++]!
    if ((tag & 7) === 0) {
      const [value, next] = readVarint(message, at)
      if (tag === 0x30) word.wantsFullState = (value & 1) !== 0
      at = next
      continue
    }
    const [length, start] = readVarint(message, at)
    if (tag === 0x12) word.isError = true
    if (tag === 0x1a) word.offeredHash = readHash(message.subarray(start, start + length))
    at = start + length
  }
  return word
}

function readHash(config: Buffer): Buffer | null {
  for (let at = 0; at < config.length; ) {
    const tag = config[at++]!
    const [length, start] = readVarint(config, at)
    if (tag === 0x12) return Buffer.from(config.subarray(start, start + length))
    at = start + length
  }
  return null
}

function readVarint(bytes: Buffer, start: number): [value: number, next: number] {
  let value = 0
  let factor = 1
  for (let at = start; at < bytes.length; at++) {
    value += (bytes[at]! & 0x7f) * factor
    if (bytes[at]! < 0x80) return [value, at + 1]
    factor *= 128
  }
  throw new RangeError('a varint without an end')
}
