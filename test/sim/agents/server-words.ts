import type { ServerMessage } from '../../../lib/opamp/report.ts'
import { readServerBody } from '../../support/opamp-messages.ts'

interface PlainAnswer {
  instanceUid?: Uint8Array
  flags?: number | string
  errorResponse?: { type?: number; errorMessage?: string }
  agentIdentification?: { newInstanceUid: Uint8Array }
  remoteConfig?: { configHash: Uint8Array; config: { configMap: Record<string, { body: Uint8Array }> } }
}

/** Decode a message of the server, as far as simulated agents read it, and the uid that it is addressed to. */
export function readServerWords(body: Uint8Array): { uid: string; message: ServerMessage } {
  const plain = readServerBody(body) as PlainAnswer
  const flags = Number(plain.flags ?? 0)
  const message: ServerMessage = {
    reportFullState: (flags & 1) !== 0,
    reportAvailableComponents: (flags & 2) !== 0,
  }
  if (plain.errorResponse != null)
    message.errorResponse = { type: 'unavailable', message: plain.errorResponse.errorMessage ?? '' }
  if (plain.agentIdentification != null) message.newInstanceUid = plain.agentIdentification.newInstanceUid
  if (plain.remoteConfig != null) {
    const { body: text } = plain.remoteConfig.config.configMap['']!
    message.remoteConfig = { hash: plain.remoteConfig.configHash, body: text }
  }
  return { uid: Buffer.from(plain.instanceUid ?? []).toString('hex'), message }
}
