import { compareText } from '../model/text-order.ts'
import { isSelected, type SelectableWorkload } from '../selectors/selector.ts'
import type { StoredLabelRule } from '../store/label-rules.ts'
import type { LabelList } from './read-list.ts'

export type Labels = Readonly<Record<string, string>>

/** A rule that is in force: its list, where it has one, has been read. */
export interface LabelRule extends StoredLabelRule {
  rows: LabelList | null
}

const NO_LABELS: Labels = Object.freeze({})

/** A workload as rules see it: what it is made of, and nothing else, so that no rule hangs on what another one gives. */
const toIdentity = (fingerprintKeys: Labels): SelectableWorkload => ({
  ...{ type: '', version: '', labels: NO_LABELS, trustedLabels: NO_LABELS, fingerprintKeys },
  ...{ acceptsRemoteConfig: false, availableComponents: null },
})

/** What a rule alone says of an identity; null when it does not mean it. */
export function labelsOfRule(
  { selector, labels, rows }: Pick<LabelRule, 'selector' | 'labels' | 'rows'>,
  identity: Labels,
): Labels | null {
  if (selector !== null) return isSelected(toIdentity(identity), selector) ? labels : null
  if (rows === null || !Object.hasOwn(identity, rows.key)) return null
  return rows.labels.get(identity[rows.key]!) ?? null
}

/** In the order in which they count: the highest priority first, then the oldest. */
export const inOrder = <Rule extends Pick<StoredLabelRule, 'id' | 'priority' | 'createdAt'>>(
  rules: readonly Rule[],
): Rule[] =>
  [...rules].sort(
    (a, b) =>
      b.priority - a.priority || a.createdAt.getTime() - b.createdAt.getTime() || compareText(a.id, b.id),
  )

/** A label that a rule says, and that one before it says otherwise. */
export interface Overruled {
  key: string
  ruleId: string
  byId: string
}

/** What all rules together give. */
export interface GivenLabels {
  labels: Labels
  /** By key: the rule that gives it. */
  givers: ReadonlyMap<string, string>
  overruled: readonly Overruled[]
}

const NOTHING: GivenLabels = { labels: NO_LABELS, givers: new Map(), overruled: [] }

/** What rules, in their order, give to an identity: under each key what the first says that says anything. */
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
