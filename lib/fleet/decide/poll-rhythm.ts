/** How often an HTTP agent polls, as far as that is known. */
export interface PollRhythm {
  /** 0 while it is not known. */
  intervalMs: number
  /** Heard time of its last request; null when that is not known. */
  lastMs: number | null
  /** How long it has kept to its interval, up to what makes it established. */
  keptMs: number
  /** A recent silence that was far longer than the interval; a second one means a slower rhythm. 0 for none. */
  absenceMs: number
}

/** The rhythm of an agent of which no poll was seen. */
export const NO_RHYTHM: PollRhythm = { intervalMs: 0, lastMs: null, keptMs: 0, absenceMs: 0 }

/** The rhythm of a poller from the interval that was stored before this process started. */
export const storedRhythm = (intervalMs: number): PollRhythm => ({
  ...NO_RHYTHM,
  intervalMs: Math.min(INTERVAL_MAX_MS, intervalMs),
  keptMs: ESTABLISHED_MS,
})

/** A poller is gone after this many of its intervals, and never before the minimum. */
const MISSED_POLLS = 3
const GONE_MIN_MS = 90_000
/** The longest interval that is assumed: a longer one counts as this, so that a dead poller is noticed at last. */
const INTERVAL_MAX_MS = 1_800_000
/** A rhythm that was kept for this long is not changed by one long silence. */
const ESTABLISHED_MS = 60_000

/** After how much silence a poller counts as gone. */
export const goneAfterMs = ({ intervalMs }: Pick<PollRhythm, 'intervalMs'>): number =>
  Math.max(GONE_MIN_MS, MISSED_POLLS * intervalMs)

/** The time to add for a poller, which gets an offer and answers it only when it polls. */
export function pollSlackMs({
  connection,
  rhythm,
}: {
  connection: { transport: string } | null
  rhythm: Pick<PollRhythm, 'intervalMs'>
}): number {
  return connection?.transport === 'http' ? goneAfterMs(rhythm) : 0
}

/** What a duration shrinks to while shorter ones are seen: it halves in as much time as it is long. */
const fade = (valueMs: number, timeMs: number): number =>
  valueMs === 0 ? 0 : valueMs * 2 ** (-timeMs / valueMs)

/**
 * The rhythm after one more request. Requests that come sooner, because the agent has something to say, shorten it
 * slowly. One silence long enough to count as gone does not change an established rhythm; after a second such silence
 * the shorter of the two is the new interval.
 */
export function notePoll(rhythm: PollRhythm, nowMs: number): PollRhythm {
  const { intervalMs, lastMs, keptMs, absenceMs } = rhythm
  if (lastMs === null) return { ...rhythm, lastMs: nowMs }
  const gapMs = Math.min(nowMs - lastMs, INTERVAL_MAX_MS)
  if (gapMs <= 0) return rhythm
  const wasGone = nowMs - lastMs >= goneAfterMs(rhythm)
  if (wasGone && keptMs >= ESTABLISHED_MS) {
    return absenceMs === 0
      ? { ...rhythm, lastMs: nowMs, absenceMs: gapMs }
      : { intervalMs: Math.min(absenceMs, gapMs), lastMs: nowMs, keptMs, absenceMs: 0 }
  }
  const next = { intervalMs: Math.max(gapMs, fade(intervalMs, gapMs)) }
  const faded = fade(absenceMs, gapMs)
  return {
    ...next,
    lastMs: nowMs,
    keptMs: Math.min(ESTABLISHED_MS, keptMs + gapMs),
    absenceMs: faded < goneAfterMs(next) ? 0 : faded,
  }
}
