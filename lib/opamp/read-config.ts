import { INTAKE_LIMITS } from './limits.ts'
import { readHash } from './read-components.ts'
import type { ReportedEffectiveConfig, ReportedRemoteConfigStatus } from './report.ts'
import {
  closeMessage,
  lengthTag,
  nextTag,
  openMessage,
  readText,
  readUint64,
  skipField,
  varintTag,
  type WireReader,
} from './wire-reader.ts'

type Files = Map<string, { body: Uint8Array; contentType: string }>

/** Read an EffectiveConfig. The bodies are views on the message: copy what is kept. */
export function readEffectiveConfig(reader: WireReader): ReportedEffectiveConfig {
  const files: Files = new Map()
  const outer = openMessage(reader)
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    if (tag === lengthTag(1)) readConfigMap(reader, files)
    else skipField(reader, tag)
  }
  closeMessage(reader, outer)
  return { files }
}

/** The statuses by their numbers in the protocol, which is not the order of events. */
const REMOTE_CONFIG_STATUSES = ['unset', 'applied', 'applying', 'failed'] as const

/** Read a RemoteConfigStatus; a status number from a newer protocol counts as unset. */
export function readRemoteConfigStatus(reader: WireReader): ReportedRemoteConfigStatus {
  let hash = ''
  let status = 0
  let errorMessage = ''
  const outer = openMessage(reader)
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    if (tag === lengthTag(1)) hash = readHash(reader)
    else if (tag === varintTag(2)) status = readUint64(reader)
    else if (tag === lengthTag(3)) errorMessage = readText(reader, INTAKE_LIMITS.errorTextLength)
    else skipField(reader, tag)
  }
  closeMessage(reader, outer)
  return { hash, status: REMOTE_CONFIG_STATUSES[status] ?? 'unset', errorMessage }
}

function readConfigMap(reader: WireReader, files: Files): void {
  const map = openMessage(reader)
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    if (tag === lengthTag(1) && files.size < INTAKE_LIMITS.configFiles) readFile(reader, files)
    else skipField(reader, tag)
  }
  closeMessage(reader, map)
}

function readFile(reader: WireReader, files: Files): void {
  let name = ''
  let body = new Uint8Array(0)
  let contentType = ''
  const entry = openMessage(reader)
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    if (tag === lengthTag(1)) name = readText(reader, INTAKE_LIMITS.configFileNameLength)
    else if (tag === lengthTag(2)) {
      const file = openMessage(reader)
      while (reader.pos < reader.len) {
        const inner = nextTag(reader)
        if (inner === lengthTag(1)) body = reader.bytes() as Uint8Array<ArrayBuffer>
        else if (inner === lengthTag(2)) contentType = readText(reader, INTAKE_LIMITS.configFileNameLength)
        else skipField(reader, inner)
      }
      closeMessage(reader, file)
    } else skipField(reader, tag)
  }
  closeMessage(reader, entry)
  files.set(name, { body, contentType })
}
