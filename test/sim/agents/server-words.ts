import type { ServerMessage } from '../../../lib/opamp/report.ts'
import { readServerBody } from '../../support/opamp-messages.ts'

interface PlainAnswer {
  instanceUid?: Uint8Array
  flags?: number | string
  errorResponse?: { type?: number; errorMessage?: string }
  agentIdentification?: { newInstanceUid: Uint8Array }
  remoteConfig?: { configHash: Uint8Array; config: { configMap: Record<string, { body: Uint8Array }> } }
}

/** What the server says to one agent, as the agent reads it. */
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
