import type { HubFrame } from '../../../lib/wire/hub.ts'
import { onFrame, resyncCount } from './hub.ts'

/** Frames come in bursts: what they touch is fetched once, this long after the first. */
const SOON_MS = 250

/** Fetches again after a reconnect, and shortly after a frame that touches what is shown. */
export interface Refetching {
  /** Fetch now; what is being fetched is given up. */
  run(fetch: (signal: AbortSignal) => Promise<void>): void
  stop(): void
}

/** Begin to fetch again whenever `again` is due, until it is stopped. */
export function startRefetching(
  touches: (frame: HubFrame) => boolean,
  again: () => void,
  soonMs = () => SOON_MS,
): Refetching {
  let controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isFetching = false
  let isDue = false
  const soon = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      // What is on its way is waited for: frames that come faster than answers would keep the page empty for ever.
      if (isFetching) isDue = true
      else again()
    }, soonMs())
  }
  const fetchNow = async (fetch: (signal: AbortSignal) => Promise<void>, { signal }: AbortController) => {
    isFetching = true
    isDue = false
    try {
      await fetch(signal)
    } finally {
      if (!signal.aborted) isFetching = false
    }
    if (isDue && !signal.aborted) soon()
  }
  const stopFrames = onFrame((frame) => {
    if (touches(frame)) soon()
  })
  let seen = resyncCount.peek()
  const stopResync = resyncCount.subscribe((count) => {
    if (count !== seen) soon()
    seen = count
  })
  return {
    run(fetch) {
      controller.abort()
      controller = new AbortController()
      void fetchNow(fetch, controller)
    },
    stop() {
      controller.abort()
      clearTimeout(timer)
      stopFrames()
      stopResync()
    },
  }
}
