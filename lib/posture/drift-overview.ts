import { overruling, type PushSinceGit, type Wish } from '../desired/overruled.ts'
import { countsAsDrifted } from '../model/drift-counts.ts'
import { environmentOf } from '../model/labels.ts'
import { placeFieldOf } from '../model/places.ts'
import { byBytes } from '../model/text-order.ts'
import { inTurns, mapInTurns, nextTurn, sortInTurns } from '../turns.ts'
import type { DriftItem, DriftOverview, DriftStatus } from '../wire/drift.ts'
import type { InstanceFault } from '../wire/instances.ts'
import { PIPELINE_SECTIONS } from '../wire/values.ts'

/** What the overview needs of one collector that is not archived. */
export interface DriftCollector {
  id: string
  displayName: string
  fingerprintKeys: Readonly<Record<string, string>>
  version: string
  labels: Readonly<Record<string, string>>
  trustedLabels: Readonly<Record<string, string>>
  acceptsRemoteConfig: boolean
  activeHash: string | null
  /** A push in stages, which a part of the instances is assigned beside `activeHash`; null where there is none. */
  rollout: {
    id: string
    hash: string
    status: 'under_way' | 'halted' | 'aborted'
    /** How many live instances run its config. */
    runningCount: number
  } | null
  newestPush:
    | (PushSinceGit & {
        /** Still undecided, neither superseded nor aborted, and not a rollout in progress. */
        isPending: boolean
        sentAt: Date | null
        /** The fields that everybody may see: no content, operator, error texts or instances. */
        record: NonNullable<DriftItem['last_push']>
      })
    | null
  /**
   * The live instances that can take a config. `hash`: what it runs, empty where it has not said; `isHeld`: it has to
   * run its assigned config and can report that; `isDrifted`: it is held and runs something else
   * (`lib/fleet/decide/drift.ts`).
   */
  instances: readonly { hash: string; isHeld: boolean; isDrifted: boolean }[]
  /** How many others say that they applied their config and report to run something else. */
  alteredCount: number
  /** Since when the first of these is, where that is known. */
  alteredSince: string | undefined
  /** Why the first of those that drifted has not applied its config; null where that is not known, or none has drifted. */
  fault: InstanceFault | null
  /**
   * The hash in the last remote config status of the workload, used while no instance is live; empty when there is
   * none.
   */
  reportedHash: string
  availableComponents: Readonly<Record<string, readonly string[]>> | null
  /** What Git asks for, of the workload or by its fleet config; null where neither is kept there. */
  wish: Wish | null
  hasDriftAlert: boolean
  hasVersionAlert: boolean
  isVersionOutdated: boolean
}

/** A push that is undecided for longer than this is pending too long. */
export const PENDING_TOO_LONG_MS = 15 * 60_000

const UNKNOWN_ENV = 'unknown'
/** How many collectors are looked at before other work gets a turn. */
const CHUNK = 500

/** The facts of one collector that status, reasons, summary and order are made from. */
interface Facts {
  env: string
  expected: string | null
  effective: readonly string[]
  /** Instances that have to run a config and do not say what they run. */
  unknownCount: number
  isUnsupported: boolean
  isMissing: boolean
  isMixed: boolean
  isDrifted: boolean
  isAltered: boolean
  differsFromGit: boolean
  isPendingTooLong: boolean
  hasIncompleteComponents: boolean
  isOutdated: boolean
}

