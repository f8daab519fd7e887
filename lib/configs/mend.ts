import type { ConfigDiff } from '../wire/diff.ts'
import type { RiskLevel } from '../wire/plan.ts'
import type { FailingExporter } from './check/target.ts'
import { maxRisk } from './diff/model.ts'

/** Rules that say of an exporter that it sends to another place than before. */
const MOVED: ReadonlySet<string> = new Set(['otlp_endpoint_changed', 'destination_changed'])

const PREFIX = 'exporters.'

/** The fields of a change that take an exporter away from a host which no instance can reach. */
function findMended(diff: ConfigDiff, failing: ReadonlyMap<string, FailingExporter>): ReadonlySet<string> {
  const mended = diff.endpoints.filter(({ component: { path }, before, after, rules }) => {
    const of = path.startsWith(PREFIX) ? failing.get(path.slice(PREFIX.length)) : undefined
    // What is sent there in clear text from now on is a risk of its own.
    const isOnlyMoved = rules.every((rule) => MOVED.has(rule))
    return (
      of !== undefined &&
      before?.host !== undefined &&
      of.unreachable.has(before.host) &&
      before.host !== after?.host &&
      isOnlyMoved
    )
  })
  return new Set(mended.map(({ field_path: path }) => path))
}

/** How risky a change is to one workload. */
export interface WeighedRisk {
  severity: RiskLevel
  /** Ids of the risks of the diff that are no more than medium here; empty where the change is no mend. */
  mended: readonly string[]
  /** How many of its risks are high here. */
  highCount: number
}

/**
 * How risky a change is where it may be the mend: nothing arrives at a host that no instance can reach, so that another
 * one in its place loses nothing. It may be the wrong place still, and deserves a look.
 */
export function weighRisks(diff: ConfigDiff, failing: ReadonlyMap<string, FailingExporter>): WeighedRisk {
  const fields = findMended(diff, failing)
  const isMended = ({ rule, affected_paths: paths }: ConfigDiff['risk_items'][number]) =>
    MOVED.has(rule) && paths.every((path) => fields.has(path))
  const kept = diff.risk_items.filter((one) => fields.size === 0 || !isMended(one))
  const highCount = kept.filter(({ risk }) => risk === 'high').length
  if (fields.size === 0) return { severity: diff.risk_score.severity, mended: [], highCount }
  const isOfMended = ({ path }: { path: string }) => [...fields].some((field) => field.startsWith(`${path}.`))
  const left: readonly { risk: RiskLevel }[] = [
    ...kept,
    ...diff.endpoints.filter(({ field_path: path }) => !fields.has(path)),
    ...diff.pipelines,
    ...diff.components.flatMap((one): { risk: RiskLevel }[] =>
      isOfMended(one.component) ? one.changed_fields.filter(({ path }) => !fields.has(path)) : [one],
    ),
  ]
  const mended = diff.risk_items.filter(isMended).map(({ id }) => id)
  return { severity: maxRisk(['medium', ...left.map(({ risk }) => risk)]), mended, highCount }
}

/** The exporters that fail now, each with whether a change does something to it, where it can be compared. */
export const listFailing = (
  diff: ConfigDiff | null,
  failing: ReadonlyMap<string, FailingExporter>,
): { component: string; is_changed?: boolean }[] =>
  [...failing.keys()].sort().map((id) => ({
    component: `${PREFIX}${id}`,
    ...(diff === null ? {} : { is_changed: isTouched(diff, id) }),
  }))

const isTouched = (diff: ConfigDiff, id: string): boolean =>
  diff.components.some(({ component }) => component.path === `${PREFIX}${id}`) ||
  diff.pipelines.some(({ component_ref_changes: changes }) =>
    changes.some(({ component_id: other, kind }) => other === id && kind === 'removed'),
  )
