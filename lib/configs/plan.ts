import { configHash } from '../model/config-hash.ts'
import { isProductionByLabels } from '../model/production.ts'
import type { ConfigDiff } from '../wire/diff.ts'
import type { ConfigPlan, PlanTarget } from '../wire/plan.ts'
import type { PolicyEvaluation } from '../wire/policy.ts'
import type { ValidationResult } from '../wire/validation.ts'
import { type ComponentRef, excludedInstances } from './check/components.ts'
import type { ConfigTarget } from './check/target.ts'
import { ruleTitle } from './diff/rules.ts'
import { listFailing, type WeighedRisk, weighRisks } from './mend.ts'
import { riskOfTakeOver, TAKES_OVER, takesOver } from './take-over.ts'

const FAILED_HERE = { code: 'failed_here', reason: ruleTitle('failed_here') }
const NO_RISK: WeighedRisk = { severity: 'none', mended: [], highCount: 0 }
const MENDS = { code: 'mends_unreachable', reason: ruleTitle('mends_unreachable') }

/** Everything that a plan is made of. */
export interface PlanFacts {
  draft: string
  target: ConfigTarget
  validation: ValidationResult
  /** The components that the draft uses. */
  required: readonly ComponentRef[]
  /** Of the draft against what runs now; null when nothing is known to run. */
  diff: ConfigDiff | null
  comparedWith: NonNullable<ConfigPlan['compared_with']>
  policy: PolicyEvaluation
}

/** What tells how risky a draft is. */
type RiskFacts = Pick<PlanFacts, 'draft' | 'target' | 'diff' | 'comparedWith'>

/**
 * How risky a draft is: by what it changes, high where it failed here, however little it changes, and less where it only
 * gives up a destination that nobody can reach. One that takes over what instances report is never without a risk.
 */
function riskOf(
  { draft, target, diff, comparedWith }: RiskFacts,
  { severity, mended }: WeighedRisk,
): Omit<ConfigPlan['risk_score'], 'applies_to_count'> {
  const { reasons, reason_codes: codes = [] } = diff?.risk_score ?? { reasons: [] }
  const hasFailed = target.failedHashes.has(configHash(draft))
  const isFirst = takesOver(comparedWith)
  const first = [...(hasFailed ? [FAILED_HERE] : []), ...(mended.length > 0 ? [MENDS] : [])]
  return {
    severity: hasFailed ? 'high' : isFirst ? riskOfTakeOver(severity) : severity,
    reasons: [...first.map(({ reason }) => reason), ...reasons, ...(isFirst ? [TAKES_OVER.title] : [])],
    reason_codes: [...first.map(({ code }) => code), ...codes, ...(isFirst ? [TAKES_OVER.rule] : [])],
    ...(mended.length === 0 ? {} : { mended_risk_ids: [...mended] }),
  }
}

const weigh = ({ diff, target }: Pick<PlanFacts, 'target' | 'diff'>): WeighedRisk =>
  diff === null ? NO_RISK : weighRisks(diff, target.failing)

/** How risky it is to push a draft, in the words of its plan. */
export const riskOfPush = (facts: RiskFacts): Omit<ConfigPlan['risk_score'], 'applies_to_count'> =>
  riskOf(facts, weigh(facts))

/** What a push of a draft to a workload would do, and what stands in its way. */
export function planPush(facts: PlanFacts): Omit<ConfigPlan, 'export'> {
  const { draft, target, validation, required, policy } = facts
  const weighed = weigh(facts)
  const planned = planTarget(facts, weighed)
  const isCollector = target.type === 'collector'
  const excluded = validation.valid ? excludedInstances(required, target.instances) : []
  const hardFailures = [
    ...(draft.trim() === '' ? ['empty_config'] : []),
    ...(planned.excluded ? ['all_targets_excluded'] : []),
    ...(validation.valid ? [] : ['validation_failed']),
    ...(policy.decision === 'block' ? ['config_policy_blocked'] : []),
  ]
  return {
    schema_version: 'config_application_plan.v1',
    workload_id: target.workloadId,
    config_hash: configHash(draft),
    summary: {
      target_count: 1,
      collector_target_count: isCollector ? 1 : 0,
      remote_config_capable_count: target.acceptsRemoteConfig ? 1 : 0,
      read_only_count: planned.read_only ? 1 : 0,
      validation_ok_count: validation.valid ? 1 : 0,
      validation_failed_count: validation.valid ? 0 : 1,
      components_missing_count: planned.components_missing_count,
      high_risk_change_count: planned.high_risk_change_count,
      excluded_count: planned.excluded ? 1 : 0,
      reached_instance_count: planned.excluded ? 0 : target.instances.length - excluded.length,
      excluded_instance_count: planned.excluded ? target.instances.length : excluded.length,
    },
    risk_score: { ...riskOf(facts, weighed), applies_to_count: isCollector ? 1 : 0 },
    compared_with: facts.comparedWith,
    ...(target.failing.size === 0 ? {} : { failing_now: listFailing(facts.diff, target.failing) }),
    targets: [planned],
    excluded_instances: excluded.map(({ uid, podName, reason, missing }) => ({
      instance_uid: uid,
      ...(podName === '' ? {} : { pod_name: podName }),
      reason: reason === 'component_not_installed' ? 'component_missing' : reason,
      ...(missing.length === 0
        ? {}
        : { missing_components: [...new Set(missing.map(({ type }) => type))].sort() }),
    })),
    policy,
    prod_target: isProductionByLabels(target),
    hard_failures: hardFailures,
    can_push: hardFailures.length === 0,
    apply_allowed: hardFailures.length === 0,
  }
}

