/** One row of numbers under a uid. */
export interface PollStream {
  sequenceNum: number
  source: string
  /** A digest of the last request's body, to tell a request that is sent again from a new one. */
  lastBodyDigest: string
}

/** What is known of one request by its number. */
export interface Followed {
  stream: PollStream
  /** It is of the agent that came second. */
  isDuplicate: boolean
  /** From this request on there are two: those before it were taken for one agent's. */
  isToldApart: boolean
}

/** Tells the requests under one uid apart where they are those of two agents. */
export interface PollStreams {
  /** The stream that a request with this number from this address belongs to. */
  follow(sequenceNum: number, source: string): Followed
}

/** So often must the one row go on after the other did before they are those of two agents. */
const SIGNS_MIN = 3
/** After so many requests of one row in turn the other one is over. */
const ALONE_AFTER = 100
/** So many numbers may be missing in a row. */
const GAP_MAX = 16

/**
 * Each request may come on a connection of its own, so that only the numbers tell: one agent counts on, starts anew,
 * leaves numbers out or says one again; where two count under one uid, two rows go on in turn. The row that began
 * later is the duplicate's. A number that comes late makes a row, too: hence several signs are asked for.
 */
export function createPollStreams(): PollStreams {
  let current: PollStream | null = null
  let other: PollStream | null = null
  /** The one of both that began first. */
  let elder: PollStream | null = null
  let signs = 0
  let inTurn = 0

  const areTwo = () => other !== null && signs >= SIGNS_MIN

  const begin = (sequenceNum: number, source: string): PollStream => {
    // A third row takes the place of one: what was seen of those two says nothing of these.
    if (other !== null) signs = 0
    other = current
    current = { sequenceNum, source, lastBodyDigest: '' }
    elder = other ?? current
    inTurn = 0
    return current
  }

  const note = (stream: PollStream, hasAdvanced: boolean) => {
    if (stream !== current) {
      other = current
      current = stream
      // A number said again says nothing: some agents never count.
      if (hasAdvanced) signs += 1
      inTurn = 0
    } else if (hasAdvanced && ++inTurn >= ALONE_AFTER) {
      other = null
      elder = stream
      signs = 0
      inTurn = 0
    }
  }

  return {
    follow(sequenceNum, source) {
      const wereTwo = areTwo()
      const known = choose([current, other], sequenceNum, source)
      const stream = known ?? begin(sequenceNum, source)
      if (known !== null) {
        note(known, sequenceNum !== known.sequenceNum)
        Object.assign(known, { sequenceNum, source })
      }
      return { stream, isDuplicate: areTwo() && stream !== elder, isToldApart: areTwo() && !wereTwo }
    },
  }
}

/** Which stream a request goes on, the last one first where both would do; null when it is none of them. */
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
