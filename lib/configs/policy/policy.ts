import { environmentOf } from '../../model/labels.ts'
import { isProduction } from '../../model/production.ts'
import { compareText } from '../../model/text-order.ts'
import type { PolicyEvaluation, PolicyFinding, PolicySettings, PolicyTarget } from '../../wire/policy.ts'
import type { ConfigTarget } from '../check/target.ts'
import { type ParsedConfig, parseConfig } from '../yaml/parse.ts'
import type { ReadConfig } from '../yaml/parse-memory.ts'
import { POLICY_RULES, type PolicyCase, type PolicyHit } from './rules.ts'

/** What is to be judged. Settings are the server's for a push, the caller's for a preview. */
export interface PolicyRequest {
  candidate: string
  /** What runs now; null when nothing is known to run. */
  current: string | null
  isProduction: boolean
  target: PolicyTarget
  settings: PolicySettings
}

/** The server's own settings. */
export interface ServerPolicy {
  otlpAllowlist: readonly string[]
  criticalExporters: readonly string[]
  requiredResourceAttributes: readonly string[]
}

/** The policy request for a config and the workload that is to run it; production is judged by `isProduction`. */
export function policyForWorkload(
  target: ConfigTarget,
  texts: { candidate: string; current: string | null },
  /** `prodTarget`: whether the workload was production when the config was requested; if so, it still counts as it. */
  approval: { targetEnv: string; targetGroup: string; prodTarget?: boolean },
  server: ServerPolicy,
): PolicyRequest {
  const { targetEnv, targetGroup } = approval
  const { labels, trustedLabels } = target
  const environment = targetEnv.trim() || environmentOf(trustedLabels, labels)
  return {
    ...texts,
    isProduction:
      approval.prodTarget === true || isProduction({ targetEnv, targetGroup, labels, trustedLabels }),
    target: {
      ...(environment === '' ? {} : { environment }),
      scope: 'workload',
      workload_id: target.workloadId,
    },
    settings: {
      allowed_otlp_endpoints: [...server.otlpAllowlist],
      critical_exporters: [...server.criticalExporters],
      required_resource_attributes: [...server.requiredResourceAttributes],
    },
  }
}

const PARSE_RULE = { id: 'community.yaml.parse', name: 'YAML parse', severity: 'critical' } as const
const SAMPLING_MIN = 0.1
const SAMPLING_MAX = 100

/** Judge a config by the rules. The answer holds no text of the config and no endpoint. */
export function evaluatePolicy(request: PolicyRequest, read: ReadConfig = parseConfig): PolicyEvaluation {
  const sampling = {
    min_percentage: request.settings.sampling?.min_percentage || SAMPLING_MIN,
    max_percentage: request.settings.sampling?.max_percentage || SAMPLING_MAX,
  }
  const settings: PolicySettings = { ...request.settings, sampling }
  const parsed = read(request.candidate)
  if (!parsed.ok && parsed.problem.code === 'yaml_parse') {
    const hit = { path: '', message: parsed.problem.message, remediation: 'Correct the YAML.' }
    return answer(false, [finding(PARSE_RULE, hit, request.target)], 1, request.target, settings)
  }
  const about: PolicyCase = {
    candidate: parsed.ok ? parsed.document : EMPTY,
    current: readCurrent(request.current, read),
    isProduction: request.isProduction,
    allowedOtlpEndpoints: settings.allowed_otlp_endpoints ?? [],
    criticalExporters: settings.critical_exporters ?? [],
    requiredResourceAttributes: settings.required_resource_attributes ?? [],
    sampling: {
      min: sampling.min_percentage,
      max: sampling.max_percentage,
      isAsked: Boolean(
        request.settings.sampling?.min_percentage || request.settings.sampling?.max_percentage,
      ),
    },
  }
  const rules = POLICY_RULES.filter((rule) => rule.applies(about))
  const findings = rules.flatMap((rule) => rule.find(about).map((hit) => finding(rule, hit, request.target)))
  // One more: the rule about YAML that does not parse was applied too, and passed.
  return answer(true, findings, rules.length + 1, request.target, settings)
}

const EMPTY: ParsedConfig = { root: {} }

function readCurrent(current: string | null, read: ReadConfig): ParsedConfig | null {
  const parsed = current === null ? null : read(current)
  return parsed?.ok ? parsed.document : null
}

function finding(
  rule: { id: string; name: string; severity: PolicyFinding['severity'] },
  hit: PolicyHit,
  target: PolicyTarget,
): PolicyFinding {
  return {
    policy_id: rule.id,
    rule_id: rule.id,
    rule_code: rule.id,
    policy_name: rule.name,
    severity: rule.severity,
    decision: 'block',
    ...(target.scope ? { target_scope: target.scope } : {}),
    ...(target.environment ? { environment: target.environment } : {}),
    path: hit.path,
    paths: [hit.path],
    ...(hit.about === undefined ? {} : { component: hit.about }),
    message: hit.message,
    remediation: hit.remediation,
    packaging: 'community',
    tier: 'core',
  }
}

function answer(
  isYaml: boolean,
  findings: PolicyFinding[],
  ruleCount: number,
  target: PolicyTarget,
  settings: PolicySettings,
): PolicyEvaluation {
  findings.sort((a, b) => compareText(a.rule_code, b.rule_code) || compareText(a.path, b.path))
  const broken = new Set(findings.map(({ rule_code }) => rule_code)).size
  const severity = findings.some((one) => one.severity === 'critical')
    ? 'critical'
    : findings.length > 0
      ? 'warning'
      : 'info'
  return {
    schema_version: 'config-policy.v1',
    valid: isYaml && findings.length === 0,
    allowed: findings.length === 0,
    decision: findings.length === 0 ? 'pass' : 'block',
    severity,
    target,
    settings,
    findings,
    summary: { pass_count: ruleCount - broken, warn_count: 0, block_count: findings.length },
    audit: { persisted: false, event: 'config.policy.evaluate', reason: 'an evaluation changes nothing' },
  }
}
