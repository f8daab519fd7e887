import { validate } from 'superstruct'
import { BROWSER_SOCKET, type HubClient } from '../../lib/hub/browser-queue.ts'
import type { TokenAuthentication } from '../../lib/identity/token-authority.ts'
import { HubPing } from '../../lib/wire/hub.ts'
import type { Context } from '../../runtime/context.ts'
import { readCredential } from '../../runtime/credentials.ts'
import { defineSocket, type Handshake, signedIn } from '../../runtime/define.ts'
import { isOriginReadable, isOriginTrusted } from '../../runtime/origin.ts'

/** What is kept of one browser's socket. */
interface State {
  identify: () => Promise<TokenAuthentication>
  session: { sessionId: string; expiresAt: Date }
  client: HubClient | null
  /** Monotonic time of the last message that was read; null before the first. */
  readAtMs: number | null
}

/** A browser asks every few seconds; of one that says more, whatever it is, no more is read than one message in this. */
const READ_EVERY_MS = 1_000
/** Of how many workloads a ping may ask; a browser asks of a hundred at most. */
const SEEN_MAX = 128

const PLAIN = { 'Content-Type': 'text/plain; charset=utf-8' }

/**
 * The token of a handshake: of the header or the cookie, or else, for clients that are no browsers, of the query. An
 * API token is taken from the header only, for addresses are written into logs.
 */
function readToken({ header, query, remoteAddress }: Handshake, { identity }: Context) {
  const credential = readCredential(header)
  const isFromCookie = credential?.source === 'cookie'
  if (credential?.source === 'bearer')
    return { isFromCookie, identify: () => identity.authenticateBearer(credential.token, remoteAddress) }
  const token = credential?.token ?? (new URLSearchParams(query).get('token') ?? '').trim()
  return { isFromCookie, identify: () => identity.authenticate(token) }
}

/** The plain text that a handshake is refused with. */
function refuse(code: (TokenAuthentication & { ok: false })['code']) {
  if (code === 'database-unavailable') return { status: 503, body: 'Service Unavailable\n' }
  if (code === 'token-limited') return { status: 429, body: 'Too Many Requests\n' }
  return code === 'holder-inactive'
    ? { status: 403, body: 'Forbidden\n' }
    : { status: 401, body: 'Unauthorized\n' }
}

/**
 * Whether a page may listen. One of a trusted origin may; one that may only read answers (CORS) needs a token that it
 * holds itself, and not the cookie.
 */
function mayListen(header: Handshake['header'], isFromCookie: boolean, { config }: Context): boolean {
  if (isOriginTrusted(header('origin'), header('host'), config.cookieOrigins)) return true
  return !isFromCookie && isOriginReadable(header('origin'), config.corsOrigins)
}

/**
 * Check the session again once the socket is open. Whoever ended it between the handshake and the opening could not
 * close a socket that the hub did not know yet.
 */
async function checkAgain({ identify, session }: State, ctx: Context): Promise<void> {
  const found = await identify()
  if (!found.ok && (found.code === 'unauthorized' || found.code === 'holder-inactive'))
    ctx.hub.endSessions([session.sessionId])
}

/** The ping in a message; null for any other message. */
function readPing(data: Uint8Array): HubPing | null {
  try {
    const said = JSON.parse(Buffer.from(data).toString())
    if (said?.seen?.length > SEEN_MAX) return null
    const [error, ping] = validate(said, HubPing, { coerce: true })
    return error === undefined ? ping : null
  } catch {
    return null
  }
}

/** When the workloads that a browser shows were last heard of. No frame tells of that: it changes all the time. */
function lastSeen(ctx: Context, ids: readonly string[]): Record<string, string> {
  const seen: Record<string, string> = {}
  for (const id of ids) {
    const workload = ctx.fleet.workload(id)
    if (workload !== null) seen[id] = workload.lastSeenAt.toISOString()
  }
  return seen
}

/**
 * The live channel of a browser: frames go to the browser, and its pings are answered, so that it can tell a lost
 * connection from a quiet one.
 */
export default defineSocket<State>({
  listener: 'api',
  path: '/ws',
  access: signedIn(),
  limits: {
    ...BROWSER_SOCKET,
    messageBytesMax: () => BROWSER_SOCKET.messageBytesMax,
    waitingBytesMax: () => BROWSER_SOCKET.waitingBytesMax,
  },
  async admit(handshake, ctx) {
    const { identify, isFromCookie } = readToken(handshake, ctx)
    const found = await identify()
    if (!found.ok) return { accept: false, ...refuse(found.code), headers: PLAIN }
    if (!mayListen(handshake.header, isFromCookie, ctx))
      return { accept: false, status: 403, body: 'Forbidden\n', headers: PLAIN }
    const { sessionId, expiresAt } = found.user
    return {
      accept: true,
      state: { identify, session: { sessionId, expiresAt }, client: null, readAtMs: null },
    }
  },
  open(socket, state, ctx) {
    const client: HubClient = {
      send: (frames) => socket.sendTexts(frames),
      close: (code, reason) => socket.close(code, reason),
      drop: () => socket.drop(),
    }
    state.client = client
    ctx.hub.add(client, state.session)
    void checkAgain(state, ctx).catch((error) =>
      ctx.log.error({ err: error }, 'session was not checked again'),
    )
  },
  message(_socket, state, data, _isBinary, ctx) {
    const nowMs = ctx.clock.monotonicMs()
    if (state.client === null) return
    if (state.readAtMs !== null && nowMs - state.readAtMs < READ_EVERY_MS) return
    // Before it is read: a message that is no ping costs as much.
    state.readAtMs = nowMs
    const ping = readPing(data)
    if (ping === null) return
    ctx.hub.answer(state.client, { type: 'pong', seen: lastSeen(ctx, ping.seen) })
  },
  drain(_socket, state, ctx) {
    if (state.client !== null) ctx.hub.drained(state.client)
  },
  close(_socket, state, ctx) {
    if (state.client !== null) ctx.hub.remove(state.client)
  },
})
