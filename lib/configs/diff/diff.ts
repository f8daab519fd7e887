import { configHash } from '../../model/config-hash.ts'
import type { ConfigDiff } from '../../wire/diff.ts'
import type { RiskLevel } from '../../wire/plan.ts'
import { CATEGORIES } from '../../wire/values.ts'
import { type ParseResult, parseConfig } from '../yaml/parse.ts'
import type { ReadConfig } from '../yaml/parse-memory.ts'
import { type ConfigObject, emptyObject } from '../yaml/value.ts'
import { blastRadius, emptyBlastRadius } from './blast-radius.ts'
import { diffComponents } from './components.ts'
import type { DiffInput } from './context.ts'
import { newDestinations } from './destinations.ts'
import { diffEndpoints, hostsOf } from './endpoints.ts'
import { type ComparedConfig, cutUp, invalidSections, maxRisk } from './model.ts'
import { diffPipelines } from './pipelines.ts'
import { findRenamings } from './renamings.ts'
import { riskItems, securityItems } from './risk.ts'
import { summarise } from './summary.ts'

const HEADLINES: Readonly<Record<RiskLevel, string>> = {
  none: 'No semantic change was found.',
  low: 'The change looks safe.',
  medium: 'The change deserves a second look.',
  high: 'The change is risky.',
}

/**
 * Characters that the names of pipelines may take in a diff. Each component and each risk says which ones it touches, so
 * that a short text with many of both could make any number.
 */
const NAMED_LENGTH_MAX = 8_388_608

/**
 * What differs in meaning between two configs, how risky it is, and whom it reaches. Secrets are masked. Throws where
 * that would be out of all proportion to the texts.
 */
export function diffConfigs(input: DiffInput, read: ReadConfig = parseConfig): ConfigDiff {
  const base = readSide('base', read(input.baseText))
  const target = readSide('target', read(input.targetText))
  const hashes = {
    base_hash: `sha256:${configHash(input.baseText)}`,
    target_hash: `sha256:${configHash(input.targetText)}`,
  }
  const diagnostics = [...base.diagnostics, ...target.diagnostics]
  if (diagnostics.length > 0) return unavailable(diagnostics, hashes)
  const configs = { base: base.config, target: target.config }
  const renamings = findRenamings(base.root, configs.base, configs.target)
  const destinations = newDestinations(renamings.base, configs.target, hostsOf)
  const differences = diffComponents(configs.base, configs.target, destinations, renamings)
  const components = differences.map(({ shown }) => shown)
  const pipelines = diffPipelines(configs.base, configs.target, renamings)
  const endpoints = diffEndpoints(configs.base, configs.target, destinations, renamings)
  const security = securityItems(differences)
  const risks = riskItems(differences, pipelines, endpoints, security, configs, destinations)
  requireProportion(components, risks)
  const all = [...components, ...pipelines, ...endpoints]
  const reasons = new Map(risks.map(({ title, rule }) => [title, rule]))
  const overall = maxRisk([...risks, ...all].map(({ risk }) => risk))
  return {
    schema_version: 'otel-config-diff.v1',
    valid: true,
    summary: {
      overall_risk: overall,
      counts: {
        ...countKinds('components', components),
        ...countKinds('pipelines', pipelines),
        ...countKinds('endpoints', endpoints),
        ...countRisks(all),
      },
      headline: HEADLINES[overall],
    },
    risk_score: {
      severity: overall,
      reasons: [...reasons.keys()],
      reason_codes: [...reasons.values()],
      applies_to_count: 0,
    },
    blast_radius: blastRadius({ components, pipelines, endpoints, risks }, input.workload, input.peers),
    human_summary: summarise(components, pipelines, configs),
    components,
    pipelines,
    endpoints,
    security,
    risk_items: risks,
    diagnostics: [],
    normalized: {
      ...hashes,
      base_component_count: componentCount(configs.base),
      target_component_count: componentCount(configs.target),
      base_pipeline_count: configs.base.pipelines.size,
      target_pipeline_count: configs.target.pipelines.size,
    },
  }
}

function requireProportion(components: ConfigDiff['components'], risks: ConfigDiff['risk_items']): void {
  let length = 0
  const count = (names: readonly string[]) => {
    for (const name of names) length += name.length
    if (length > NAMED_LENGTH_MAX) throw new Error('Cannot say which pipelines a change touches: too many')
  }
  for (const { impacted_pipelines } of components) count(impacted_pipelines)
  for (const { affected_pipelines } of risks) count(affected_pipelines)
}

type Diagnostic = ConfigDiff['diagnostics'][number]

function readSide(
  side: 'base' | 'target',
  parsed: ParseResult,
): { root: ConfigObject; config: ComparedConfig; diagnostics: Diagnostic[] } {
  if (parsed.ok) {
    const { root } = parsed.document
    const diagnostics = invalidSections(root).map((category): Diagnostic => {
      const message = `'${category}' is not a mapping.`
      return { side, code: 'invalid_section', message, path: category, severity: 'warning' }
    })
    return { root, config: cutUp(root), diagnostics }
  }
  const root = emptyObject()
  const config = cutUp(root)
  // An empty document is a config in which nothing is defined.
  if (parsed.problem.code === 'empty_config') return { root, config, diagnostics: [] }
  const { message } = parsed.problem
  return { root, config, diagnostics: [{ side, code: 'yaml_parse', message, severity: 'error' }] }
}

function unavailable(
  diagnostics: Diagnostic[],
  hashes: { base_hash: string; target_hash: string },
): ConfigDiff {
  return {
    schema_version: 'otel-config-diff.v1',
    valid: false,
    summary: {
      overall_risk: 'none',
      counts: {
        ...countKinds('components', []),
        ...countKinds('pipelines', []),
        ...countKinds('endpoints', []),
        ...countRisks([]),
      },
      headline: 'No summary is available, because a config cannot be read.',
    },
    risk_score: { severity: 'none', reasons: [], reason_codes: [], applies_to_count: 0 },
    blast_radius: emptyBlastRadius(),
    human_summary: [],
    components: [],
    pipelines: [],
    endpoints: [],
    security: [],
    risk_items: [],
    diagnostics,
    normalized: {
      ...hashes,
      base_component_count: 0,
      target_component_count: 0,
      base_pipeline_count: 0,
      target_pipeline_count: 0,
    },
  }
}

function countKinds(what: string, items: readonly { kind: string }[]): Record<string, number> {
  const count = (kind: string) => items.filter((item) => item.kind === kind).length
  return {
    [`${what}_added`]: count('added'),
    [`${what}_removed`]: count('removed'),
    [`${what}_modified`]: count('modified'),
  }
}

function countRisks(items: readonly { risk: RiskLevel }[]): Record<string, number> {
  const count = (risk: RiskLevel) => items.filter((item) => item.risk === risk).length
  return { high_risk: count('high'), medium_risk: count('medium'), low_risk: count('low') }
}

function componentCount({ parts }: ComparedConfig): number {
  return [...parts.values()].filter(({ category }) => (CATEGORIES as readonly string[]).includes(category))
    .length
}
