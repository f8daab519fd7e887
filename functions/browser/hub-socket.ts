import { validate } from 'superstruct'
import type { HubClient } from '../../lib/hub/browser-queue.ts'
import { HubPing } from '../../lib/wire/hub.ts'
import type { Context } from '../../runtime/context.ts'
import { readCredential } from '../../runtime/credentials.ts'
import { defineSocket, type Handshake, signedIn } from '../../runtime/define.ts'
import { isOriginReadable, isOriginTrusted } from '../../runtime/origin.ts'

/** What is kept of one browser's socket. */
interface State {
  token: string
  session: { sessionId: string; expiresAt: Date }
  client: HubClient | null
  /** Monotonic time of the last answer; null before the first. */
  answeredAtMs: number | null
}

/** A browser asks every few seconds; one that asks more often is answered no more often than this. */
const ANSWER_EVERY_MS = 1_000

const PLAIN = { 'Content-Type': 'text/plain; charset=utf-8' }

/** Header or cookie, and only where there is neither the query's token, for clients that are no browsers. */
function readToken(handshake: Handshake): { token: string; isFromCookie: boolean } {
  const credential = readCredential(handshake.header)
  if (credential !== null) return { token: credential.token, isFromCookie: credential.source === 'cookie' }
  const token = (new URLSearchParams(handshake.query).get('token') ?? '').trim()
  return { token, isFromCookie: false }
}

/** A page that holds the token itself needs no more trust than to read answers. */
function mayListen(header: Handshake['header'], isFromCookie: boolean, { config }: Context): boolean {
  if (isOriginTrusted(header('origin'), header('host'), config.cookieOrigins)) return true
  return !isFromCookie && isOriginReadable(header('origin'), config.corsOrigins)
}

/** A session that ended between the handshake and the opening is nobody's to close but ours. */
async function checkAgain({ token, session }: State, ctx: Context): Promise<void> {
  const found = await ctx.identity.authenticate(token)
  if (!found.ok && found.code === 'unauthorized') ctx.hub.endSessions([session.sessionId])
}

/** What a browser asks; null for anything else. */
function readPing(data: Uint8Array): HubPing | null {
  try {
    const [error, ping] = validate(JSON.parse(Buffer.from(data).toString()), HubPing, { coerce: true })
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

/** The browser's live channel: frames go one way, and a ping is answered, so that silence means something. */
export default defineSocket<State>({
  listener: 'api',
  path: '/ws',
  access: signedIn(),
  limits: {
    messageBytesMax: () => 4_096,
    backpressureBytesMax: 1_048_576,
    idleSeconds: 60,
    closeOnBackpressure: true,
  },
  async admit(handshake, ctx) {
    const { token, isFromCookie } = readToken(handshake)
    const found = token === '' ? null : await ctx.identity.authenticate(token)
    if (found === null || !found.ok) {
      const isAway = found?.code === 'database-unavailable'
      return isAway
        ? { accept: false, status: 503, body: 'Service Unavailable\n', headers: PLAIN }
        : { accept: false, status: 401, body: 'Unauthorized\n', headers: PLAIN }
    }
    if (!mayListen(handshake.header, isFromCookie, ctx))
      return { accept: false, status: 403, body: 'Forbidden\n', headers: PLAIN }
    const { sessionId, expiresAt } = found.user
    return {
      accept: true,
      state: { token, session: { sessionId, expiresAt }, client: null, answeredAtMs: null },
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
    if (state.answeredAtMs !== null && nowMs - state.answeredAtMs < ANSWER_EVERY_MS) return
    const ping = readPing(data)
    if (ping === null) return
    state.answeredAtMs = nowMs
    ctx.hub.answer(state.client, { type: 'pong', seen: lastSeen(ctx, ping.seen) })
  },
  drain(_socket, state, ctx) {
    if (state.client !== null) ctx.hub.drained(state.client)
  },
  close(_socket, state, ctx) {
    if (state.client !== null) ctx.hub.remove(state.client)
  },
})
