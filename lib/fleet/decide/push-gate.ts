/** The ways by which a config can begin to be pushed. Whatever else pushes is added here, and says what it is held to. */
export const PUSH_PATHS = [
  /** An operator pushes an approved request, to all or in stages. */
  'request',
  /** The same without what is asked of others, in the open. */
  'break-glass',
  /** An operator goes back to what ran there: to a hash, or to the pinned known-good. */
  'rollback',
  /** A campaign starts a target: at its turn, when it comes back, or as a takeover. */
  'campaign',
  /** A fleet config brings a version to a newcomer by itself. */
  'auto-apply',
  /** A campaign is taken back. */
  'campaign-rollback',
  /** A push failed, and muster goes back by itself. */
  'auto-rollback',
  /** An operator ends a rollout by taking its members back. */
  'rollout-rollback',
] as const

export type PushPath = (typeof PUSH_PATHS)[number]

/** What can keep a push from beginning, in the order in which it is asked. */
export const PUSH_GATES = ['archived', 'frozen', 'held', 'kept-in-git', 'busy', 'quarantined'] as const

export type PushGate = (typeof PUSH_GATES)[number]

/** What is known of a workload, and of a config for it, as it is asked. */
export interface PushFacts {
  isArchived: boolean
  /** Why its config is frozen now; null when it is not. */
  frozenFor: string | null
  /** Campaigns are to leave it alone. */
  isHeld: boolean
  /** Who keeps its config in Git; null for nobody. */
  managedBy: string | null
  /** Something that was pushed there has not come to its end. */
  isBusy: boolean
  /** It failed this config before, as a whole or in one of its instances. */
  isQuarantined: boolean
}

/** What whoever pushes may pass by all the same. */
export interface PushExemptions {
  /** The request comes from this owner in Git. */
  gitOwner?: string | null
  /** The approval says that what failed is tried again. */
  retriesQuarantined?: boolean
  /** This push is what is taken back: that it has not ended is no reason to wait. */
  ownPushId?: string | null
}

/** Which gates hold each path back. A rollback is never refused because of what somebody else has planned. */
const HELD_BY: Readonly<Record<PushPath, readonly PushGate[]>> = {
  request: ['archived', 'frozen', 'kept-in-git'],
  'break-glass': ['archived'],
  rollback: ['archived'],
  campaign: PUSH_GATES,
  'auto-apply': PUSH_GATES,
  'campaign-rollback': ['archived', 'busy'],
  'auto-rollback': [],
  'rollout-rollback': [],
}

/** A push that may not begin now, and why. */
export interface ClosedGate {
  ok: false
  code: 'gate-closed'
  gate: PushGate
  /** Of a freeze its reason, of Git its owner; else empty. */
  about: string
}

/** The first gate that holds a push back; null when it may begin. */
export function findClosedGate(
  path: PushPath,
  facts: PushFacts,
  { gitOwner = null, retriesQuarantined = false }: PushExemptions = {},
): ClosedGate | null {
  const isClosed: Readonly<Record<PushGate, boolean>> = {
    archived: facts.isArchived,
    frozen: facts.frozenFor !== null,
    held: facts.isHeld,
    'kept-in-git': facts.managedBy !== null && facts.managedBy !== gitOwner,
    busy: facts.isBusy,
    quarantined: facts.isQuarantined && !retriesQuarantined,
  }
  const gate = PUSH_GATES.find((one) => isClosed[one] && HELD_BY[path].includes(one))
  if (gate === undefined) return null
  const about = gate === 'frozen' ? facts.frozenFor : gate === 'kept-in-git' ? facts.managedBy : null
  return { ok: false, code: 'gate-closed', gate, about: about ?? '' }
}
