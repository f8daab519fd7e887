/**
 * Seeds that failed once, with what they found. They stay. What a seed brings about changes when the simulation
 * learns something new: then they are seeds like others, and the fault itself is held by its own test.
 */
export const KEPT_SEEDS: readonly (readonly [number, string])[] = [
  // Of the first simulation.
  [2, 'an offer that was repeated without a reason'],
  [19, 'an offer that was repeated without a reason'],
  [53, 'a rollback that a crash had prevented'],
  [159, 'a status that went back'],
  [8, 'a rollout whose members were left behind'],
  [35, 'a rollout whose members were left behind'],
  [87, 'a rollout that went back to a quarantined config'],
  [133, 'an applied push that failed although it was run'],
  [347, 'a turn at the simulated database that was given twice'],
  [134, 'counts of a push from before the rows that they count'],
  [507, 'a push decided before a commit in doubt was settled: a config offered twice'],
  [500_630, 'a push decided before a commit in doubt was settled: browsers told that it was superseded'],
  [1178, 'a staged push that superseded the active one'],
  // Of this one.
  [43, 'a push that nobody answers, of which browsers were told nothing'],
  [1013, 'a pin that browsers were not told of with the push'],
  [1063, 'a count of who runs a failed config that browsers were not told of'],
  [1094, 'a config that kills an agent which does not report, offered at each reconnect'],
]
