/** What the trusted labels of a workload are made of. */
export interface TrustedParts {
  /** Those that operators set, as far as they can be read. */
  handLabels: Readonly<Record<string, string>>
  ruleLabels: Readonly<Record<string, string>>
  /** Some that operators set could not be read. */
  hasUnreadableLabels: boolean
}

/** A label that stands for those that cannot be read: a workload that may be production counts as that everywhere. */
const UNREADABLE = { unreadable: 'production' }

/** The labels that are trusted: what operators set wins over what rules give. */
export const trustedOf = ({
  handLabels,
  ruleLabels,
  hasUnreadableLabels,
}: TrustedParts): Readonly<Record<string, string>> => ({
  ...ruleLabels,
  ...handLabels,
  ...(hasUnreadableLabels ? UNREADABLE : {}),
})
