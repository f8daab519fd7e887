import { byBytes } from '../model/text-order.ts'
import { newestFirst } from '../model/versions.ts'
import type { CompatibilityRow, VersionIntelligence, VersionOverview } from '../wire/version-intelligence.ts'

/** Rows of each list that are told; nobody reads more, and each has its count. */
export const OVERVIEW_ROWS_MAX = 500
/** Groups that are named of each version. */
export const OVERVIEW_GROUPS_MAX = 5

/** Reasons that only say that something was not reported: with no other reason the verdict is unknown. */
const UNREPORTED: ReadonlySet<string> = new Set([
  'component_capabilities_unknown',
  'component_capability_category_missing',
  'unknown_version',
])

type Verdict = VersionOverview['show']

/**
 * Whether a collector can run its config; unknown where it has not reported what decides that, and `unassigned` where
 * nothing is in its way and it has no config to run.
 */
export function verdictOf(row: Pick<CompatibilityRow, 'runnable' | 'blocking_reasons' | 'config'>): Verdict {
  if (row.runnable) return row.config.source === 'none' ? 'unassigned' : 'can'
  const isKnown = row.blocking_reasons.some(({ code }) => !UNREPORTED.has(code))
  return isKnown ? 'cannot' : 'unknown'
}

/**
 * The collectors by version, the newest first; what cannot be compared last. One whose instances differ counts with
 * each of its versions.
 */
export function sharesOf(rows: readonly CompatibilityRow[]): VersionOverview['shares'] {
  const found = new Map<
    string,
    Pick<VersionOverview['shares'][number], 'standing' | 'mixed_count'> & { groups: Map<string, number> }
  >()
  for (const { version, group } of rows) {
    const versions = version.mix?.lowest ?? [{ version: version.reported, status: version.status }]
    for (const one of versions) {
      const share = found.get(one.version) ?? { standing: one.status, mixed_count: 0, groups: new Map() }
      share.groups.set(group, (share.groups.get(group) ?? 0) + 1)
      share.mixed_count += version.mix ? 1 : 0
      found.set(one.version, share)
    }
  }
  const order = newestFirst()
  return [...found]
    .map(([version, { groups, ...share }]) => ({
      version,
      ...share,
      count: [...groups.values()].reduce((sum, count) => sum + count, 0),
      group_count: groups.size,
      groups: [...groups]
        .sort((a, b) => b[1] - a[1] || byBytes(a[0], b[0]))
        .slice(0, OVERVIEW_GROUPS_MAX)
        .map(([group, count]) => ({ group, count })),
    }))
    .sort((a, b) => order(a.version, b.version))
}

const firstOf = <T>(all: readonly T[]): { count: number; first: T[] } => ({
  count: all.length,
  first: all.slice(0, OVERVIEW_ROWS_MAX),
})

/** What a page shows of the posture: numbers of everything, and the first rows of what somebody has to look at. */
export function toVersionOverview(whole: VersionIntelligence, show: Verdict): VersionOverview {
  const rows = whole.compatibility_matrix
  const by = { can: 0, cannot: 0, unknown: 0, unassigned: 0 }
  for (const row of rows) by[verdictOf(row)]++
  const known = new Map(rows.map((row) => [row.workload_id, row]))
  const { count, first } = firstOf(whole.recommendations)
  return {
    recommended_version: whole.recommended_version,
    counts: { all: rows.length, ...by },
    shares: sharesOf(rows),
    show,
    rows: firstOf(
      rows
        .filter((row) => verdictOf(row) === show)
        .map(({ workload_id, display_name, place, version, blocking_reasons, config }) => ({
          workload_id,
          display_name,
          ...(place === undefined ? {} : { place }),
          version,
          blocking_reasons,
          config,
        })),
    ),
    recommendations: {
      count,
      first: first.map((one) => {
        const row = known.get(one.workload_id ?? '')
        if (row === undefined) return one
        const { display_name, place, version } = row
        return { ...one, display_name, ...(place === undefined ? {} : { place }), version }
      }),
    },
    unsupported: firstOf(whole.unsupported_config_components),
  }
}
