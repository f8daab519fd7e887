import { compareText } from '../../model/text-order.ts'
import type { DiffEndpoint, DiffPipeline, DiffRiskItem, DiffSecurityItem } from '../../wire/diff.ts'
import type { RiskLevel } from '../../wire/plan.ts'
import { redactName, redactValue } from '../redact/redact.ts'
import { type ComponentDifference, fieldPath } from './components.ts'
import { type ComparedConfig, partRef, riskRank, sectionIds } from './model.ts'
import { lost } from './pipelines.ts'
import { ruleRisk, ruleTitle } from './rules.ts'

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  auth_header_modified: 'Credentials or headers differ; the receiving side may refuse the data.',
  batch_processor_removed_from_pipeline: 'Without batching, every item is sent on its own.',
  delivery_guard_weakened: 'What cannot be sent at once is lost.',
  destination_added: 'Data goes to a place where none went before.',
  destination_changed: 'Data goes to another place than before.',
  dropping_processor_added: 'What the processor drops reaches nobody any more.',
  exporter_removed: 'Data is no longer sent to where this exporter sent it.',
  memory_limit_lowered: 'The collector refuses data sooner; senders that do not try again lose it.',
  memory_limit_raised: 'The collector takes more memory before it refuses data.',
  memory_limiter_removed_from_pipeline: 'Without a limiter, a burst can exhaust the memory of the collector.',
  otlp_endpoint_changed: 'Data goes to another place than before.',
  pipeline_broken: 'The pipeline has nothing left to receive from or to send to.',
  pipeline_exporter_set_changed: 'The pipeline no longer sends to one of its exporters.',
  pipeline_removed: 'The data of this pipeline is no longer handled.',
  processor_order_changed: 'Processors run one after the other; in another order they can do something else.',
  redaction_removed: 'Data that was hidden reaches the destinations as it is.',
  redaction_weakened: 'Some data that was hidden reaches the destinations as it is.',
  receiver_endpoint_exposure_changed: 'Senders may no longer reach the receiver, or others may reach it now.',
  sampling_guard_removed: 'Without sampling, the amount of data can grow many times over.',
  sampling_policy_modified: 'Another share of the data is kept.',
  sampling_rate_strongly_changed: 'A very different share of the data is kept.',
  stored_state_left_behind:
    'What the component stored is kept under its former name, and not found under the new one.',
  transport_security_weakened: 'Data can be read or changed on its way.',
}

/** Security findings of modified components; sorted by path. */
export function securityItems(differences: readonly ComponentDifference[]): DiffSecurityItem[] {
  const items = differences.flatMap(({ part, fields }) =>
    fields.flatMap((field): DiffSecurityItem[] => {
      const { rule } = field
      if (rule !== 'auth_header_modified' && rule !== 'transport_security_weakened') return []
      const path = fieldPath(part, field)
      const keys = [part.id, ...field.keys]
      return [
        {
          id: `security:${path}`,
          kind: field.hasBefore ? (field.hasAfter ? 'modified' : 'removed') : 'added',
          component: partRef(part, part.path),
          path,
          field: rule === 'auth_header_modified' ? 'headers' : 'insecure',
          ...(field.hasBefore ? { before: redactValue(field.before, keys) } : {}),
          ...(field.hasAfter ? { after: redactValue(field.after, keys) } : {}),
          risk: 'high',
          rules: [rule],
          message: `${ruleTitle(rule)} at ${path}.`,
        },
      ]
    }),
  )
  return items.sort((a, b) => compareText(a.path, b.path))
}

