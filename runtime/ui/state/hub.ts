import { signal } from '@preact/signals'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import { endSession } from './session.ts'

export type HubState = 'connecting' | 'live' | 'away'

/** The truth about the live socket. */
export const hubState = signal<HubState>('connecting')
/** Counts up whenever frames may have been missed: what is shown is to be fetched again. */
export const resyncCount = signal(0)

const listeners = new Set<(frame: HubFrame) => void>()
let socket: WebSocket | null = null
let attempt = 0
let timer: ReturnType<typeof setTimeout> | undefined
let wasLive = false

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
  if (frame.type === 'resync') resyncCount.value++
  for (const listener of listeners) listener(frame)
}

function scheduleReconnect(): void {
  // One second, doubled up to thirty, and a fifth at random so that browsers do not return all at once.
  const base = Math.min(1000 * 2 ** attempt, 30_000)
  attempt++
  timer = setTimeout(connectHub, Math.min(base * (1 + Math.random() * 0.2), 30_000))
}

/** Open the live socket and keep it open. */
export function connectHub(): void {
  clearTimeout(timer)
  if (socket !== null) return
  const scheme = window.location.protocol === 'https:' ? 'wss' : 'ws'
  const opened = new WebSocket(`${scheme}://${window.location.host}/ws`)
  socket = opened
  if (hubState.value !== 'away') hubState.value = 'connecting'
  opened.onopen = () => {
    attempt = 0
    hubState.value = 'live'
    if (wasLive) resyncCount.value++
    wasLive = true
  }
  opened.onmessage = (event) => handleMessage(event.data)
  opened.onclose = (event) => {
    if (socket !== opened) return
    socket = null
    hubState.value = 'away'
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
  hubState.value = 'connecting'
  open?.close()
}

// A laptop that wakes, or a network that returns, is worth an attempt at once.
window.addEventListener('online', () => {
  if (socket === null && hubState.value === 'away') {
    attempt = 0
    connectHub()
  }
})
