import type { Keeper } from '../../store/keepers.ts'

/** The ways by which a push can begin. A new one is added here, and to `IN_THE_WAY_OF` with what keeps it. */
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

/** What can keep a push from beginning, in the order of checking. */
export const PUSH_OBSTACLES = ['archived', 'frozen', 'held', 'kept-in-git', 'busy', 'quarantined'] as const

/** One of the reasons for which a push may not begin. */
export type PushObstacle = (typeof PUSH_OBSTACLES)[number]

/** What obstacles are found by: a workload, and the config that is to be pushed to it. */
export interface ObstacleFacts {
  isArchived: boolean
  /** The reason of the freeze that it is in now; null when it is in none. */
  frozenFor: string | null
  /** An operator has put a hold on it: campaigns leave it alone. */
  isHeld: boolean
  keeper: Keeper | null
  /** An earlier push to it is still open. */
  isBusy: boolean
  /** It failed this config before, as a whole or in one of its instances. */
  isQuarantined: boolean
}

/** Obstacles that do not keep this one push. */
export interface PushExemptions {
  /** The request comes from this owner in Git. */
  gitOwner?: string | null
  /** The approval says that a config that failed here is to be tried again. */
  retriesQuarantined?: boolean
  /** The push that is being taken back: that it is still open does not make the workload busy. */
  ownPushId?: string | null
  /** It has begun and is to reach more instances: whether it may begin, and be tried there at all, is decided. */
  isUnderWay?: boolean
}

/** What keeps a push of each path. No rollback is refused because of a freeze, a hold or an owner in Git. */
const IN_THE_WAY_OF: Readonly<Record<PushPath, readonly PushObstacle[]>> = {
  request: ['archived', 'frozen', 'kept-in-git'],
  'break-glass': ['archived'],
  rollback: ['archived'],
  campaign: PUSH_OBSTACLES,
  'auto-apply': PUSH_OBSTACLES,
  'campaign-rollback': ['archived', 'busy'],
  'auto-rollback': [],
  'rollout-rollback': [],
}

/** A push that may not begin now, and why. */
export interface Obstructed {
  ok: false
  code: 'obstructed'
  obstacle: PushObstacle
  /** For `frozen` the reason of the freeze, for `kept-in-git` the owner; else empty. */
  about: string
}

/** The first obstacle in the way of a push; null when it may begin. */
export function obstacleOf(
  path: PushPath,
  facts: ObstacleFacts,
  { gitOwner = null, retriesQuarantined = false, isUnderWay = false }: PushExemptions = {},
): Obstructed | null {
  // What a fleet config brings is what its owner asks for.
  const isItsOwn = path !== 'request' && facts.keeper?.by === 'fleet-config'
  const keeper = isItsOwn ? null : (facts.keeper?.owner ?? null)
  const isThere: Readonly<Record<PushObstacle, boolean>> = {
    archived: facts.isArchived,
    frozen: facts.frozenFor !== null,
    held: facts.isHeld,
    'kept-in-git': keeper !== null && keeper !== gitOwner,
    busy: facts.isBusy && !isUnderWay,
    quarantined: facts.isQuarantined && !retriesQuarantined && !isUnderWay,
  }
  const obstacle = PUSH_OBSTACLES.find((one) => isThere[one] && IN_THE_WAY_OF[path].includes(one))
  if (obstacle === undefined) return null
  const about = obstacle === 'frozen' ? facts.frozenFor : obstacle === 'kept-in-git' ? keeper : null
  return { ok: false, code: 'obstructed', obstacle, about: about ?? '' }
}
