import { hasHiddenSigns } from '../../model/hidden-signs.ts'
import { isBelowMinimum } from '../../model/versions.ts'
import type { ValidationResult } from '../../wire/validation.ts'
import { type LocatedConfig, type ParsedConfig, parseConfig } from '../yaml/parse.ts'
import type { ReadConfig } from '../yaml/parse-memory.ts'
import type { ComponentRef } from './components.ts'
import { componentAvailability, neededComponents, requiredComponents } from './components.ts'
import { type ConfigReferences, referencesOf } from './expansions.ts'
import { checkStructure } from './structure.ts'
import type { ConfigTarget } from './target.ts'
import { buildCheck, type Check, type CheckMessage, skippedCheck } from './validation-messages.ts'

/** The check by a collector binary. It answers with one check of its own and changes none of the static ones. */
export type RuntimeCheck = (request: {
  text: string
  references: ConfigReferences
  /** Empty when none is known. */
  targetVersion: string
}) => Promise<Check>

/** Everything a validation depends on beside the text. */
export interface ValidationTarget {
  /** Null where no workload is concerned; the component check then says that nothing was reported. */
  target: ConfigTarget | null
  /** From the request; wins over the workload's own version. Empty when absent. */
  requestedVersion: string
  /** The configured minimum; empty when there is none. */
  minimumVersion: string
  validatedAt: Date
}

/** The four checks that need no collector binary. */
export interface StaticValidation {
  checks: Check[]
  targetVersion: string
  /** Every component that is used or only defined, once; empty when the text could not be read. */
  required: ComponentRef[]
  references: ConfigReferences
}

/** Of a text that cannot be read; such a text is never given to a collector binary. */
const NO_REFERENCES: ConfigReferences = { providers: [], areHarmless: false }

/** Run the four static checks. Same input, same answer. */
export function validateStatically(
  text: string,
  about: ValidationTarget,
  read: ReadConfig = parseConfig,
): StaticValidation {
  const version = versionCheck(about)
  const parsed = read(text)
  const metadata = { bytes: Buffer.byteLength(text) }
  if (!parsed.ok) {
    const { code, message, line } = parsed.problem
    const finding = { code, severity: 'error', message, ...(line === undefined ? {} : { line }) } as const
    const failed = buildCheck('yaml_static', [finding], metadata)
    const skipped = [
      'collector_structure',
      'component_availability',
      'collector_version_compatibility',
    ] as const
    const checks = [failed, ...skipped.map((id) => skippedCheck(id, 'yaml_static'))]
    return { checks, targetVersion: version.targetVersion, required: [], references: NO_REFERENCES }
  }
  const config = parsed.document
  const ok = { code: 'yaml_parse_ok', severity: 'info', message: 'The YAML can be read.' } as const
  const structure = structureCheck(config, runsProfiles(about.target))
  const availability =
    structure.status === 'failed'
      ? skippedCheck('component_availability', 'collector_structure')
      : availabilityCheck(neededComponents(config), about.target)
  const checks = [
    buildCheck('yaml_static', [ok, ...hiddenSigns(text)], metadata),
    structure,
    availability,
    version.check,
  ]
  for (const { messages } of checks) for (const message of messages) addLine(message, config)
  const { targetVersion } = version
  const references = referencesOf(text, config.root)
  return { checks, targetVersion, required: requiredComponents(config), references }
}

/** Lines that are named at most; who looks at one looks at the rest. */
const HIDDEN_LINES_MAX = 5

/** A warning for each of the first lines whose reading is changed by signs that nobody sees. */
function hiddenSigns(text: string): Omit<CheckMessage, 'check_id'>[] {
  if (!hasHiddenSigns(text)) return []
  const lines = text.split('\n').flatMap((line, at) => (hasHiddenSigns(line) ? [at + 1] : []))
  return lines.slice(0, HIDDEN_LINES_MAX).map((line) => ({
    code: 'hidden_signs',
    severity: 'warning',
    message:
      'The line has signs that are not seen and change how it reads, such as one that turns its direction.',
    line,
  }))
}

/** Run all five checks; the last is the caller's, which knows the collector binary. */
export async function validateConfig(
  text: string,
  about: ValidationTarget,
  runtimeCheck: RuntimeCheck,
): Promise<ValidationResult> {
  return finishValidation(text, validateStatically(text, about), about.validatedAt, runtimeCheck)
}

/** Add the runtime check to what the static checks found, which may have run in a worker. */
export async function finishValidation(
  text: string,
  found: StaticValidation,
  validatedAt: Date,
  runtimeCheck: RuntimeCheck,
): Promise<ValidationResult> {
  const { checks, references, targetVersion } = found
  const failed = checks.find(({ status }) => status === 'failed')
  const failedRequired = checks.find(({ status, required }) => status === 'failed' && required)
  const runtime = failed
    ? skippedCheck('otelcol_runtime', failedRequired?.id ?? 'static_validation')
    : await runtimeCheck({ text, references, targetVersion })
  return summariseChecks([...checks, runtime], targetVersion, validatedAt)
}

