import { type Api, isAway } from './api.ts'

/** How often something is looked at that is waited for. */
export const POLL_MS = 1_000
const LAST_POLLS_MS = 100

/**
 * Read something each second while it goes on; resolves with the last that was read, after `seconds` at the latest. A
 * service that is away meanwhile is asked again, since what goes on there may go on all the same. Throws what it said
 * last where it is still away when time is up, and at once any other failure.
 */
export async function waitWhile<Body>(
  api: Api,
  { path, first, seconds }: { path: string; first: Body; seconds: number },
  goesOn: (now: Body) => boolean,
): Promise<Body> {
  const endMs = performance.now() + seconds * 1_000
  const leftMs = () => endMs - performance.now()
  let now = first
  let away: unknown = null
  while (goesOn(now) && leftMs() > 0) {
    // Near the end the looks are closer together: also a wait of a second looks once more.
    const pauseMs = Math.min(POLL_MS, Math.max(leftMs() / 2, LAST_POLLS_MS))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    if (leftMs() <= 0) break
    try {
      now = await api.get<Body>(path, leftMs())
      away = null
    } catch (error) {
      if (!isAway(error)) throw error
      // A look that the end of the wait cut off says nothing of the service.
      if (leftMs() > 0) away = error
    }
  }
  if (away !== null) throw away
  return now
}
