import type { Dice } from './time/dice.ts'

/**
 * The kinds of trouble that a world can have, and how likely each is. A kind that the code in `lib` is known not to
 * survive yet is switched off with 0 and the reason.
 */
const LIKELIHOODS = {
  // Of the service and its database.
  crashes: 0.6,
  outages: 0.5,
  brokenSessions: 0.3,
  refusedStatements: 0.25,
  lostCommits: 0.35,
  /** Commits that the server makes some seconds after the process has lost its connection. */
  lateCommits: 0.15,
  standby: 0.3,
  /** The machine of the active process stands still while another process takes over, and then goes on. */
  suspensions: 0.2,
  clockJumps: 0.25,
  // Of the agents.
  pollers: 0.3,
  /** Two agents with one uid. */
  twins: 0.15,
  newUids: 0.2,
  sharedSockets: 0.3,
  /** Agents that move from one open socket to another open one. */
  moves: 0.25,
  droppedSends: 0.25,
  changingNatures: 0.3,
  componentsByHash: 0.3,
  effectiveConfigs: 0.5,
  busyWorkers: 0.2,
  badHealth: 0.3,
  /** Some agents that are unhealthy when the trouble ends stay so. */
  lastingIllness: 0.2,
  coalescing: 0.3,
  /** Agents that say their config status again with each heartbeat. */
  repeatedStatuses: 0.05,
  selfRollbacks: 0.25,
  /** Configs that end an agent some time after it has said that it applied them; it comes back without them. */
  lateDeaths: 0.15,
  /** Agents that say goodbye and come back over and over, also when all other trouble is over. */
  goodbyes: 0.1,
  // Of the operators.
  stages: 0.7,
  rollbacks: 0.4,
  /** Requests that are rejected or withdrawn, also while they are pushed. */
  closedRequests: 0.3,
  inventory: 0.35,
  browsers: 0.5,
  /**
   * Fleet configs, campaigns, versions that apply by themselves, holds, freezes and label rules, over more workloads
   * than other worlds have.
   */
  campaigns: 0.2,
  /** Where there are campaigns, some workloads have so many instances that these go through them in stages. */
  stagedTargets: 0.25,
} as const

/** The name of a kind of trouble. */
export type Trouble = keyof typeof LIKELIHOODS
/** For each kind of trouble whether a world has it. */
export type Troubles = Readonly<Record<Trouble, boolean>>

/**
 * Which kinds of trouble this world has. `SIM_TROUBLES=a,b` asks for these and no others; `without` are kinds that it
 * must not have.
 */
export function chooseTroubles(
  dice: Dice,
  wanted: string | undefined,
  without: readonly Trouble[] = [],
): Troubles {
  const named = wanted === undefined ? null : new Set(wanted.split(','))
  const chosen = Object.entries(LIKELIHOODS).map(([trouble, likelihood]) => {
    const isChosen = dice.fork(trouble).chance(likelihood)
    if (without.some((one) => one === trouble)) return [trouble, false]
    return [trouble, named === null ? isChosen : named.has(trouble)]
  })
  return Object.fromEntries(chosen) as Troubles
}
