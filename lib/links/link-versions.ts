/** The versions of the messages on a link that a build speaks. */
export interface LinkVersions {
  least: number
  newest: number
}

/**
 * The versions that this build speaks. The number is raised with each change of what is said on a link, and a build
 * speaks its own and the one before, so that processes of two builds that follow each other understand each other. What
 * was said as version 1 had changed several times under that number: no build speaks it with another.
 */
export const LINK_VERSIONS: LinkVersions = { least: 2, newest: 3 }

/**
 * The first version with `ended` and `goodbye` entries. An owner that speaks a lower one is told of a closed socket by a
 * `closed` entry, and never again of what was under way when a link ended: such an agent counts as away for a grace.
 */
export const ENDED_SINCE = 3

/**
 * The version that a build speaks with another one whose newest is this: the lower one of both. Null where it does not
 * speak that.
 */
export function spokenWith({ least, newest }: LinkVersions, theirNewest: number): number | null {
  const version = Math.min(newest, theirNewest)
  return version >= least ? version : null
}
