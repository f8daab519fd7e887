import { array, boolean, enums, type Infer, literal, number, optional, string, type } from 'superstruct'
import { named, note, type Sent, texts } from './structs.ts'

export const PolicyDecision = named('PolicyDecision', '', enums(['pass', 'warn', 'block']))
export type PolicyDecision = Infer<typeof PolicyDecision>

export const PolicySeverity = named('PolicySeverity', '', enums(['info', 'warning', 'critical']))
export type PolicySeverity = Infer<typeof PolicySeverity>

export const PolicyFinding = named(
  'PolicyFinding',
  'One rule that a config breaks.',
  type({
    policy_id: string(),
    rule_id: string(),
    rule_code: string(),
    policy_name: string(),
    severity: PolicySeverity,
    decision: PolicyDecision,
    target_scope: optional(string()),
    environment: optional(string()),
    path: string(),
    paths: array(string()),
    component: note('The component that it is about, where its path does not name it.', optional(string())),
    message: string(),
    remediation: string(),
    packaging: string(),
    tier: string(),
  }),
)
export type PolicyFinding = Infer<typeof PolicyFinding>

export const PolicyTarget = named(
  'PolicyTarget',
  'What the policies are judged for.',
  type({
    environment: optional(string()),
    scope: optional(string()),
    workload_id: optional(string()),
    tenant_id: optional(string()),
    team_id: optional(string()),
  }),
)
export type PolicyTarget = Infer<typeof PolicyTarget>

export const PolicySettings = named(
  'PolicySettings',
  "The rules' settings.",
  type({
    allowed_otlp_endpoints: optional(array(string())),
    critical_exporters: optional(array(string())),
    required_resource_attributes: optional(array(string())),
    sampling: optional(
      type({
        min_percentage: number(),
        max_percentage: number(),
      }),
    ),
  }),
)
export type PolicySettings = Infer<typeof PolicySettings>

export const PolicyEvaluation = named(
  'PolicyEvaluation',
  'The verdict of the config policies. Holds no draft text and no endpoint.',
  type({
    schema_version: literal('config-policy.v1'),
    valid: boolean(),
    allowed: boolean(),
    decision: PolicyDecision,
    severity: PolicySeverity,
    target: PolicyTarget,
    settings: PolicySettings,
    findings: array(PolicyFinding),
    summary: type({
      pass_count: number(),
      warn_count: number(),
      block_count: number(),
    }),
    audit: type({
      persisted: boolean(),
      event: string(),
      reason: string(),
    }),
  }),
)
export type PolicyEvaluation = Infer<typeof PolicyEvaluation>

export const PolicyPreviewRequest = named(
  'PolicyPreviewRequest',
  'Body of `POST /api/configs/policy/preview`.',
  type({
    candidate_yaml: optional(string()),
    target_yaml: optional(string()),
    current_yaml: optional(string()),
    base_yaml: optional(string()),
    target: optional(
      type({
        environment: optional(string()),
        scope: optional(string()),
        workload_id: optional(string()),
        tenant_id: optional(string()),
        team_id: optional(string()),
      }),
    ),
    settings: optional(
      type({
        allowed_otlp_endpoints: optional(texts(1_000)),
        critical_exporters: optional(texts(1_000)),
        required_resource_attributes: optional(texts(1_000)),
        sampling: optional(type({ min_percentage: optional(number()), max_percentage: optional(number()) })),
      }),
    ),
    context: optional(
      type({
        environment: optional(string()),
        endpoint_allowlist: optional(texts(1_000)),
        critical_exporters: optional(texts(1_000)),
        required_resource_attributes: optional(texts(1_000)),
        max_sampling_percentage: optional(number()),
      }),
    ),
  }),
)
export type PolicyPreviewRequest = Sent<typeof PolicyPreviewRequest>
