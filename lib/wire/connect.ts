import { boolean, enums, type Infer, string, type } from 'superstruct'
import { named, note } from './structs.ts'

export const AgentAddress = named(
  'AgentAddress',
  '`GET /api/connect`: where collectors connect to, as this service knows it.',
  type({
    url: note(
      'By WebSocket. Without `MUSTER_OPAMP_PUBLIC_URL` the port is that of `OPAMP_ADDR`: where a proxy stands in front, it may be another.',
      string(),
    ),
    host_from: note(
      'Whether `MUSTER_OPAMP_PUBLIC_URL` says it all, `MUSTER_PUBLIC_URL` names the host, or the address that this request came to.',
      enums(['agent_url', 'public_url', 'request']),
    ),
    needs_secret: note('Whether agents have to show a credential.', boolean()),
  }),
)
export type AgentAddress = Infer<typeof AgentAddress>

export const AgentCredential = named(
  'AgentCredential',
  '`POST /api/connect/credential`: what agents show to be let in.',
  type({ secret: note('Empty where agents need none.', string()) }),
)
export type AgentCredential = Infer<typeof AgentCredential>
