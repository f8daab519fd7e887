/** What a process knows that decides whether people and agents are to be led to it. */
export interface ReadinessFacts {
  /** Whether it was reached at its address at least once. */
  wasReached: boolean
  /** Whether it had a link at least once, or only the next owner gives it one. */
  wasLinked: boolean
  /** Whether its clock is near enough to the database's. */
  isInTime: boolean
  /** Whether it was the owner, and others follow another one by now. */
  wasReplaced: boolean
  /** Whether it alone has no database: offers come, and it cannot read their texts. */
  isBlind: boolean
  /** Whether what is asked of it gets to the owner, or did a moment ago. */
  hasWay: boolean
  /** Whether it could not become the owner when it tried. */
  hasFailed: boolean
  version: string
  /** The version of the owner where that is known to run; null otherwise. */
  ownersVersion: string | null
  /** Whether another process that is known to run has a link to the owner. */
  hasBetter: boolean
}

/**
 * Whether a process is ready. What all lack makes none of them unready, as that would lead nobody to a better one: a process
 * is unready only for what it has and another one that is known to run has not. One that was of no use yet is not ready
 * either, so that an update of all of them waits for it.
 */
export function isReady(facts: ReadinessFacts): boolean {
  if (!facts.wasReached || !facts.wasLinked || !facts.isInTime) return false
  if (facts.wasReplaced || facts.isBlind) return false
  return (facts.hasWay && !isOfUnfitBuild(facts)) || !facts.hasBetter
}

/**
 * Whether this build may be at fault that the process could not become the owner: one of another build owns. Where one of its
 * own owns, whatever it was has passed.
 */
const isOfUnfitBuild = ({ hasFailed, version, ownersVersion }: ReadinessFacts): boolean =>
  hasFailed && ownersVersion !== null && ownersVersion !== version
