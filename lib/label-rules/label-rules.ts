import type { Fleet } from '../fleet/fleet.ts'
import type { Hub } from '../hub/hub.ts'
import type { Db } from '../store/db.ts'
import { listLabelRules, type StoredLabelRule } from '../store/label-rules.ts'
import { readLabelList } from './read-list.ts'
import { giveLabels, inOrder, type LabelRule, type Labels } from './rules.ts'

/** All are asked of each workload, so there are not many. */
export const LABEL_RULES_MAX = 100
/** Of all lists together: they are held in memory, and read at each start. */
export const LISTS_LENGTH_MAX = 4_194_304
/** Of all rules together: a workload carries what they give. */
export const RULE_KEYS_MAX = 50

export interface LabelRulesParts {
  db: Db
  /** Asked for when it is needed: the fleet is made with what the rules give. */
  fleet: () => Pick<Fleet, 'relabel'>
  hub: Pick<Hub, 'announce'>
}

/**
 * The rules in force. What they give follows from them and from what a workload is made of, so that a newcomer has its
 * labels with its first description, and a rule that goes takes its labels with it.
 */
export class LabelRules {
  readonly #parts: LabelRulesParts
  #rules: readonly LabelRule[] = []
  #work: Promise<unknown> = Promise.resolve()

  constructor(parts: LabelRulesParts) {
    this.#parts = parts
  }

  /** In the order in which they count. */
  get rules(): readonly LabelRule[] {
    return this.#rules
  }

  /** What they give to a workload that is made of this. */
  labelsFor(identity: Labels): Labels {
    return giveLabels(this.#rules, identity).labels
  }

  /** Read what is stored, before there are workloads. */
  async load(db: Db): Promise<void> {
    const known = new Map(this.#rules.map((rule) => [rule.id, rule]))
    this.#rules = inOrder(
      (await listLabelRules(db)).map((rule) => {
        const before = known.get(rule.id)
        // A list that is as it was is not read again.
        return before !== undefined && before.list === rule.list
          ? { ...rule, rows: before.rows }
          : openRule(rule)
      }),
    )
  }

  /** Take over what is stored now, and give every workload what follows; one after the other. */
  reload(): Promise<void> {
    const done = this.#work.then(async () => {
      await this.load(this.#parts.db)
      await this.#parts.fleet().relabel()
      this.#parts.hub.announce({ type: 'label_rules_update', rule_count: this.#rules.length })
    })
    this.#work = done.catch(() => {})
    return done
  }
}

/** A stored rule as it is applied. What could not be read any more would give nothing. */
export function openRule(rule: StoredLabelRule): LabelRule {
  const read = rule.list === null ? null : readLabelList(rule.list)
  return { ...rule, rows: read?.ok === true ? read.value : null }
}