function factsOf(collector: DriftCollector, now: Date): Facts {
  const { newestPush, availableComponents } = collector
  const live = [...new Set(collector.instances.map(({ hash }) => hash).filter((hash) => hash !== ''))]
  const held = collector.instances.filter(({ isHeld }) => isHeld)
  const effective =
    collector.instances.length === 0 && collector.reportedHash !== ''
      ? [collector.reportedHash]
      : live.sort(byBytes)
  // What an aborted rollout brought to its members is what nobody else is to run.
  const isGivenUp = collector.rollout?.status === 'aborted'
  const expected = collector.activeHash ?? (isGivenUp ? null : (newestPush?.hash ?? null))
  const pendingSince = newestPush?.isPending ? (newestPush.sentAt ?? newestPush.submittedAt) : null
  return {
    env: environmentOf(collector.trustedLabels, collector.labels) || UNKNOWN_ENV,
    expected,
    effective,
    unknownCount: expected === null ? 0 : held.filter(({ hash }) => hash === '').length,
    isUnsupported: !collector.acceptsRemoteConfig,
    isMissing: expected !== null && effective.length === 0,
    // Only instances that are held to their config, and have said what they run, can differ from each other.
    isMixed: new Set(held.map(({ hash }) => hash).filter((hash) => hash !== '')).size > 1,
    isDrifted: collector.instances.some((instance) => instance.isDrifted),
    isAltered: collector.alteredCount > 0,
    differsFromGit: overruling(collector.wish, collector) !== null,
    isPendingTooLong: pendingSince !== null && now.getTime() - pendingSince.getTime() > PENDING_TOO_LONG_MS,
    hasIncompleteComponents: PIPELINE_SECTIONS.some(
      (category) => (availableComponents?.[category] ?? []).length === 0,
    ),
    isOutdated: collector.isVersionOutdated || collector.hasVersionAlert,
  }
}

/** The environments whose collectors differ in their expected or effective configs. */
async function mixedGroups(all: readonly Facts[]): Promise<Set<string>> {
  const states = new Map<string, Set<string>>()
  for await (const piece of inTurns(all, CHUNK))
    for (const { env, expected, effective } of piece) {
      if (env === UNKNOWN_ENV) continue
      const group = states.get(env) ?? new Set()
      states.set(env, group.add(`${expected ?? ''}|${effective.join(',')}`))
    }
  return new Set([...states].filter(([, group]) => group.size > 1).map(([env]) => env))
}

/** All statuses that hold; the first one is the status of the collector. */
function statusesOf(facts: Facts): DriftStatus[] {
  const holds: [boolean, DriftStatus][] = [
    [facts.isUnsupported, 'remote_config_unsupported'],
    [facts.isMissing, 'missing_effective_config'],
    [facts.isMixed, 'heterogeneous_effective_config'],
    [facts.isDrifted, 'drifted'],
    [facts.isAltered, 'altered'],
    [facts.differsFromGit, 'differs_from_git'],
    [facts.isPendingTooLong, 'pending_too_long'],
  ]
  return holds.flatMap(([isTrue, status]) => (isTrue ? [status] : []))
}

/**
 * The actions that the page shows, all of them disabled with the place where they can be done. Pushing the active
 * config again and ignoring drift are not possible, so neither is listed.
 */
function actionsOf(facts: Facts): DriftItem['actions'] {
  const off = (reason: string) => ({ enabled: false, reason })
  const unsupported = facts.isUnsupported ? 'remote_config_unsupported' : null
  return {
    view_diff: off('diff_requires_config_content'),
    validate_current: off('validate_from_workload_detail'),
    rollback: off(unsupported ?? 'rollback_from_workload_detail'),
  }
}

