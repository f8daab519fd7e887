import type { CompatibilityRow, VersionStanding } from '../../../lib/wire/version-intelligence.ts'
import { compareVersions } from './workloads.ts'

/** Reasons that only say that something was not reported: with no other reason the verdict is unknown. */
const UNREPORTED: ReadonlySet<string> = new Set([
  'component_capabilities_unknown',
  'component_capability_category_missing',
  'unknown_version',
])

/** Whether a collector can run its config; unknown where it has not reported what decides that. */
export function verdictOf(row: Pick<CompatibilityRow, 'runnable' | 'blocking_reasons'>) {
  if (row.runnable) return 'can' as const
  const isKnown = row.blocking_reasons.some(({ code }) => !UNREPORTED.has(code))
  return isKnown ? ('cannot' as const) : ('unknown' as const)
}

/** All collectors of one version. */
export interface VersionShare {
  version: string
  standing: VersionStanding
  count: number
  /** Those among them of which other instances run another version. */
  mixedCount: number
  /** How many of them are in each group, the largest first. */
  groups: readonly (readonly [group: string, count: number])[]
}

/**
 * The collectors by version, the newest first; what cannot be compared last. One whose instances differ counts with
 * each of its versions.
 */
export function sharesOf(rows: readonly CompatibilityRow[]): VersionShare[] {
  const found = new Map<
    string,
    Omit<VersionShare, 'version' | 'count' | 'groups'> & { groups: Map<string, number> }
  >()
  for (const { version, group } of rows) {
    const versions = version.mix?.lowest ?? [{ version: version.reported, status: version.status }]
    for (const one of versions) {
      const share = found.get(one.version) ?? { standing: one.status, mixedCount: 0, groups: new Map() }
      share.groups.set(group, (share.groups.get(group) ?? 0) + 1)
      share.mixedCount += version.mix ? 1 : 0
      found.set(one.version, share)
    }
  }
  return [...found]
    .map(([version, { groups, ...share }]) => ({
      version,
      ...share,
      count: [...groups.values()].reduce((sum, count) => sum + count, 0),
      groups: [...groups].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])),
    }))
    .sort((a, b) => compareVersions(b.version, a.version))
}
