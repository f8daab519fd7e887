import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** The answer to a sign-in, as the browser brings it: a code, or that the person said no. */
type BroughtAnswer = { kind: 'code'; code: string } | { kind: 'denied' }

/** How waiting for the answer ended; `overheard` where the address that leads to the question was opened twice. */
export type BrowserAnswer = BroughtAnswer | { kind: 'overheard' }

/** How a sign-in ended, as the page of the service says it. */
export type LoginEnd = 'done' | 'denied' | 'failed'

/** Waits on this machine for the one answer that carries the sign-in's `state`. */
export interface AnswerListener {
  port: number
  /**
   * Make an address of this listener that leads to another one, once, and says nothing about it. A second call ends the
   * sign-in: one of both callers is not the browser, and whoever knows the question can have somebody else confirm it.
   */
  leadOnce(to: string): string
  /** Resolves with the answer; null when none came in time. */
  wait(timeoutMs: number): Promise<BrowserAnswer | null>
  /** Send the browser that brought the answer to a page that says how the sign-in ended, and stop listening. */
  close(end: LoginEnd): Promise<void>
}

/** Connections that have not said what they want; a further one takes the place of the oldest. */
const SILENT_MAX = 16
/** Presses of the button of one browser that are answered together. */
const WAITING_MAX = 16
const HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Content-Type': 'text/plain; charset=utf-8',
  Connection: 'close',
}

/**
 * Listen on a free port of 127.0.0.1. `pageOf` is the address of the service's page for each end. No code counts before
 * `leadSettlesMs` after the first call of the address that leads to the question: a program that is faster than the
 * browser must not have answered before the browser calls.
 */
export async function openAnswerListener(
  state: string,
  pageOf: (end: LoginEnd) => string,
  leadSettlesMs: number,
): Promise<AnswerListener> {
  let take: (answer: BrowserAnswer | null) => void = () => {}
  const answered = new Promise<BrowserAnswer | null>((resolve) => {
    take = resolve
  })
  /** The calls that brought the answer: the first one counts, and all learn how the sign-in ended. */
  const waiting: ServerResponse[] = []
  let lead: { path: string; to: string; calledAtMs: number | null } | null = null
  let settling: NodeJS.Timeout | undefined
  const server = createOpenServer((request, response) => {
    if (lead !== null && isOurs(request, port) && request.url === lead.path) {
      const isFirst = lead.calledAtMs === null
      response.writeHead(303, { ...HEADERS, Location: isFirst ? lead.to : pageOf('failed') })
      response.end()
      if (isFirst) lead.calledAtMs = performance.now()
      else take({ kind: 'overheard' })
      return
    }
    const answer = readAnswer(request, port, state)
    // Any page in the browser can call this port: a call without the state neither ends nor changes the sign-in.
    if (answer === null || waiting.length === WAITING_MAX) {
      response.writeHead(answer === null ? 400 : 409, HEADERS)
      response.end('This is not the answer to a sign-in that is waited for.\n')
      return
    }
    waiting.push(response)
    // A second press of the button: the browser has given up the call of the first one, and waits for this one's page.
    if (waiting.length > 1) return
    const calledAtMs = answer.kind === 'code' ? (lead?.calledAtMs ?? null) : null
    if (calledAtMs === null) take(answer)
    else settling = setTimeout(() => take(answer), calledAtMs + leadSettlesMs - performance.now())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    leadOnce(to) {
      lead = { path: `/${randomBytes(32).toString('base64url')}`, to, calledAtMs: null }
      return `http://127.0.0.1:${port}${lead.path}`
    },
    async wait(timeoutMs) {
      const timer = setTimeout(() => take(null), timeoutMs)
      return answered.finally(() => clearTimeout(timer))
    },
    async close(end) {
      clearTimeout(settling)
      await Promise.all(waiting.map((response) => sendOn(response, pageOf(end))))
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Send the browser on to another page; resolves once that has left. */
async function sendOn(response: ServerResponse, to: string): Promise<void> {
  // A browser that has given its request up closed the response before: that is told once.
  const sent = response.closed ? null : once(response, 'close')
  response.writeHead(303, { ...HEADERS, Location: to })
  response.end()
  await sent
}

/** A server that always has room for one more caller: of those that say nothing the oldest has to go. */
function createOpenServer(answer: RequestListener): Server {
  const silent = new Set<Socket>()
  const server = createServer(
    // It looks for those that are over their time at the interval, which is half a minute by default.
    { connectionsCheckingInterval: 1_000, headersTimeout: 5_000, requestTimeout: 5_000 },
    (request, response) => {
      silent.delete(request.socket)
      answer(request, response)
    },
  )
  server.on('connection', (socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
    const [oldest] = silent
    if (silent.size > SILENT_MAX) oldest?.destroy()
  })
  return server
}

/** Refuse other host names: somebody else's name server may let them lead to this machine (DNS rebinding). */
const isOurs = ({ method, headers }: IncomingMessage, port: number): boolean =>
  method === 'GET' && headers.host === `127.0.0.1:${port}`

function readAnswer(request: IncomingMessage, port: number, state: string): BroughtAnswer | null {
  if (!isOurs(request, port)) return null
  const target = request.url ?? ''
  if (!target.startsWith('/?')) return null
  const query = new URLSearchParams(target.slice(2))
  if (query.get('state') !== state) return null
  const code = query.get('code') ?? ''
  if (code !== '') return { kind: 'code', code }
  return query.get('error') === 'denied' ? { kind: 'denied' } : null
}
