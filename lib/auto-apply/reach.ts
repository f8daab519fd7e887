import type { Scope } from '../model/scopes.ts'
import type { BroughtVersion } from '../store/fleet-config-history.ts'
import type { AutoApplyReason } from '../wire/auto-apply.ts'

/** What decides whether a version reaches, by itself, a workload under its fleet config. */
export interface ReachFacts {
  activeHash: string | null
  firstSeenAt: Date
  /** When the workload came from another fleet config; null when it never did. */
  cameAt: Date | null
  /** What campaigns and versions of this fleet config did with the workload, the newest first. */
  brought: readonly BroughtVersion[]
  /** Whether it lies within a scope in which the wanted version was rolled back. */
  isRolledBackHere: boolean
}

/** The version that is to be applied, and for whom. */
export interface WantedVersion {
  /** Null before it was approved. */
  autoApplyId: string | null
  number: number
  /** Newcomers are workloads that were first seen at this time or later. */
  since: Date
  hasOpenCampaign: boolean
  /** The scopes within which it was rolled back. */
  rolledBackIn: readonly Scope[]
}

/** Whether a version reaches a workload, runs there already (`current`), or leaves it out. */
export type ReachVerdict =
  | { kind: 'reached'; isNewcomer: boolean }
  | { kind: 'current' }
  | { kind: 'left_out'; reason: AutoApplyReason }

const leave = (reason: AutoApplyReason): ReachVerdict => ({ kind: 'left_out', reason })

/** Whether a version reaches a workload by itself, and why it does not. */
export function decideReach(facts: ReachFacts, wanted: WantedVersion): ReachVerdict {
  const { activeHash, cameAt, brought } = facts
  // What was done before the workload went to another fleet config and came back does not count.
  const here = brought.filter(({ at }) => cameAt === null || at > cameAt)
  const running = here.filter(({ isPushed, resultHash }) => isPushed && resultHash === activeHash)
  const number = Math.max(0, ...running.map((one) => one.number))
  if (number === wanted.number) return { kind: 'current' }
  if (number > wanted.number) return leave('newer_version')
  if (facts.isRolledBackHere) return leave('campaign_rolled_back')
  // It applies by itself once, wherever the workload was meanwhile.
  if (brought.some((one) => isOwn(one, wanted) && one.at >= facts.firstSeenAt)) return leave('pushed_before')
  const barred = findBar(here, facts.firstSeenAt, wanted)
  if (barred !== null) return leave(barred)
  if (activeHash === null) {
    if (cameAt !== null) return leave('other_config')
    return facts.firstSeenAt >= wanted.since ? { kind: 'reached', isNewcomer: true } : leave('not_newcomer')
  }
  if (number === 0) return leave('other_config')
  return wanted.hasOpenCampaign ? leave('campaign_open') : { kind: 'reached', isNewcomer: false }
}

const isOwn = ({ autoApplyId }: BroughtVersion, wanted: WantedVersion): boolean =>
  autoApplyId !== null && autoApplyId === wanted.autoApplyId

/** What was done with the workload before that keeps the version from it; null when nothing does. */
function findBar(
  brought: readonly BroughtVersion[],
  firstSeenAt: Date,
  wanted: WantedVersion,
): AutoApplyReason | null {
  // One that was removed and came back has nothing any more of what it was given before.
  const since = brought.filter(({ at }) => at >= firstSeenAt)
  for (const one of brought) {
    const bar = barOf(one)
    if (bar === 'none') break
    if (bar !== null) return bar
  }
  // This version, or a newer one, was pushed to it and is not what it runs: somebody took it back.
  return since.some(({ isPushed, number }) => isPushed && number >= wanted.number) ? 'moved_on' : null
}

/** The bar that this left; `none` where it found the workload well, null where it says nothing of it. */
function barOf({ state, verdict }: BroughtVersion): AutoApplyReason | 'none' | null {
  switch (state) {
    case 'failed':
    case 'no_answer':
    case 'rollback_failed':
      return 'campaign_failed'
    case 'skipped':
      return 'campaign_refused'
    case 'cancelled':
      return 'campaign_aborted'
    case 'rolling_back':
    case 'rolled_back':
    case 'moved_on':
    case 'no_way_back':
      return 'campaign_rolled_back'
    case 'waiting':
    case 'offline':
    case 'started':
      return 'campaign_waits'
    case 'left_out':
      return LEFT_OUT[verdict] ?? null
    case 'applied':
    // A roll-back that is cut to scopes left it alone: outside of them the version goes on applying.
    case 'left_scope':
      return 'none'
    case 'overtaken':
    case 'expired':
      return null
  }
}

/** What a campaign says of a workload that it left out; nothing where it never came to it. */
const LEFT_OUT: Partial<Record<BroughtVersion['verdict'], AutoApplyReason | 'none'>> = {
  refused: 'campaign_refused',
  excluded: 'campaign_excluded',
  same: 'none',
}
