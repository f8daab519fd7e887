import { instanceUidKey } from './instance-uid.ts'
import { readComponents } from './read-components.ts'
import { readEffectiveConfig, readRemoteConfigStatus } from './read-config.ts'
import { emptyDescription, mergeAttributes, readDescription } from './read-description.ts'
import { HealthTooDeep, readHealth } from './read-health.ts'
import type { AgentReport } from './report.ts'
import {
  lengthTag,
  nextTag,
  readLow16,
  readUint64,
  skipField,
  TooManyFields,
  varintTag,
  type WireReader,
  wireReader,
} from './wire-reader.ts'

/** Why a message was refused; each is answered with BAD_REQUEST. */
export type IntakeRefusal =
  | 'health-too-deep'
  | 'instance-uid-invalid'
  | 'message-malformed'
  | 'message-too-many-fields'

/** One decoded message: a report, or why it was refused, with the uid of the sender as far as it could be read. */
export type Intake =
  | { ok: true; report: AgentReport }
  | { ok: false; code: IntakeRefusal; uidOnWire: Uint8Array }

const NO_BYTES = new Uint8Array(0)
/** The longest form of an instance_uid that is echoed: a UUID's text. */
const UID_ECHO_BYTES_MAX = 36
const REQUEST_INSTANCE_UID = 0x1

/** Read one AgentToServer (without the WebSocket header). `message` must belong to the caller: bodies alias it. */
export function readAgentToServer(message: Uint8Array): Intake {
  const draft = emptyDraft()
  try {
    readFields(wireReader(message), draft)
  } catch (error) {
    return { ok: false, code: refusalOf(error), uidOnWire: draft.uidOnWire }
  }
  const uid = instanceUidKey(draft.uidOnWire)
  if (uid === null) return { ok: false, code: 'instance-uid-invalid', uidOnWire: draft.uidOnWire }
  const { description, ...rest } = draft
  return {
    ok: true,
    report: { ...rest, uid, attributes: description === null ? null : mergeAttributes(description) },
  }
}

function refusalOf(error: unknown): IntakeRefusal {
  if (error instanceof HealthTooDeep) return 'health-too-deep'
  return error instanceof TooManyFields ? 'message-too-many-fields' : 'message-malformed'
}

interface Draft extends Omit<AgentReport, 'uid' | 'attributes'> {
  description: ReturnType<typeof emptyDescription> | null
}

const emptyDraft = (): Draft => ({
  uidOnWire: NO_BYTES,
  sequenceNum: 0,
  capabilities: 0,
  hasCapabilities: false,
  requestsInstanceUid: false,
  isDisconnect: false,
  description: null,
  health: null,
  effectiveConfig: null,
  remoteConfigStatus: null,
  components: null,
})

function readFields(reader: WireReader, draft: Draft): void {
  while (reader.pos < reader.len) {
    const tag = nextTag(reader)
    switch (tag) {
      case lengthTag(1):
        draft.uidOnWire = readUid(reader)
        break
      case varintTag(2):
        draft.sequenceNum = readUint64(reader)
        break
      case lengthTag(3):
        draft.description ??= emptyDescription()
        readDescription(reader, draft.description)
        break
      case varintTag(4):
        draft.capabilities = readLow16(reader)
        draft.hasCapabilities = true
        break
      case lengthTag(5):
        draft.health = readHealth(reader)
        break
      case lengthTag(6):
        draft.effectiveConfig = readEffectiveConfig(reader)
        break
      case lengthTag(7):
        draft.remoteConfigStatus = readRemoteConfigStatus(reader)
        break
      case lengthTag(9):
        draft.isDisconnect = true
        skipField(reader, tag)
        break
      case varintTag(10):
        draft.requestsInstanceUid = (readLow16(reader) & REQUEST_INSTANCE_UID) !== 0
        break
      case lengthTag(14):
        draft.components = readComponents(reader)
        break
      default:
        skipField(reader, tag)
    }
  }
}

/** A copy, so that a kept uid does not hold the whole message in memory; overlong ones count as absent. */
function readUid(reader: WireReader): Uint8Array {
  const bytes = reader.bytes()
  return bytes.length > UID_ECHO_BYTES_MAX ? NO_BYTES : Uint8Array.from(bytes)
}
