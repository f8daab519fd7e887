import type { Tokens } from '../../lib/identity/sessions/tokens.ts'
import { isApiToken } from '../../lib/identity/token-authority.ts'
import { readCredential } from '../credentials.ts'
import type { ListenerHandlers, RawRequest } from '../listener.ts'
import type { ProxyPolicy } from '../proxies.ts'
import type { Reply } from '../reply.ts'
import type { OwnerDoor } from './owner-door.ts'

const NOTHING = new Uint8Array()

/** What looking at the sender of a body needs. */
export interface BodyCallersParts {
  bodyLimit: ListenerHandlers['bodyLimit']
  tokens: Pick<Tokens, 'signedFor'>
  door: Pick<OwnerDoor, 'forward'>
}

/** What a front does with a request: pass this on, or give this answer. */
export type Taken = { request: RawRequest } | { reply: Reply }

/**
 * A front's look at who sends a body, before it takes it: the owner, which lets nobody in whom it does not know, gets a body
 * only once it is whole. Whoever is not known has no room here either: his request goes on without its body, and the
 * owner refuses it. The body of one who is known is counted as his.
 */
export class BodyCallers {
  readonly #parts: BodyCallersParts

  constructor(parts: BodyCallersParts) {
    this.#parts = parts
  }

  async take(request: RawRequest, client: ReturnType<ProxyPolicy['clientOf']>): Promise<Taken> {
    const { bodyLimit, tokens, door } = this.#parts
    const { bytesMax, isBeforeSignIn } = bodyLimit(request.method, request.path)
    // The owner does not read the body of what may have none, nor of what it does not know.
    if (bytesMax === 0) return { request: withoutBody(request) }
    if (isBeforeSignIn || !hasBody(request)) return { request }
    const credential = readCredential(request.header)
    if (credential === null) return { request: withoutBody(request) }
    if (credential.source === 'bearer' && isApiToken(credential.token)) {
      const question = { ...request, method: 'GET', path: '/api/me', query: '', ...noBodyOf(request) }
      const reply = await door.forward(question, client)
      if (reply.status !== 200) {
        request.discardBody()
        return { reply }
      }
      request.holdBodyFor(await idIn(reply))
      return { request }
    }
    // Also of a session that has ended: the clock of the owner decides that.
    const userId = await tokens.signedFor(credential.token)
    if (userId === null) return { request: withoutBody(request) }
    request.holdBodyFor(userId)
    return { request }
  }
}

/** No body, as long as somebody waits for the answer. */
const noBodyOf = (request: RawRequest) => ({
  body: async () => (request.isAborted() ? ('aborted' as const) : NOTHING),
  isOverBudget: () => false,
})

function withoutBody(request: RawRequest): RawRequest {
  request.discardBody()
  return { ...request, ...noBodyOf(request) }
}

const hasBody = ({ header }: RawRequest): boolean =>
  !['', '0'].includes(header('content-length')) || header('transfer-encoding') !== ''

/** The id of the user whom an owner's answer describes. */
async function idIn({ body }: Reply): Promise<string> {
  const pieces: Uint8Array[] = []
  if (body instanceof Uint8Array) pieces.push(body)
  // One with thousands of scopes comes in pieces.
  else if (body !== null && typeof body !== 'string')
    for await (const piece of body) pieces.push(Buffer.from(piece))
  const { id } = JSON.parse(Buffer.concat(pieces).toString()) as { id: string }
  return id
}
