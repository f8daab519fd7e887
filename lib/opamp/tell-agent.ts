import { encodeServerToAgent } from './codec.ts'
import type { AgentConnection } from './fleet-port.ts'
import type { ServerMessage } from './report.ts'

/** Send a message to an agent that did not ask. Returns whether it was sent, as `AgentConnection.send` does. */
export function tellAgent(
  connection: AgentConnection,
  uidOnWire: Uint8Array,
  message: ServerMessage,
): ReturnType<AgentConnection['send']> {
  if (connection.tell !== undefined) return connection.tell(uidOnWire, message)
  return connection.send(encodeServerToAgent(uidOnWire, message))
}