/** Everything in a change that deserves a second look; the riskiest first, unique by id. */
export function riskItems(
  differences: readonly ComponentDifference[],
  pipelines: readonly DiffPipeline[],
  endpoints: readonly DiffEndpoint[],
  security: readonly DiffSecurityItem[],
  configs: { base: ComparedConfig; target: ComparedConfig },
  /** The exporters of the target that send to where nothing went before. */
  destinations: ReadonlySet<string>,
): DiffRiskItem[] {
  const items = new Map<string, DiffRiskItem>()
  const add = (id: string, rule: string, risk: RiskLevel, paths: string[], affected: string[]) => {
    if (!items.has(id)) items.set(id, item(id, rule, risk, paths, affected))
  }
  const impacted = new Map(differences.map(({ shown }) => [shown.component.path, shown.impacted_pipelines]))
  for (const { shown } of differences) {
    const { rules, component, impacted_pipelines } = shown
    for (const rule of rules) {
      const id = rule === 'exporter_removed' ? `${rule}:${component.id}` : `${rule}:${component.path}`
      add(id, rule, ruleRisk(rule), [component.path], impacted_pipelines)
    }
  }
  // An exporter that was defined before and that a pipeline uses only now may not be among the differences.
  for (const id of destinations) {
    const path = redactName(`exporters.${id}`)
    const users = pipelinesOf(configs.target, id)
    add(`destination_added:${path}`, 'destination_added', ruleRisk('destination_added'), [path], users)
  }
  for (const pipeline of pipelines) pipelineItems(pipeline, configs, add)
  for (const { rules, field_path, risk, component } of endpoints) {
    for (const rule of rules)
      add(`${rule}:${field_path}`, rule, risk, [field_path], impacted.get(component.path) ?? [])
  }
  for (const { rules, path, component } of security) {
    for (const rule of rules)
      add(`${rule}:${path}`, rule, ruleRisk(rule), [path], impacted.get(component.path) ?? [])
  }
  return [...items.values()].sort((a, b) => riskRank(b.risk) - riskRank(a.risk) || compareText(a.id, b.id))
}

function pipelineItems(
  pipeline: DiffPipeline,
  { base, target }: { base: ComparedConfig; target: ComparedConfig },
  add: (id: string, rule: string, risk: RiskLevel, paths: string[], affected: string[]) => void,
): void {
  const { pipeline_key: key, kind, component_ref_changes: changes } = pipeline
  const path = `service.pipelines.${key}`
  if (kind === 'removed') add(`pipeline_removed:${key}`, 'pipeline_removed', 'high', [path], [key])
  for (const section of ['exporters', 'receivers'] as const) {
    const isBroken = kind === 'modified' && lost(base.pipelines.get(key), target.pipelines.get(key), section)
    if (isBroken)
      add(`pipeline_broken:${key}:${section}`, 'pipeline_broken', 'high', [`${path}.${section}`], [key])
  }
  for (const { reason, component_id, risk, section } of changes) {
    // The loop above has added a broken pipeline.
    if (!reason || reason === 'pipeline_broken') continue
    add(`${reason}:${key}:${component_id}`, reason, risk, [`${path}.${section}`], [key])
  }
}

function pipelinesOf({ pipelines }: ComparedConfig, exporter: string): string[] {
  return [...pipelines]
    .filter(([, pipeline]) => sectionIds(pipeline, 'exporters').includes(exporter))
    .map(([name]) => redactName(name))
    .sort(compareText)
}

function item(id: string, rule: string, risk: RiskLevel, paths: string[], affected: string[]): DiffRiskItem {
  return {
    id,
    risk,
    category: categoryOf(rule),
    rule,
    title: rule === 'pipeline_removed' ? `Pipeline ${affected[0]} removed` : ruleTitle(rule),
    description: DESCRIPTIONS[rule] ?? '',
    affected_paths: paths,
    affected_pipelines: affected,
  }
}

function categoryOf(rule: string): DiffRiskItem['category'] {
  if (/auth|security|tls|insecure|redaction|destination/.test(rule)) return 'security'
  if (/pipeline|exporter|dropping|delivery|stored/.test(rule)) return 'data_loss'
  return rule.includes('sampling') ? 'cost' : 'routing'
}
