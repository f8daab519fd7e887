import type { AgentConnection } from '../../lib/opamp/fleet-port.ts'
import type { OpampContext } from '../../runtime/context.ts'
import { defineSocket, type Socket } from '../../runtime/define.ts'
import { isFromBrowser, NO_BROWSERS } from './_browser-origin.ts'
import { CHALLENGE, holdsSharedSecret } from './_shared-secret.ts'

/** What is kept of one socket. Agents are known by their uids, never by the socket. */
interface State {
  connection: AgentConnection | null
}

/** Room for a beat of each of the ten thousand agents that a gateway may carry on one socket. */
const SHORT_MESSAGES_BYTES = 4 * 1_048_576

/** Agents over WebSocket. Callbacks of one socket never overlap; `message` answers before it returns. */
export default defineSocket<State, OpampContext>({
  listener: 'opamp',
  path: '/v1/opamp',
  access: { kind: 'shared-secret' },
  limits: {
    messageBytesMax: (ctx) => ctx.config.opampMessageBytesMax,
    // The longest message, and with it the short ones.
    waitingBytesMax: (ctx) => ctx.config.opampMessageBytesMax + SHORT_MESSAGES_BYTES,
    // An agent that does not read costs this much and one message; what is dropped is offered again.
    backpressureBytesMax: 1_048_576,
    // Agents beat each 30 s and are not pinged then; some never beat, and a dead peer must not stay for long.
    idleSeconds: 60,
    closeOnBackpressure: false,
  },
  admit({ header }, ctx) {
    if (isFromBrowser(header)) return { accept: false, ...NO_BROWSERS }
    if (!holdsSharedSecret(header('authorization'), ctx.config.opampSharedSecret)) {
      return { accept: false, status: 401, body: '', headers: CHALLENGE }
    }
    if (ctx.opamp.isOverloaded()) {
      const retryAfter = String(ctx.opamp.retryAfterMs / 1000)
      return { accept: false, status: 503, body: '', headers: { 'Retry-After': retryAfter } }
    }
    return { accept: true, state: { connection: null } }
  },
  open(socket, state) {
    state.connection = connectionOf(socket)
  },
  message(_, state, data, isBinary, ctx) {
    // OpAMP knows binary messages only. Go's client takes a text answer for a broken connection, so: silence.
    if (!isBinary || state.connection === null) return
    ctx.opamp.answerFrame(state.connection, data)
  },
  drain() {
    // What was dropped is offered or asked again when the agent next reports.
  },
  close(socket, state, ctx) {
    if (state.connection === null) return
    ctx.opamp.connectionClosed(state.connection, { isOurDoing: socket.isOurDoing })
  },
})

const connectionOf = (socket: Socket): AgentConnection => ({
  id: socket.id,
  transport: 'ws',
  send: (frame) => socket.send(frame),
  // Without a Close frame, which strands the Java client.
  drop: () => socket.drop(),
})
