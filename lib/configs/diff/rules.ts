import type { RiskLevel } from '../../wire/plan.ts'

/**
 * What the rules find in a change, each with its title and how risky it is: what is judged, what is said of it, and what
 * the legend says of risks, all go by this.
 */
export const RISK_RULES = {
  auth_header_modified: { title: 'Auth/header modified', risk: 'high' },
  batch_processor_removed_from_pipeline: { title: 'Batch processor removed from pipeline', risk: 'high' },
  delivery_guard_weakened: { title: 'Queue or retry switched off', risk: 'medium' },
  destination_added: { title: 'New destination', risk: 'high' },
  destination_changed: { title: 'Destination changed', risk: 'high' },
  dropping_processor_added: { title: 'Data is dropped that was kept', risk: 'medium' },
  exporter_removed: { title: 'Exporter removed', risk: 'high' },
  failed_here: { title: 'This config failed here when it was last pushed.', risk: 'high' },
  memory_limit_lowered: { title: 'Memory limit lowered', risk: 'medium' },
  memory_limit_raised: { title: 'Memory limit raised', risk: 'medium' },
  memory_limiter_removed_from_pipeline: { title: 'Memory limiter removed from pipeline', risk: 'high' },
  mends_unreachable: {
    title: 'No instance can reach the destination that it replaces.',
    risk: 'medium',
  },
  otlp_endpoint_changed: { title: 'OTLP endpoint changed', risk: 'high' },
  pipeline_broken: { title: 'Pipeline broken', risk: 'high' },
  pipeline_exporter_set_changed: { title: 'Pipeline exporter set changed', risk: 'medium' },
  pipeline_removed: { title: 'Pipeline removed', risk: 'high' },
  processor_order_changed: { title: 'Processor order changed', risk: 'medium' },
  receiver_endpoint_exposure_changed: { title: 'Receiver endpoint exposure changed', risk: 'medium' },
  redaction_removed: { title: 'Redaction removed', risk: 'high' },
  redaction_weakened: { title: 'Redaction weakened', risk: 'high' },
  sampling_guard_removed: { title: 'Sampling guard removed', risk: 'high' },
  sampling_policy_modified: { title: 'Sampling policy modified', risk: 'medium' },
  sampling_rate_strongly_changed: { title: 'Sampling rate strongly changed', risk: 'high' },
  stored_state_left_behind: { title: 'Stored data stays behind', risk: 'medium' },
  takes_over: {
    title: 'It replaces what the instances report to run, and there is no earlier config to go back to.',
    risk: 'medium',
  },
  transport_security_weakened: { title: 'Transport security weakened', risk: 'high' },
} as const satisfies Record<string, { title: string; risk: RiskLevel }>

type RiskRule = keyof typeof RISK_RULES

const isRule = (rule: string): rule is RiskRule => Object.hasOwn(RISK_RULES, rule)

/** How risky what a rule finds is. */
export const ruleRisk = (rule: string): RiskLevel => (isRule(rule) ? RISK_RULES[rule].risk : 'high')

/** What a finding of a rule is called. */
export const ruleTitle = (rule: string): string =>
  isRule(rule) ? RISK_RULES[rule].title : rule.replaceAll('_', ' ')
