import type { HubFrame } from '../../../lib/wire/hub.ts'
import { onFrame, resyncCount } from './hub.ts'

/** Frames come in bursts: what they touch is fetched once, this long after the first. */
const SOON_MS = 250

/** From how many workloads on a fleet is large. */
const LARGE_FLEET = 3_000

/** How long frames are gathered before a fleet of so many is looked at again: a large one longer, with a random part for each browser. */
export const soonFor = (count: number): number =>
  count > LARGE_FLEET ? 2_000 + Math.random() * 2_000 : SOON_MS

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