function planTarget(
  { target, validation, required, comparedWith }: PlanFacts,
  { highCount }: WeighedRisk,
): PlanTarget {
  const isReadOnly = !target.acceptsRemoteConfig
  // A degraded workload does not count as offline, for a push may repair it, unless no instance can take the config.
  // A draft that failed validation counts no instance as lacking a component: the validation says so itself.
  const needed = validation.valid ? required : []
  const reachable = target.instances.length - excludedInstances(needed, target.instances).length
  const isOffline = target.status === 'disconnected' || (!isReadOnly && reachable === 0)
  const failures = [
    ...(isReadOnly ? ['read_only'] : []),
    ...(isOffline ? ['workload_offline'] : []),
    ...(validation.valid ? [] : ['validation_failed']),
  ]
  const reasons = [...(target.type === 'collector' ? [] : ['non_collector']), ...failures]
  const errors = validation.errors.map(({ code }) => code)
  return {
    workload_id: target.workloadId,
    display_name: target.displayName,
    type: target.type,
    accepts_remote_config: target.acceptsRemoteConfig,
    read_only: isReadOnly,
    validation_status: validation.valid ? 'ok' : 'failed',
    ...(errors.length === 0 ? {} : { validation_errors: errors }),
    components_missing_count: errors.filter((code) => code === 'component_not_installed').length,
    high_risk_change_count: highCount,
    excluded: reasons.length > 0,
    exclusion_reasons: reasons,
    hard_failures: failures,
    ...(target.activeConfigHash === null ? {} : { active_config_hash: target.activeConfigHash }),
    active_config_unavailable: comparedWith !== 'active',
  }
}

/** A plan as a Markdown page. The same plan gives the same page. */
export function planMarkdown(plan: ConfigPlan): string {
  const { summary } = plan
  const lines = [
    '# Config Safety Plan',
    '',
    `Workload: ${cell(plan.workload_id)}`,
    `Config hash: ${plan.config_hash}`,
    `Can push: ${plan.can_push}`,
    `Production target: ${plan.prod_target === true}`,
    `Risk: ${plan.risk_score.severity}`,
    `Compared with: ${plan.compared_with}`,
    `Policy decision: ${plan.policy.decision}`,
    'Persisted rollout: not persisted',
    '',
    '## Summary',
    '',
    ...Object.entries(summary).map(([name, count]) => `- ${name.replaceAll('_', ' ')}: ${count}`),
    '',
    '## Targets',
    '',
    ...plan.targets.map((target) => {
      const state = target.excluded ? `excluded (${target.exclusion_reasons.join(', ')})` : 'included'
      return `- ${cell(target.display_name)} (${cell(target.workload_id)}): ${state}, validation ${target.validation_status}, high risk changes ${target.high_risk_change_count}`
    }),
  ]
  const section = (title: string, entries: readonly string[]) =>
    entries.length === 0 ? [] : ['', `## ${title}`, '', ...entries.map((entry) => `- ${entry}`)]
  lines.push(
    ...section(
      'Left out',
      (plan.excluded_instances ?? []).map(({ instance_uid, pod_name, reason, missing_components }) => {
        const missing = missing_components ? ` (${missing_components.map(cell).join(', ')})` : ''
        return `${cell(pod_name ?? instance_uid)}: ${reason}${missing}`
      }),
    ),
    ...section('Risks', plan.risk_score.reasons.map(cell)),
    ...section(
      'Policy findings',
      plan.policy.findings.map(({ policy_name, path }) => `${policy_name}: ${cell(path)}`),
    ),
    ...section('Hard failures', plan.hard_failures),
  )
  return `${lines.join('\n')}\n`
}

/** A name that agents or configs chose, on one line and escaped, so that none of it works as Markdown. */
function cell(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|]/g, '\\$&')
}
