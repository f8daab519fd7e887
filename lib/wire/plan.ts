import { array, boolean, enums, type Infer, literal, number, optional, string, type } from 'superstruct'
import { PolicyEvaluation } from './policy.ts'
import { anyOf, named, note } from './structs.ts'

export const RiskLevel = named('RiskLevel', '', enums(['none', 'low', 'medium', 'high']))
export type RiskLevel = Infer<typeof RiskLevel>

export const ComparedWith = enums(['active', 'reported', 'nothing'])
export type ComparedWith = Infer<typeof ComparedWith>

export const RiskScore = named(
  'RiskScore',
  'How risky a change is, and for how many.',
  type({
    severity: RiskLevel,
    reasons: array(string()),
    reason_codes: note('The rules of the reasons, in their order.', optional(array(string()))),
    mended_risk_ids: note(
      'Of a plan: those of the risks of its diff that are no more than medium on this workload, as they take an exporter away from a host that no instance can reach; absent for none.',
      optional(array(string())),
    ),
    applies_to_count: number(),
  }),
)
export type RiskScore = Infer<typeof RiskScore>

export const PlanExcludedInstance = named(
  'PlanExcludedInstance',
  'An instance that a push would leave out.',
  type({
    instance_uid: string(),
    pod_name: optional(string()),
    reason: anyOf([literal('read_only'), literal('not_a_collector'), literal('component_missing'), string()]),
    missing_components: note('Component types its build lacks.', optional(array(string()))),
  }),
)
export type PlanExcludedInstance = Infer<typeof PlanExcludedInstance>

export const PlanTarget = named(
  'PlanTarget',
  'What a push would do on one workload.',
  type({
    workload_id: string(),
    display_name: string(),
    type: string(),
    accepts_remote_config: boolean(),
    read_only: boolean(),
    validation_status: enums(['ok', 'failed']),
    validation_errors: optional(array(string())),
    components_missing_count: number(),
    high_risk_change_count: number(),
    excluded: boolean(),
    exclusion_reasons: array(string()),
    hard_failures: array(string()),
    active_config_hash: optional(string()),
    active_config_unavailable: boolean(),
  }),
)
export type PlanTarget = Infer<typeof PlanTarget>

export const ConfigPlan = named(
  'ConfigPlan',
  'Answer of `POST /api/workloads/{id}/config/plan`: what would happen, without doing it.',
  type({
    schema_version: literal('config_application_plan.v1'),
    workload_id: string(),
    config_hash: string(),
    summary: type({
      target_count: number(),
      collector_target_count: number(),
      remote_config_capable_count: number(),
      read_only_count: number(),
      validation_ok_count: number(),
      validation_failed_count: number(),
      components_missing_count: number(),
      high_risk_change_count: number(),
      excluded_count: number(),
      reached_instance_count: note('Live instances that would receive the config.', optional(number())),
      excluded_instance_count: note('Live instances that would not.', optional(number())),
    }),
    risk_score: RiskScore,
    compared_with: note(
      'What the risk is judged against: the active config, else what the instances report to run.',
      optional(ComparedWith),
    ),
    failing_now: note(
      'The exporters that instances say fail now, as `exporters.otlp/eu`, and whether the draft changes or takes away each, where there is something to compare it with; absent where none does.',
      optional(array(type({ component: string(), is_changed: optional(boolean()) }))),
    ),
    targets: array(PlanTarget),
    excluded_instances: optional(array(PlanExcludedInstance)),
    policy: PolicyEvaluation,
    prod_target: note('Whether the push needs the production confirmations.', optional(boolean())),
    hard_failures: array(string()),
    can_push: boolean(),
    apply_allowed: boolean(),
    export: type({
      supported: boolean(),
      formats: array(string()),
      json_endpoint: string(),
      markdown_endpoint: string(),
      persisted_rollout: string(),
    }),
  }),
)
export type ConfigPlan = Infer<typeof ConfigPlan>
