import { signal } from '@preact/signals'
import type { HubFrame, HubPing } from '../../../lib/wire/hub.ts'
import { askAgain, onAnswered } from './api.ts'
import { listWatched, seenAt } from './seen.ts'
import { endSession } from './session.ts'

/** How the live socket stands. */
export type HubState = 'connecting' | 'live' | 'away'

/** How often the server is pinged, and how long it may take to answer a ping or to accept the socket. */
const PING_MS = 3_000
const ANSWER_MS = 4_000
const LOOK_MS = 500

/** The state of the live socket. */
export const hubState = signal<HubState>('connecting')
/** When the server was last heard on it, as ISO time; null before the first time. */
export const heardAt = signal<string | null>(null)
/** Counts up whenever frames may have been missed: what is shown is to be fetched again. */
export const resyncCount = signal(0)

const listeners = new Set<(frame: HubFrame) => void>()
let socket: WebSocket | null = null
let attempt = 0
let timer: ReturnType<typeof setTimeout> | undefined
let wasLive = false
/** When the ping was sent, or the socket opened, that has no answer yet; null where nothing is waited for. */
let askedAtMs: number | null = null
let heardAtMs = 0
let pingedAtMs = 0

function noteHeard(): void {
  askedAtMs = null
  heardAtMs = Date.now()
}

/** Hear every frame. Returns how to stop. */
export function onFrame(listener: (frame: HubFrame) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function handleMessage(data: unknown): void {
  if (typeof data !== 'string') return
  let frame: HubFrame
  try {
    frame = JSON.parse(data) as HubFrame
  } catch {
    return
  }
  if (frame === null || typeof frame !== 'object' || typeof frame.type !== 'string') return
  if (frame.type === 'pong') seenAt.value = frame.seen
  if (frame.type === 'resync') resyncCount.value++
  for (const listener of listeners) listener(frame)
}

function loseSocket(): void {
  socket = null
  if (wasLive) heardAt.value = new Date(heardAtMs).toISOString()
  hubState.value = 'away'
}

/**
 * A socket whose other end is frozen, or was cut off without a word, stays open for minutes: it is asked, and one that
 * does not answer is given up. A page in the background looks seldom, so only what was asked counts as unanswered.
 */
function lookAtSocket(): void {
  if (socket === null) return
  const nowMs = Date.now()
  if (askedAtMs !== null) {
    if (nowMs - askedAtMs < ANSWER_MS) return
    const silent = socket
    loseSocket()
    silent.close()
    // What was asked of the same process gets no answer either.
    askAgain()
    scheduleReconnect()
  } else if (nowMs - pingedAtMs >= PING_MS) {
    askedAtMs = nowMs
    pingedAtMs = nowMs
    socket.send(JSON.stringify({ type: 'ping', seen: listWatched() } satisfies HubPing))
  }
}

function scheduleReconnect(): void {
  // Twice within a second, as another process may serve, or soon decide; then after two, doubled up to thirty. A part
  // of it is at random, so that browsers do not return all at once.
  const base = Math.min(1000 * 2 ** (attempt - 1), 30_000)
  const waitMs = attempt < 2 ? Math.random() * 1000 : Math.min(base * (1 + Math.random() * 0.2), 30_000)
  attempt++
  timer = setTimeout(connectHub, waitMs)
}

/** Open the live socket and keep it open. */
export function connectHub(): void {
  clearTimeout(timer)
  if (socket !== null) return
  const scheme = window.location.protocol === 'https:' ? 'wss' : 'ws'
  const opened = new WebSocket(`${scheme}://${window.location.host}/ws`)
  socket = opened
  askedAtMs = Date.now()
  if (hubState.value !== 'away') hubState.value = 'connecting'
  opened.onopen = () => {
    attempt = 0
    noteHeard()
    hubState.value = 'live'
    if (wasLive) resyncCount.value++
    wasLive = true
  }
  opened.onmessage = (event) => {
    if (socket !== opened) return
    noteHeard()
    handleMessage(event.data)
  }
  opened.onclose = (event) => {
    if (socket !== opened) return
    loseSocket()
    if (event.code === 1008) {
      endSession()
      return
    }
    scheduleReconnect()
  }
}

/** Close the live socket for good, as on signing out. */
export function disconnectHub(): void {
  clearTimeout(timer)
  const open = socket
  socket = null
  wasLive = false
  attempt = 0
  askedAtMs = null
  heardAt.value = null
  hubState.value = 'connecting'
  open?.close()
}

setInterval(lookAtSocket, LOOK_MS)

/** Whoever waits for the next attempt need not: it may succeed at once. */
function connectNow(): void {
  if (socket === null && hubState.value === 'away') connectHub()
}

// When a laptop wakes or a network returns.
window.addEventListener('online', () => {
  attempt = 0
  connectNow()
})

// Who has got an answer from the server is not to be told for half a minute that it is away.
onAnswered(connectNow)

// The browser knows sooner than an unanswered ping that the network is gone. It may be wrong about a server on the same
// machine, so the attempts go on.
window.addEventListener('offline', () => {
  const lost = socket
  if (lost === null) return
  loseSocket()
  lost.close()
  scheduleReconnect()
})
