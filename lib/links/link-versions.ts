/** The versions of the messages on a link that a build speaks. */
export interface LinkVersions {
  least: number
  newest: number
}

/**
 * The versions that this build speaks. The number is raised with each change of what is said on a link or before it, and
 * a build speaks its own and at least the one before, so that processes of two builds that follow each other understand
 * each other. Before version 4 no owner proved itself to those who connect to it: no build sends such a one anything.
 */
export const LINK_VERSIONS: LinkVersions = { least: 4, newest: 8 }

/**
 * The first version with `sent` entries and `quickestMs`. Of a front that speaks a lower one each offer counts as sent
 * once it was told of it, and a link of such a version counts as one whose quickest batch took no time.
 */
export const MEASURED_SINCE = 5

/** The first version with `replay` entries; over one of a lower version what they say is a `report`. */
export const REPLAYED_SINCE = 6

/** The first version with `forget` entries. */
export const FORGETS_SINCE = 7

/**
 * The first version with `last-word` and `stored` entries. Over one of a lower version a goodbye or an end counts as known
 * once it is answered, which is before it is stored.
 */
export const STORED_SINCE = 8

/**
 * The version that a build speaks with another one whose newest is this: the lower one of both. Null where it does not
 * speak that.
 */
export function spokenWith({ least, newest }: LinkVersions, theirNewest: number): number | null {
  const version = Math.min(newest, theirNewest)
  return version >= least ? version : null
}
