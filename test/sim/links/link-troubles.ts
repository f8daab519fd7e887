import type { Dice } from '../time/dice.ts'

/** The kinds of trouble that only worlds of fronts have, and how likely each is. */
const LIKELIHOODS = {
  /**
   * Agents say long and nested health, say that they can do other things, and start again behind a connection that
   * several share.
   */
  words: 0.5,
  /** A front has no link while others have one, for long enough to send its agents to them. */
  cutOffs: 0.4,
  /** The owner and the database are lost together, for longer than a front goes without a link while others have one. */
  lostTogether: 0.15,
  /** What the owner renews itself with gets stuck, for long enough to be replaced, while all else of it goes on. */
  stuckRenewals: 0.3,
  /** Fronts are stopped one after the other, as where a new build is rolled out; others begin before they end. */
  drains: 0.3,
  /** Browsers are connected to fronts. */
  frontBrowsers: 0.5,
  /** The owner, or a front, stands still for half a minute as the owner stores a step of a push. */
  stillAtSteps: 0.2,
  /** Agents say goodbye while nobody decides, and are not known yet to whoever decides next. */
  lateGoodbyes: 0.3,
  /** Agents go from a front that is cut off to another one and leave there, while the former takes them for its own. */
  deadSockets: 0.3,
  /** Some agents send no heartbeats. */
  quietAgents: 0.3,
  /** A front finds each owner later than the others, by seconds or minutes. */
  lateFinders: 0.3,
  /** The first processes that decide are of a build of the version of links before this one. */
  formerVersions: 0.2,
  /** Agents behind a gateway say goodbye while nobody decides, and are back on the same socket soon after somebody does. */
  gatewayReturns: 0.3,
} as const

/** The name of a kind of trouble of links. */
export type LinkTrouble = keyof typeof LIKELIHOODS
/** For each of them whether a world has it. */
export type LinkTroubles = Readonly<Record<LinkTrouble, boolean>>

export const LINK_TROUBLES = Object.keys(LIKELIHOODS) as readonly LinkTrouble[]

/** Which of them this world has. With `wanted` it has these and no others; `without` are those that it must not have. */
export function chooseLinkTroubles(
  dice: Dice,
  wanted: readonly string[] | null,
  without: readonly LinkTrouble[],
): LinkTroubles {
  const chosen = LINK_TROUBLES.map((trouble) => {
    const isChosen = dice.fork(trouble).chance(LIKELIHOODS[trouble])
    const isOn = wanted === null ? isChosen : wanted.includes(trouble)
    return [trouble, isOn && !without.includes(trouble)]
  })
  return Object.fromEntries(chosen) as LinkTroubles
}
