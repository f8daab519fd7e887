import { type Fault, faultOf } from '../model/faults.ts'
import { PRIORITY_MAX } from '../model/priorities.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { isStorableLine } from '../model/storable.ts'
import { classifyKey } from '../selectors/keys.ts'
import {
  FLEET_CONFIG_RULES,
  LABEL_ERRORS,
  readSelector,
  refuseLabels,
  SELECTOR_ERRORS,
  type SelectorRefusal,
} from '../selectors/read-selector.ts'
import { openSelector } from '../selectors/selector.ts'
import type { Selector } from '../wire/selectors.ts'
import { readLabelList } from './read-list.ts'
import type { LabelRule, Labels } from './rules.ts'

const NAME_LENGTH_MAX = 128
/** Labels that one rule can give; each workload that it means carries them. */
const LABELS_MAX = 20

/** A rule as it is asked for, once it was checked. */
export type AskedRule = Pick<
  LabelRule,
  'name' | 'priority' | 'selector' | 'labels' | 'list' | 'rows' | 'selects'
>

const OWN_ERRORS = ['label-rule-invalid', 'name-required', 'name-too-long'] as const

/** Codes that a sent rule can be refused with, whatever other rules there are. */
export const LABEL_RULE_ERRORS = [...OWN_ERRORS, ...LABEL_ERRORS, ...SELECTOR_ERRORS] as const

/** Why a sent rule is refused. */
export type LabelRuleRefusal = SelectorRefusal | Refusal<(typeof OWN_ERRORS)[number]>
type Read = { ok: true; rule: AskedRule } | LabelRuleRefusal

/** A rule as it is sent. */
export interface SentRule {
  name: string
  priority: number
  selector?: Selector | undefined
  labels?: Labels | undefined
  list?: string | undefined
}

/** Check a rule as it was sent: it has a selector and labels, or a list. */
export async function readLabelRule(sent: SentRule): Promise<Read> {
  const { priority, selector, labels = {}, list } = sent
  const name = sent.name.trim()
  if (name === '') return refuse('name-required')
  if (name.length > NAME_LENGTH_MAX) return refuse('name-too-long', { max: NAME_LENGTH_MAX })
  if (!isStorableLine(name)) return invalid(faultOf('name_controls'))
  if (Math.abs(priority) > PRIORITY_MAX)
    return invalid(faultOf('priority_out_of_range', { max: PRIORITY_MAX }))
  if ((selector === undefined) === (list === undefined)) return invalid(faultOf('selector_or_list'))
  const head = { name, priority }
  if (list !== undefined) {
    const read = await readLabelList(list)
    return read.ok
      ? { ok: true, rule: { ...head, selector: null, labels: {}, list, rows: read.value, selects: null } }
      : invalid(read.fault)
  }
  const read = readSelector(selector ?? {}, FLEET_CONFIG_RULES)
  if (!read.ok) return read
  const keys = [
    ...Object.keys(read.selector.match_labels ?? {}),
    ...(read.selector.match_expressions ?? []).map(({ key }) => key),
  ]
  // A selector over labels that rules give would depend on the order of the rules, and on its own rule.
  if (keys.some((key) => classifyKey(key).class !== 'identity'))
    return invalid(faultOf('selector_beyond_identity'))
  const count = Object.keys(labels).length
  if (count === 0 || count > LABELS_MAX) return invalid(faultOf('labels_miscounted', { max: LABELS_MAX }))
  return (
    refuseLabels(labels) ?? {
      ok: true,
      rule: {
        ...head,
        selector: read.selector,
        selects: openSelector(read.selector),
        labels,
        list: null,
        rows: null,
      },
    }
  )
}

const invalid = (fault: Fault): LabelRuleRefusal => refuse('label-rule-invalid', fault)
