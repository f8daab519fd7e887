import type { BodyLimit, BodyShare } from './body-room.ts'
import type { Connections } from './connection-room.ts'
import type { Listener, ListenerHandlers, RawRequest } from './listener.ts'
import { isWhole } from './reply-body.ts'
import type { Anchor } from './uws-anchor.ts'
import type { HttpRequest, HttpResponse, TemplatedApp } from './uws-library.ts'
import { lastReply, staysOpen, withoutText, writeReply } from './uws-reply.ts'

/** The textual form of a peer address; IPv4 mapped into IPv6 is shown as IPv4. */
export function formatAddress(raw: ArrayBuffer): string {
  const bytes = new Uint8Array(raw)
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.length !== 16) return ''
  const isMapped = bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
  if (isMapped) return bytes.subarray(12).join('.')
  const groups: string[] = []
  for (let i = 0; i < 16; i += 2) groups.push(((bytes[i]! << 8) | bytes[i + 1]!).toString(16))
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1)
}

/** Lists to which each proxy may add a line of its own: who reads the first line alone believes the client. */
const JOINED_HEADERS = new Set(['x-forwarded-for', 'x-forwarded-proto'])

/** Where a body ends: a proxy may count another line than the library does, or know another encoding. */
const FRAMING_HEADERS = new Map([
  ['content-length', /^\d+$/],
  ['transfer-encoding', /^chunked$/i],
])

type Headers = Pick<RawRequest, 'header' | 'headers'> & {
  /** Whether every reader sees the end of the body at the same place. */
  isFramedPlainly: boolean
}

/** The headers of a request, which the library takes back when its handler returns. */
export function copyHeaders(request: HttpRequest): Headers {
  const headers = new Map<string, string>()
  let framings = 0
  let isFramedPlainly = true
  request.forEach((key, value) => {
    const framing = FRAMING_HEADERS.get(key)
    if (framing !== undefined && (++framings > 1 || !framing.test(value))) isFramedPlainly = false
    const before = headers.get(key)
    // The first of any other repeated header counts (a second Authorization or Cookie is ignored).
    if (before === undefined) headers.set(key, value)
    else if (JOINED_HEADERS.has(key)) headers.set(key, `${before}, ${value}`)
  })
  return { header: (name) => headers.get(name) ?? '', headers: () => headers, isFramedPlainly }
}

interface RequestState {
  /** Called when all of the request is here. */
  onWhole: () => void
  isWhole: boolean
  isAborted: boolean
  isOverBudget: boolean
  isTooSlow: boolean
  /** Called when the peer leaves, for an answer that waits until it may go on. */
  onAborted: () => void
  /** Called then as well, for work that nobody waits for any more. */
  abortListeners: (() => void)[]
}

const newState = (): RequestState => ({
  onWhole: () => undefined,
  isWhole: false,
  isAborted: false,
  isOverBudget: false,
  isTooSlow: false,
  onAborted: () => undefined,
  abortListeners: [],
})

function cameWhole(state: RequestState): void {
  state.isWhole = true
  state.onWhole()
}

/** A body on its way in. */
interface IncomingBody {
  done: Promise<Uint8Array | 'too-large' | 'aborted'>
  /** See `RawRequest.holdBodyFor`. */
  holdFor(userId: string): boolean
  /** Throw away what came and what still comes, and give back what it took of the budget. */
  discard(): void
}

/** Collect a body up to a limit and its share of a common room; what comes after is thrown away as it arrives. */
function collectBody(
  response: HttpResponse,
  { bytesMax, wholeWithinMs }: BodyLimit,
  openShare: (cut: () => void) => BodyShare | null,
  state: RequestState,
): IncomingBody {
  let chunks: Uint8Array[] | null = []
  let timer: NodeJS.Timeout | undefined
  let length = 0
  let settle: (value: Uint8Array | 'too-large' | 'aborted') => void = () => {}
  const done = new Promise<Uint8Array | 'too-large' | 'aborted'>((resolve) => {
    settle = resolve
  })
  const giveUp = (outcome: 'too-large' | 'aborted') => {
    chunks = null
    clearTimeout(timer)
    share?.giveBack()
    settle(outcome)
  }
  const turnAway = () => {
    state.isOverBudget = true
    giveUp('aborted')
  }
  const stopWaiting = () => {
    state.isTooSlow = true
    giveUp('aborted')
  }
  const share = openShare(stopWaiting)
  const waitForRest = () => {
    if (wholeWithinMs !== undefined) timer ??= setTimeout(stopWaiting, wholeWithinMs)
  }
  response.onAborted(() => {
    state.isAborted = true
    giveUp('aborted')
    state.onAborted()
    for (const listener of state.abortListeners) listener()
  })
  response.onData((chunk, isLast) => {
    // Also of a body that was thrown away: its request has come whole, and is waited for.
    if (isLast) cameWhole(state)
    if (chunks === null) return
    length += chunk.byteLength
    if (length > bytesMax) return giveUp('too-large')
    if (share !== null && !share.take(chunk.byteLength)) return turnAway()
    // The chunk is only valid during this callback.
    if (chunk.byteLength > 0) chunks.push(new Uint8Array(chunk.slice(0)))
    if (!isLast) return waitForRest()
    clearTimeout(timer)
    share?.whole()
    settle(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
  })
  const holdFor = (userId: string): boolean => {
    const hasRoom = share === null || share.holdFor(userId)
    if (!hasRoom) turnAway()
    return hasRoom
  }
  return { done, holdFor, discard: () => giveUp('aborted') }
}

/** For how long an answer waits for the rest of a request's body that nobody reads any more. */
const REST_MS = 1_000

/**
 * Resolves once a request is here whole, to true, or to false where its rest does not come soon, or its peer has left. The
 * library lets a connection that asks for nothing more end only where it was answered after the end of its request was told,
 * which for one without a body follows on the handler.
 */
function untilWhole(state: RequestState): Promise<boolean> {
  if (state.isWhole) return Promise.resolve(true)
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), REST_MS)
    const settle = (isWhole: boolean) => {
      clearTimeout(timer)
      resolve(isWhole)
    }
    const { onWhole } = state
    state.onWhole = () => {
      onWhole()
      settle(true)
    }
    state.abortListeners.push(() => settle(false))
  })
}

