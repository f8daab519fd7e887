import { compareText } from '../model/text-order.ts'
import type { Condition, SelectableWorkload } from '../selectors/selector.ts'
import type { StoredLabelRule } from '../store/label-rules.ts'
import type { LabelList } from './read-list.ts'

/** Values by label key; keys have no prefix. */
export type Labels = Readonly<Record<string, string>>

/** A rule that is in force: its list or its selector has been read. */
export interface LabelRule extends StoredLabelRule {
  rows: LabelList | null
  /** Its selector, read; null where it has a list. */
  selects: Condition | null
}

const NO_LABELS: Labels = Object.freeze({})

/**
 * A workload as rules see it: its identity and nothing else, so that no rule depends on the labels that another one
 * gives.
 */
const toIdentity = (fingerprintKeys: Labels): SelectableWorkload => ({
  type: '',
  version: '',
  labels: NO_LABELS,
  trustedLabels: NO_LABELS,
  fingerprintKeys,
  acceptsRemoteConfig: false,
  availableComponents: null,
})

/** The labels that one rule gives to an identity; null when the rule does not mean it. */
export function labelsOfRule(
  { selects, labels, rows }: Pick<LabelRule, 'selects' | 'labels' | 'rows'>,
  identity: Labels,
): Labels | null {
  if (selects !== null) return selects(toIdentity(identity)) ? labels : null
  if (rows === null || !Object.hasOwn(identity, rows.key)) return null
  return rows.labels.get(identity[rows.key]!) ?? null
}

/** Sort rules into the order in which they count: the highest priority first, then the oldest. */
export const inOrder = <Rule extends Pick<StoredLabelRule, 'id' | 'priority' | 'createdAt'>>(
  rules: readonly Rule[],
): Rule[] =>
  [...rules].sort(
    (a, b) =>
      b.priority - a.priority || a.createdAt.getTime() - b.createdAt.getTime() || compareText(a.id, b.id),
  )

/** A label of a rule (`ruleId`) to which an earlier rule (`byId`) gives another value. */
export interface Overruled {
  key: string
  ruleId: string
  byId: string
}

/** The labels that all rules together give to an identity. */
export interface GivenLabels {
  labels: Labels
  /** By key: the rule that gives it. */
  givers: ReadonlyMap<string, string>
  overruled: readonly Overruled[]
}

const NOTHING: GivenLabels = { labels: NO_LABELS, givers: new Map(), overruled: [] }

/**
 * The labels that rules, in their order, give to an identity: for each key the value of the first rule that has the
 * key.
 */
export function giveLabels(rules: readonly LabelRule[], identity: Labels): GivenLabels {
  let given: { labels: Record<string, string>; givers: Map<string, string>; overruled: Overruled[] } | null =
    null
  for (const rule of rules) {
    const said = labelsOfRule(rule, identity)
    if (said === null) continue
    given ??= { labels: {}, givers: new Map(), overruled: [] }
    for (const [key, value] of Object.entries(said)) {
      const giver = given.givers.get(key)
      if (giver === undefined) {
        given.labels[key] = value
        given.givers.set(key, rule.id)
      } else if (given.labels[key] !== value) given.overruled.push({ key, ruleId: rule.id, byId: giver })
    }
  }
  return given ?? NOTHING
}
