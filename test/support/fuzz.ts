import { expect } from 'vitest'

/** Whole numbers below `below`, the same for the same seed (mulberry32). */
export type Dice = (below: number) => number

/** Dice for a seed. */
export function diceOf(seed: number): Dice {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** The inputs and limits with which a parser is fuzzed. */
export interface FuzzOptions {
  /** Valid inputs, from which broken ones are made. */
  corpus: readonly Uint8Array[]
  /** Pieces of text that mean something to the parser; they are put in at random places. */
  words?: readonly string[]
  /** Number of broken inputs in a normal run; `MUSTER_FUZZ_ROUNDS` multiplies it. */
  rounds: number
  /** How many ms of processor time one input may take; a slower one counts as a hang. */
  withinMs?: number
}

const LENGTH_MAX = 65_536
const FACTOR = Number(process.env['MUSTER_FUZZ_ROUNDS'] ?? 1)
/** The test timeout for `vi.setConfig`, which grows with `MUSTER_FUZZ_ROUNDS`. */
export const FUZZ_TIMEOUT_MS = 60_000 * Math.max(1, FACTOR)
const FIRST_SEED = Number(process.env['MUSTER_FUZZ_SEED'] ?? 20_261_121)
const BOUNDARY_BYTES = [0x00, 0x01, 0x0a, 0x20, 0x7f, 0x80, 0xff]

/** Make one broken input. */
export function mutate(dice: Dice, corpus: readonly Uint8Array[], words: readonly string[]): Buffer {
  let bytes: Buffer = Buffer.from(corpus[dice(corpus.length)]!)
  for (let times = 1 + dice(6); times > 0; times--) bytes = mutateOnce(dice, bytes, corpus, words)
  return bytes.length > LENGTH_MAX ? bytes.subarray(0, LENGTH_MAX) : bytes
}

function mutateOnce(
  dice: Dice,
  bytes: Buffer,
  corpus: readonly Uint8Array[],
  words: readonly string[],
): Buffer {
  const at = dice(bytes.length + 1)
  const to = Math.min(bytes.length, at + 1 + dice(64))
  const insert = (piece: Uint8Array) => Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])
  switch (dice(9)) {
    case 0:
      return insert(Buffer.from([dice(256)]))
    case 1:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)])
    case 2:
      return bytes.subarray(0, at)
    case 3:
      // Repeat a piece many times, which makes deep nesting and long runs.
      return insert(Buffer.concat(Array.from({ length: 1 + dice(200) }, () => bytes.subarray(at, to))))
    case 4: {
      const other = Buffer.from(corpus[dice(corpus.length)]!)
      return Buffer.concat([bytes.subarray(0, at), other.subarray(dice(other.length + 1))])
    }
    case 5:
      return words.length === 0 ? bytes : insert(Buffer.from(words[dice(words.length)]!))
    case 6:
      return words.length === 0
        ? bytes
        : insert(Buffer.from(words[dice(words.length)]!.repeat(1 + dice(300))))
    case 7: {
      const changed = Buffer.from(bytes)
      if (at < changed.length) changed[at] = BOUNDARY_BYTES[dice(BOUNDARY_BYTES.length)]!
      return changed
    }
    default: {
      const changed = Buffer.from(bytes)
      if (at < changed.length) changed[at]! ^= 1 << dice(8)
      return changed
    }
  }
}

/**
 * Give a parser many broken inputs. It may refuse any of them, but neither throw nor take long; `run` throws when the
 * parser answered something wrong. A failure names the seed and holds the input.
 */
export async function fuzz(options: FuzzOptions, run: (input: Buffer) => unknown): Promise<void> {
  const { corpus, words = [], withinMs = 2_000 } = options
  const rounds = Math.round(options.rounds * FACTOR)
  for (let seed = FIRST_SEED; seed < FIRST_SEED + rounds; seed++) {
    const input = mutate(diceOf(seed), corpus, words)
    const before = process.cpuUsage()
    try {
      await run(input)
    } catch (error) {
      const where = `MUSTER_FUZZ_SEED=${seed}, input (base64): ${input.toString('base64').slice(0, 4_000)}`
      throw new Error(`${where}\n${error instanceof Error ? error.stack : String(error)}`, { cause: error })
    }
    // Processor time and not wall time: on a loaded machine a parser is not slower by it.
    const { user, system } = process.cpuUsage(before)
    const tookMs = (user + system) / 1_000
    expect(tookMs, `MUSTER_FUZZ_SEED=${seed}, ${input.length} bytes`).toBeLessThan(withinMs)
  }
}

/** Bytes as a parser of text gets them: what is not UTF-8 has been refused or replaced before. */
export const textOf = (input: Buffer): string => input.toString('utf8')