function itemOf(collector: DriftCollector, facts: Facts, isGroupMixed: boolean, now: Date): DriftItem {
  const statuses = statusesOf(facts)
  // Instances that still run the config of a failed push, and to which nothing is assigned any more, do not count as
  // drifted.
  const runsFailed = (collector.newestPush?.record.aftermath?.running_count ?? 0) > 0
  const others: [boolean, string][] = [
    // Nothing was ever assigned to it, so it cannot differ from that: `in_sync`, for want of another word in the API.
    [facts.expected === null && !facts.isUnsupported && collector.rollout === null, 'unmanaged'],
    [runsFailed, 'runs_failed_config'],
    [collector.hasDriftAlert, 'config_drift_alert'],
    [facts.isOutdated, 'version_outdated'],
    [facts.hasIncompleteComponents, 'unknown_incomplete_components'],
    [collector.rollout?.status === 'under_way', 'rollout_under_way'],
    [collector.rollout?.status === 'halted', 'rollout_halted'],
    // As long as somebody runs its config.
    [collector.rollout?.status === 'aborted' && collector.rollout.runningCount > 0, 'rollout_aborted'],
    [isGroupMixed, 'group_heterogeneous_config'],
  ]
  const reasons = [...statuses, ...others.flatMap(([isTrue, reason]) => (isTrue ? [reason] : []))]
  const { newestPush } = collector
  const { effective } = facts
  const pushedAt = newestPush?.sentAt ?? newestPush?.submittedAt
  return {
    workload_id: collector.id,
    collector: collector.displayName || collector.id,
    ...placeFieldOf(collector.fingerprintKeys),
    env: facts.env,
    version: collector.version,
    ...(facts.expected === null ? {} : { expected_config_hash: facts.expected }),
    ...(collector.rollout === null
      ? {}
      : { rollout_id: collector.rollout.id, rollout_config_hash: collector.rollout.hash }),
    ...(effective.length === 1 && facts.unknownCount === 0 ? { effective_config_hash: effective[0] } : {}),
    ...(effective.length > 0 ? { effective_config_hashes: [...effective] } : {}),
    ...(facts.unknownCount > 0 ? { unknown_instance_count: facts.unknownCount } : {}),
    drift_status: statuses[0] ?? 'in_sync',
    ...(reasons.length > 0 ? { drift_reasons: reasons } : {}),
    ...(collector.alteredSince === undefined ? {} : { altered_since: collector.alteredSince }),
    ...(newestPush ? { last_push: newestPush.record } : {}),
    ...(pushedAt
      ? { last_push_age_seconds: Math.max(0, Math.floor((now.getTime() - pushedAt.getTime()) / 1000)) }
      : {}),
    ...(collector.fault === null ? {} : { fault: collector.fault }),
    pending_too_long: facts.isPendingTooLong,
    accepts_remote_config: collector.acceptsRemoteConfig,
    missing_effective_config: facts.isMissing,
    unknown_incomplete_components: facts.hasIncompleteComponents,
    group_heterogeneous_config: isGroupMixed,
    has_config_drift_alert: collector.hasDriftAlert,
    has_version_outdated_alert: collector.hasVersionAlert,
    actions: actionsOf(facts),
  }
}

function rankOf(item: DriftItem): number {
  if (countsAsDrifted(item)) {
    const { expected_config_hash: expected = '', effective_config_hashes: hashes = [] } = item
    // Where nobody runs what is expected, more is lost than where only some do not.
    return hashes.includes(expected) ? 1 : 0
  }
  if (item.drift_status === 'pending_too_long') return 3
  const isLeft = ['runs_failed_config', 'rollout_aborted'].some((reason) =>
    item.drift_reasons?.includes(reason),
  )
  return item.drift_status === 'in_sync' && !isLeft ? 4 : 2
}

/** Worst first, then by name whatever its case, then by id. */
async function sortItems(items: readonly DriftItem[]): Promise<DriftItem[]> {
  const toKeyed = (item: DriftItem) => ({ item, rank: rankOf(item), name: item.collector.toLowerCase() })
  const keyed = await mapInTurns(items, CHUNK, toKeyed)
  const sorted = await sortInTurns(
    keyed,
    CHUNK,
    (a, b) => a.rank - b.rank || byBytes(a.name, b.name) || byBytes(a.item.workload_id, b.item.workload_id),
  )
  return sorted.map(({ item }) => item)
}

/** The drift overview: all collectors, those that do not run what they should first. */
export async function buildDriftOverview(
  collectors: readonly DriftCollector[],
  now: Date,
): Promise<DriftOverview> {
  const all = await mapInTurns(collectors, CHUNK, (collector) => factsOf(collector, now))
  const mixed = await mixedGroups(all)
  await nextTurn()
  const items = await mapInTurns(collectors.entries(), CHUNK, ([i, one]) =>
    itemOf(one, all[i]!, mixed.has(all[i]!.env), now),
  )
  await nextTurn()
  const sorted = await sortItems(items)
  await nextTurn()
  const count = <T>(list: readonly T[], holds: (one: T) => boolean) => list.filter(holds).length
  return {
    generated_at: now.toISOString(),
    summary: {
      total_collectors: items.length,
      drifted_collectors: count(items, countsAsDrifted),
      differ_from_git: count(all, (facts) => facts.differsFromGit),
      pending_too_long: count(items, (item) => item.pending_too_long),
      missing_effective_config: count(items, (item) => item.missing_effective_config),
      remote_config_unsupported: count(items, (item) => !item.accepts_remote_config),
      outdated_versions: count(all, (facts) => facts.isOutdated),
      unknown_incomplete_components: count(items, (item) => item.unknown_incomplete_components),
      heterogeneous_groups: mixed.size,
    },
    items: sorted,
  }
}
