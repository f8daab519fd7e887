/** The ways by which a push can begin. A new way is added here, and to `HELD_BY` with the gates that apply to it. */
export const PUSH_PATHS = [
  /** An operator pushes an approved request, to all or in stages. */
  'request',
  /** An operator breaks the glass: pushes without an approval or in a freeze, with a reason for the audit trail. */
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

/** One of the ways by which a push can begin. */
export type PushPath = (typeof PUSH_PATHS)[number]

/** What can keep a push from beginning, in the order of checking. Not the gates of a rollout's stages. */
export const PUSH_GATES = ['archived', 'frozen', 'held', 'kept-in-git', 'busy', 'quarantined'] as const

/** One of the reasons for which a push may not begin. */
export type PushGate = (typeof PUSH_GATES)[number]

/** What the gates look at: a workload, and the config that is to be pushed to it. */
export interface PushFacts {
  isArchived: boolean
  /** The reason of the freeze that it is in now; null when it is in none. */
  frozenFor: string | null
  /** An operator has put a hold on it: campaigns leave it alone. */
  isHeld: boolean
  /** Its owner in Git; null when it has none. */
  managedBy: string | null
  /** An earlier push to it is still open. */
  isBusy: boolean
  /** It failed this config before, as a whole or in one of its instances. */
  isQuarantined: boolean
}

/** Gates that do not apply to this one push. */
export interface PushExemptions {
  /** The request comes from this owner in Git. */
  gitOwner?: string | null
  /** The approval says that a config that failed here is to be tried again. */
  retriesQuarantined?: boolean
  /** The push that is being taken back: that it is still open does not make the workload busy. */
  ownPushId?: string | null
}

/** Which gates apply to each path. No rollback is refused because of a freeze, a hold or an owner in Git. */
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
  /** For `frozen` the reason of the freeze, for `kept-in-git` the owner; else empty. */
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
