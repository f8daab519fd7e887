import { type CommitFollowers, READ } from '../audit/commit-followers.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Hub } from '../hub/hub.ts'
import { openSelector } from '../selectors/selector.ts'
import type { Db } from '../store/db.ts'
import { listLabelRules, type StoredLabelRule } from '../store/label-rules.ts'
import { readLabelList } from './read-list.ts'
import { giveLabels, inOrder, type LabelRule, type Labels } from './rules.ts'

/** Rules that there can be: every workload is compared with all of them. */
export const LABEL_RULES_MAX = 100
/** Length of all lists together, in UTF-16 units: they are held in memory, and read at each start. */
export const LISTS_LENGTH_MAX = 4_194_304
/** Label keys that all rules together can set: a workload may carry all of them. */
export const RULE_KEYS_MAX = 50

/** What the label rules work with. */
export interface LabelRulesParts {
  db: Db
  /** A function, since the fleet is made after the rules and asks them for labels. */
  fleet: () => Pick<Fleet, 'relabel'>
  hub: Pick<Hub, 'announce'>
  followers: CommitFollowers
}

/**
 * The label rules in force. What labels they give follows from the rules and the identity of a workload alone, so that
 * a newcomer has its labels with its first description, and a rule that is removed takes its labels with it.
 */
export class LabelRules {
  readonly #parts: LabelRulesParts
  #rules: readonly LabelRule[] = []
  #work: Promise<unknown> = Promise.resolve()

  constructor(parts: LabelRulesParts) {
    this.#parts = parts
    parts.followers.follow(() => this.reload().then(() => READ))
  }

  /** The rules in the order in which they count. */
  get rules(): readonly LabelRule[] {
    return this.#rules
  }

  /** The labels that the rules give to a workload of this identity. */
  labelsFor(identity: Labels): Labels {
    return giveLabels(this.#rules, identity).labels
  }

  /** Read the stored rules. Workloads follow only with `reload`. */
  async load(db: Db): Promise<void> {
    const known = new Map(this.#rules.map((rule) => [rule.id, rule]))
    const rules: LabelRule[] = []
    for (const rule of await listLabelRules(db)) {
      const before = known.get(rule.id)
      // A list that is as it was is not read again.
      const isAsBefore = before !== undefined && before.list === rule.list
      rules.push({
        ...rule,
        rows: isAsBefore ? before.rows : await readRows(rule),
        selects: rule.selector === null ? null : openSelector(rule.selector),
      })
    }
    this.#rules = inOrder(rules)
  }

  /** Read the stored rules, and give every workload the labels that follow. Reloads run one after the other. */
  reload(): Promise<void> {
    const done = this.#work.then(async () => {
      await this.load(this.#parts.db)
      await this.#parts.fleet().relabel()
      this.#parts.hub.announce({ type: 'label_rules_update', rule_count: this.#rules.length })
    })
    this.#work = done.catch(() => this.#parts.followers.note())
    return done
  }
}

/** The list of a stored rule; one that cannot be read any more gives no labels. */
async function readRows({ list }: StoredLabelRule): Promise<LabelRule['rows']> {
  const read = list === null ? null : await readLabelList(list)
  return read?.ok === true ? read.value : null
}