/**
 * The request as handlers see it: what belongs to the library's own object is copied, which is gone after this turn.
 */
function readRequest(
  request: HttpRequest,
  { header, headers }: Headers,
  response: HttpResponse,
  handlers: ListenerHandlers,
  state: RequestState,
): RawRequest {
  const method = request.getMethod().toUpperCase()
  const path = request.getUrl()
  const peerAddress = formatAddress(response.getRemoteAddress())
  const limit = handlers.bodyLimit(method, path)
  const openShare = (cut: () => void) => handlers.bodyRoom?.begin(peerAddress, header, limit, cut) ?? null
  const body = collectBody(response, limit, openShare, state)
  return {
    method,
    path,
    query: request.getQuery() ?? '',
    peerAddress,
    header,
    headers,
    body: () => body.done,
    isAborted: () => state.isAborted,
    onAborted: (listener) => void state.abortListeners.push(listener),
    isOverBudget: () => state.isOverBudget,
    isTooSlow: () => state.isTooSlow,
    holdBodyFor: body.holdFor,
    discardBody: body.discard,
  }
}

/**
 * Answer 400, and close: what follows on the connection may be the body of this request, or another one. It is answered
 * when all that was read is parsed, and until then the library closes the connection at what it takes for another one.
 */
export function refuseFraming(response: HttpResponse): void {
  let isAborted = false
  response.onAborted(() => {
    isAborted = true
  })
  setImmediate(() => {
    if (isAborted) return
    response.cork(() => {
      response.writeStatus('400 Bad Request').writeHeader('Content-Type', 'text/plain; charset=utf-8')
      response.end('Bad Request\n', true)
    })
  })
}

/** Whether the peer has asked for nothing more to follow: the library closes after its answer, and goes by the length. */
const isLastOf = ({ header }: Pick<RawRequest, 'header'>): boolean =>
  header('connection').length === 'close'.length

/** Tell that a connection is asked something, and once, by what is given back, that this is over. */
export function countAsked(
  connections: Connections | null | undefined,
  address: string,
): (stays: boolean) => void {
  let isOver = false
  connections?.asked(address)
  return (stays) => {
    if (!isOver) connections?.answered(address, stays)
    isOver = true
  }
}

/** Hand every request of an app that is not the anchor's own to the handlers; counts those without an answer. */
export function serveRequests(
  handlers: ListenerHandlers,
  anchor: Anchor,
): { serve(app: TemplatedApp): void } & Pick<Listener, 'inFlight' | 'answering' | 'mark'> {
  let inFlight = 0
  let answering = 0
  let since = { answering: 0 }
  const serve = (app: TemplatedApp) =>
    app.any('/*', (response, request) => {
      const headers = copyHeaders(request)
      if (!headers.isFramedPlainly) return refuseFraming(response)
      if (anchor.keep(request.getUrl(), response)) return
      const state = newState()
      const raw = readRequest(request, headers, response, handlers, state)
      const ended = countAsked(handlers.connections, raw.peerAddress)
      state.abortListeners.push(() => ended(false))
      let counted: { answering: number } | null = null
      /** What nobody waits for once there is an answer: a peer may take long to read it. */
      const answered = () => {
        raw.discardBody()
        state.onWhole = () => undefined
        if (counted === null) return
        counted.answering--
        answering--
        counted = null
      }
      inFlight++
      state.onWhole = () => {
        counted = since
        counted.answering++
        answering++
      }
      handlers
        .handle(raw)
        .then(async (said) => withoutText((await untilWhole(state)) ? said : lastReply(said)))
        .then(async (reply) => {
          if (isWhole(reply.body)) answered()
          await writeReply(response, reply, raw.method === 'HEAD', state)
          ended(staysOpen(reply) && !isLastOf(raw))
        })
        .catch(() => {
          ended(false)
          if (!state.isAborted) response.close()
        })
        .finally(() => {
          answered()
          inFlight--
        })
    })
  return {
    serve,
    inFlight: () => inFlight,
    answering: () => answering,
    mark() {
      const marked = since
      since = { answering: 0 }
      return { answering: () => marked.answering }
    },
  }
}
