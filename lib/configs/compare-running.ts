import type { ConfigDiff } from '../wire/diff.ts'
import type { ComparedWith } from '../wire/plan.ts'
import type { ConfigEngine } from './engine.ts'

/** What of a workload tells what it runs. */
export interface RunningConfigs {
  currentConfig(workloadId: string): Promise<string | null>
  reportedConfig(workloadId: string): Promise<{ text: string } | null>
}

/** A draft against what a workload runs: `diff` is null where nobody knows what that is. */
export interface Compared {
  ok: true
  /** The config that was pushed here last and is active. */
  current: string | null
  diff: ConfigDiff | null
  comparedWith: ComparedWith
}

/**
 * Compare a draft with what a workload runs: its active config or, before the first push from muster, what its instances
 * report.
 */
export async function compareWithRunning(
  {
    configs,
    configTargets,
  }: { configs: Pick<ConfigEngine, 'baseOfReport' | 'diff'>; configTargets: RunningConfigs },
  workloadId: string,
  draft: string,
): Promise<Compared | { ok: false; code: 'server-busy' }> {
  const current = await configTargets.currentConfig(workloadId)
  const reported = current === null ? await configTargets.reportedConfig(workloadId) : null
  const before = reported === null ? null : await configs.baseOfReport(draft, reported.text)
  if (before !== null && !before.ok) return before
  const base = current ?? before?.base ?? null
  const comparedWith = current !== null ? 'active' : base !== null ? 'reported' : 'nothing'
  if (base === null) return { ok: true, current, diff: null, comparedWith }
  const compared = await configs.diff({ baseText: base, targetText: draft, workload: null, peers: [] })
  return compared.ok ? { ok: true, current, diff: compared.diff, comparedWith } : compared
}
