/** One run of sequence numbers under a uid: the requests of one agent, as far as they can be told apart. */
export interface PollStream {
  sequenceNum: number
  source: string
  /** All its requests so far came from one address. */
  isSteady: boolean
  /** The highest number since it first started anew (see `startAnew`); null where it never did. */
  highestSinceRestart: number | null
  /** A digest of the last request's body, to tell a request that is sent again from a new one. */
  lastBodyDigest: string
}

/** What the sequence number of a request says about it. */
export interface Followed {
  stream: PollStream
  /** It belongs to the stream that began later. */
  isDuplicate: boolean
  /**
   * With this request it became known that there are two agents; the earlier ones were taken for those of one agent.
   */
  isToldApart: boolean
}

/** Tells the requests under one uid apart where they are those of two agents. */
export interface PollStreams {
  /** The stream that a request with this number from this address belongs to. */
  follow(sequenceNum: number, source: string): Followed
}

/** How often the streams must have alternated before they count as those of two agents. */
const SIGNS_MIN = 3
/** After this many requests of one stream without one of the other, the other one has ended. */
const ALONE_AFTER = 100
/** Agents number their first request 0 or 1. */
const FIRST_NUMBER_MAX = 1
/** One agent that starts anew, and of whose first requests some are lost, is hardly seen with a higher number first. */
const EARLY_NUMBER_MAX = 3
/** How many sequence numbers may be missing within a stream. */
const GAP_MAX = 16

/**
 * Each request may come on a connection of its own, so that only the sequence numbers tell agents apart. One agent
 * counts on, starts anew, leaves numbers out or repeats one; where two agents count under one uid, two streams go on
 * alternately. The stream that began later is that of the duplicate. A delayed request begins a stream as well, so the
 * streams must alternate several times. A number that continues neither is a new start of one of the two: of the stream
 * from that address where they come from an address each, else of the one that starts anew again and again, which hides
 * neither from the other.
 */
export function createPollStreams(): PollStreams {
  let current: PollStream | null = null
  let other: PollStream | null = null
  /** The stream that began first. */
  let elder: PollStream | null = null
  let signs = 0
  let inTurn = 0

  const areTwo = () => other !== null && signs >= SIGNS_MIN

  const begin = (sequenceNum: number, source: string): PollStream => {
    // A third stream replaces one of the two: what was seen of those two says nothing about this pair.
    if (other !== null) signs = 0
    other = current
    current = { sequenceNum, source, isSteady: true, highestSinceRestart: null, lastBodyDigest: '' }
    elder = other ?? current
    inTurn = 0
    return current
  }

  /** The stream that starts anew with a request which continues none; null where that cannot be told. */
  const startAnew = (sequenceNum: number, source: string): PollStream | null => {
    if (current === null || other === null || !current.isSteady || !other.isSteady) return null
    const own = [current, other].filter((stream) => stream.source === source)
    const stream = own.length === 2 ? startedBefore(current, other, sequenceNum) : (own[0] ?? null)
    if (stream === null) return null
    const steady = stream === current ? other : current
    if (steady.highestSinceRestart !== null) return null
    stream.highestSinceRestart ??= sequenceNum
    stream.lastBodyDigest = ''
    note(stream, sequenceNum, source)
    return stream
  }

  const note = (stream: PollStream, sequenceNum: number, source: string) => {
    const hasAdvanced = sequenceNum !== stream.sequenceNum
    if (stream !== current) {
      if (isSign(stream, sequenceNum, current)) signs += 1
      other = current
      current = stream
      inTurn = 0
    } else if (hasAdvanced && ++inTurn >= ALONE_AFTER) {
      other = null
      elder = stream
      signs = 0
      inTurn = 0
    }
    advance(stream, sequenceNum, source)
  }

  return {
    follow(sequenceNum, source) {
      const wereTwo = areTwo()
      const known = choose([current, other], sequenceNum, source)
      if (known !== null) note(known, sequenceNum, source)
      const stream = known ?? startAnew(sequenceNum, source) ?? begin(sequenceNum, source)
      return { stream, isDuplicate: areTwo() && stream !== elder, isToldApart: areTwo() && !wereTwo }
    },
  }
}

/**
 * Of two streams from one address the one that started anew before, or else the one with the lower number, where this is
 * the number of a first request. A request that comes late has another number: it is no new start.
 */
function startedBefore(one: PollStream, two: PollStream, sequenceNum: number): PollStream | null {
  if (sequenceNum > FIRST_NUMBER_MAX) return null
  if (one.highestSinceRestart !== null) return one
  return two.highestSinceRestart !== null || two.sequenceNum < one.sequenceNum ? two : one
}

/** Does a request with this number, after one of the other stream, speak for two agents? */
function isSign(stream: PollStream, sequenceNum: number, before: PollStream | null): boolean {
  // One agent that has said a number says it again, or a lower one, only as it starts anew.
  const isBehind = before !== null && sequenceNum <= before.sequenceNum
  if (isBehind && sequenceNum > EARLY_NUMBER_MAX && sequenceNum === stream.sequenceNum + 1) return true
  // A repeated number is no sign of two agents: some agents never count.
  if (sequenceNum === stream.sequenceNum || stream.highestSinceRestart !== null) return false
  const reached = before?.highestSinceRestart ?? null
  if (before === null || reached === null) return true
  const isOneAddress = stream.isSteady && before.isSteady && stream.source === before.source
  // From several, one agent that starts anew could only have come upon the very next number.
  if (!isOneAddress) return sequenceNum > reached + 1
  // From one, it may come upon the next number of either stream, as it counts up again and misses some.
  return sequenceNum > reached + GAP_MAX && sequenceNum === stream.sequenceNum + 1
}

function advance(stream: PollStream, sequenceNum: number, source: string): void {
  const { highestSinceRestart: highest } = stream
  if (highest !== null) stream.highestSinceRestart = Math.max(highest, sequenceNum)
  if (stream.source !== source) stream.isSteady = false
  stream.sequenceNum = sequenceNum
  stream.source = source
}

/** The stream that a request continues, the one used last where both fit; null when it continues none. */
function choose(
  streams: readonly (PollStream | null)[],
  sequenceNum: number,
  source: string,
): PollStream | null {
  const isNext = (stream: PollStream) => sequenceNum === stream.sequenceNum + 1
  const isSame = (stream: PollStream) => sequenceNum === stream.sequenceNum
  const isNear = (stream: PollStream) => source === stream.source
  const isAhead = (stream: PollStream) =>
    sequenceNum > stream.sequenceNum && sequenceNum - stream.sequenceNum <= GAP_MAX
  const there = streams.filter((stream) => stream !== null)
  for (const fits of [
    (stream: PollStream) => isNext(stream) && isNear(stream),
    (stream: PollStream) => isSame(stream) && isNear(stream),
    isNext,
    (stream: PollStream) => isAhead(stream) && isNear(stream),
    isAhead,
  ]) {
    const found = there.find(fits)
    if (found !== undefined) return found
  }
  return null
}