/** The result that a list of checks amounts to. */
export function summariseChecks(checks: Check[], targetVersion: string, validatedAt: Date): ValidationResult {
  const errors: ValidationResult['errors'] = []
  const warnings: ValidationResult['warnings'] = []
  for (const { messages } of checks) {
    for (const { severity, ...finding } of messages) {
      if (severity === 'error') errors.push(finding)
      if (severity === 'warning') warnings.push({ ...finding, severity })
    }
  }
  const hasSkipped = checks.some(({ status }) => status === 'skipped')
  const overall = errors.length > 0 ? 'failed' : warnings.length > 0 || hasSkipped ? 'warning' : 'passed'
  return {
    valid: errors.length === 0,
    overall_status: overall,
    summary: summaryText(errors.length, warnings.length, hasSkipped),
    ...(targetVersion === '' ? {} : { target_collector_version: targetVersion }),
    validated_at: validatedAt.toISOString(),
    errors,
    warnings,
    checks,
  }
}

function summaryText(errors: number, warnings: number, hasSkipped: boolean): string {
  const count = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`
  if (errors > 0) return `Validation found ${count(errors, 'error')}.`
  if (warnings > 0) return `The configuration is valid, with ${count(warnings, 'warning')}.`
  return hasSkipped
    ? 'The configuration is valid; not every check was run.'
    : 'The configuration passed every check.'
}

/** Whether some instance runs a pipeline of profiles, and so was started with the feature gate that this needs. */
const runsProfiles = (target: ConfigTarget | null): boolean =>
  target?.instances.some((instance) => instance.runsProfiles) === true

function structureCheck(config: ParsedConfig, hasProfilesGate: boolean): Check {
  const report = checkStructure(config, { hasProfilesGate })
  const metadata = {
    defined_components: report.definedComponents,
    ...(report.pipelines
      ? { pipelines: report.pipelines, component_refs_checked: report.componentRefsChecked }
      : {}),
  }
  const hasError = report.findings.some(({ severity }) => severity === 'error')
  const ok = { code: 'collector_structure_ok', severity: 'info', message: 'The structure is valid.' } as const
  return buildCheck('collector_structure', hasError ? report.findings : [...report.findings, ok], metadata)
}

type Finding = Omit<CheckMessage, 'check_id'>

function availabilityCheck(references: readonly ComponentRef[], target: ConfigTarget | null): Check {
  const found = target ? componentAvailability(references, target) : null
  const reported = found?.reportedCategories ?? []
  const metadata = { component_refs_checked: references.length, reported_categories: reported }
  if (!found || reported.length === 0) {
    const message = 'The workload has not reported which components it has.'
    return buildCheck(
      'component_availability',
      [{ code: 'available_components_missing', severity: 'warning', message }],
      metadata,
    )
  }
  const messages: Finding[] = found.unreportedCategories.map((category) => ({
    code: 'component_category_unreported',
    severity: 'warning',
    message: `The workload has not reported its components of the category "${category}".`,
  }))
  for (const { category, type, path } of found.missing) {
    const available = (found.availableTypes.get(category) ?? []).join(', ')
    const message = `${category.slice(0, -1)} type "${type}" is not installed on the target workload (available: ${available})`
    messages.push({ code: 'component_not_installed', severity: 'error', message, path })
  }
  for (const { reference, instances } of found.partlyMissing) {
    const names = instances.map(({ uid, podName }) => podName || uid).join(', ')
    const { category, type, path } = reference
    const message = `${category.slice(0, -1)} type "${type}" is not installed on ${names}, which will be left out`
    messages.push({ code: 'component_partly_installed', severity: 'warning', message, path })
  }
  if (messages.length === 0) {
    messages.push({
      code: 'component_availability_ok',
      severity: 'info',
      message: 'The workload has every component that is defined.',
    })
  }
  return buildCheck('component_availability', messages, metadata)
}

function addLine(message: CheckMessage, config: LocatedConfig): void {
  const line = message.path === undefined ? null : config.lineOf(message.path)
  if (line !== null) message.line = line
}

function versionCheck(about: ValidationTarget): { check: Check; targetVersion: string } {
  const requested = about.requestedVersion.trim()
  const targetVersion = requested || (about.target?.version ?? '').trim()
  const minimum = about.minimumVersion.trim()
  const source = targetVersion === '' ? 'unknown' : requested ? 'request' : 'workload'
  const metadata = {
    version_source: source,
    ...(targetVersion === '' ? {} : { target_version: targetVersion }),
    ...(minimum === '' ? {} : { minimum_supported_version: minimum }),
  }
  const id = 'collector_version_compatibility'
  const one = (code: string, severity: Finding['severity'], message: string) => ({
    check: buildCheck(id, [{ code, severity, message }], metadata),
    targetVersion,
  })
  if (targetVersion === '') {
    return one('target_version_unknown', 'warning', 'The version of the target collector is not known.')
  }
  if (minimum !== '' && isBelowMinimum(targetVersion, minimum)) {
    const text = `Target collector version ${targetVersion} is below the configured minimum ${minimum}.`
    return one('target_version_too_old', 'error', text)
  }
  return one('target_version_checked', 'info', `The target collector version is ${targetVersion}.`)
}
