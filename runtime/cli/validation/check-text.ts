import type { AvailableComponents } from '../../../lib/configs/check/target.ts'
import { validateStatically } from '../../../lib/configs/check/validate.ts'
import { evaluatePolicy } from '../../../lib/configs/policy/policy.ts'
import { redactSecrets } from '../../../lib/configs/redact/redact.ts'
import { parseConfig } from '../../../lib/configs/yaml/parse.ts'
import { namesProduction } from '../../../lib/model/production.ts'
import type { PolicySettings } from '../../../lib/wire/policy.ts'

/** What is known of the collector that is to run the configs. */
export interface OfflineTarget {
  /** Null where no list of components was given. */
  components: AvailableComponents | null
  /** Empty when it is not known. */
  version: string
  minimumVersion: string
  environment: string
  policy: PolicySettings
  /** Whether the texts are those of fleet configs, in which muster fills in `${muster:NAME}` later. */
  hasVariables: boolean
}

/** One thing that there is to say about a file. */
export interface Finding {
  code: string
  severity: 'error' | 'warning'
  message: string
  /** As in `exporters.otlp.endpoint`; empty for the whole file. */
  path: string
  /** From 1; 1 for the whole file. */
  line: number
  column: number
}

/** One file with everything that was found in it. */
export interface CheckedFile {
  file: string
  isValid: boolean
  findings: readonly Finding[]
}

/** Check one config by everything that needs no service and no collector. */
export function checkText(file: string, text: string, target: OfflineTarget): CheckedFile {
  const parsed = parseConfig(text)
  const placeOf = (path: string | undefined, line: number | undefined) => {
    if (!parsed.ok) return { line: parsed.problem.line ?? 1, column: parsed.problem.column ?? 1 }
    return (path ? parsed.document.placeOf(path) : null) ?? { line: line ?? 1, column: 1 }
  }
  const { checks } = validateStatically(text, {
    target: target.components === null ? null : asWorkload(target),
    requestedVersion: target.version,
    minimumVersion: target.minimumVersion,
    validatedAt: new Date(0),
  })
  const findings: Finding[] = []
  for (const { messages } of checks)
    for (const { code, severity, message, path, line } of messages) {
      if (severity === 'info' || isAboutOurselves(code, target)) continue
      if (code === 'unfilled_variable' && target.hasVariables) continue
      findings.push({
        code,
        severity,
        message: toSaid(message),
        path: toSaid(path ?? ''),
        ...placeOf(path, line),
      })
    }
  if (parsed.ok) findings.push(...findPolicyBreaches(text, target, placeOf))
  findings.sort((a, b) => a.line - b.line || a.column - b.column)
  return { file, isValid: findings.every(({ severity }) => severity !== 'error'), findings }
}

/** The longest message or path: names of a config are in both, and whoever proposes one chooses them. */
const SAID_MAX = 1_000

/** What is said of a config, without secrets and not longer than is read. */
function toSaid(text: string): string {
  const redacted = redactSecrets(text)
  if (redacted.length <= SAID_MAX) return redacted
  // A character of two units is not cut through.
  return `${redacted.slice(0, SAID_MAX - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

type PlaceOf = (path: string | undefined, line: number | undefined) => { line: number; column: number }

function findPolicyBreaches(text: string, target: OfflineTarget, placeOf: PlaceOf): Finding[] {
  const { environment, policy: settings } = target
  const { findings } = evaluatePolicy({
    candidate: text,
    current: null,
    isProduction: namesProduction(environment),
    target: environment === '' ? {} : { environment },
    settings,
  })
  return findings.map(({ rule_code: code, decision, path, message }) => ({
    code,
    severity: decision === 'block' ? ('error' as const) : ('warning' as const),
    message: toSaid(message),
    path: toSaid(path),
    ...placeOf(path, undefined),
  }))
}

/** Whether a finding only says that this command was given no list of components, or no version. */
function isAboutOurselves(code: string, { components, version }: OfflineTarget): boolean {
  if (code === 'available_components_missing') return components === null
  return code === 'target_version_unknown' && version === ''
}

/** The list of components as if the one instance of a workload had reported it. */
const asWorkload = ({ components, version }: OfflineTarget) => ({
  workloadId: '',
  displayName: '',
  type: 'collector',
  version,
  status: 'connected' as const,
  labels: {},
  trustedLabels: {},
  acceptsRemoteConfig: true,
  lastKnownComponents: components,
  instances: [],
  activeConfigHash: null,
  failing: new Map(),
  failedHashes: new Set<string>(),
})
