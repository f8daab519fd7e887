import type { ActTransaction, AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { ApprovalActor } from '../changes/approval-parts.ts'
import { readApprovalPolicy } from '../changes/approval-policy.ts'
import { noteUnreviewed } from '../changes/reviews.ts'
import type { Clock } from '../clock.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { FleetConfigs } from '../fleet-configs/fleet-configs.ts'
import type { Hub } from '../hub/hub.ts'
import { type Random, uuidv7 } from '../ids.ts'
import type { ApprovalClass } from '../model/approval-policy.ts'
import { type Fault, faultOf } from '../model/faults.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import {
  deleteLabelRule,
  listLabelRules,
  lockLabelRules,
  type StoredLabelRule,
  storeLabelRule,
} from '../store/label-rules.ts'
import { countKeepingRules, readLastComing } from '../store/reviews.ts'
import { noteLabelRuleAuthor } from '../store/value-authors.ts'
import type { LabelRulePreview } from '../wire/label-rules.ts'
import { LABEL_RULES_MAX, type LabelRules, LISTS_LENGTH_MAX, RULE_KEYS_MAX } from './label-rules.ts'
import { type LookedAt, previewRuleChange, type RuleChange, sayTheSame } from './preview.ts'
import type { AskedRule } from './read-rule.ts'
import type { LabelRule } from './rules.ts'

/** What changing label rules works with. */
export interface LabelRuleParts {
  db: AuditedDatabase
  clock: Clock
  random: Random
  fleet: Fleet
  fleetConfigs: FleetConfigs
  labelRules: LabelRules
  hub: Pick<Hub, 'broadcast'>
}

/** Somebody changed the rules while this change was looked at, so that it has to be looked at again. */
type Moved = { ok: false; code: 'moved-meanwhile' }

/** How often a change is looked at when others change rules meanwhile; then it is refused as `server-busy`. */
const LOOKED_MOST = 3

/** Workloads for which one change may make approvals ask less: each becomes a review for a second person. */
const LOWERED_MAX = 500

/** Changes within a day that can lower the bar of newcomers: all of them are looked at for each workload. */
const LOWERING_CHANGES_MAX = 200

type NotFound = Refusal<'label-rule-not-found'>

/** Why a change of the rules is not made. */
export const LABEL_RULE_CHANGE_ERRORS = [
  'label-rule-lowers',
  'label-rule-not-found',
  'label-rule-taken',
  'label-rules-full',
  'server-busy',
] as const
type ChangeRefusal = Refusal<(typeof LABEL_RULE_CHANGE_ERRORS)[number]>

/** A change that is asked for: `rule` null takes the rule of this id away, `id` null makes a new one. */
export interface AskedChange {
  id: string | null
  rule: AskedRule | null
}

/** The rule before and after an asked change; refused where there is none of this id. */
function openChange(
  { labelRules, clock, random }: Pick<LabelRuleParts, 'labelRules' | 'clock' | 'random'>,
  { id, rule }: AskedChange,
  by: string,
): RuleChange | NotFound {
  const before = id === null ? null : (labelRules.rules.find((one) => one.id === id) ?? null)
  if (id !== null && before === null) return refuse('label-rule-not-found')
  if (rule === null) return { before, after: null }
  const now = clock.now()
  const origin = before ?? { id: uuidv7(now, random), createdBy: by, createdAt: now }
  const { createdBy, createdAt } = origin
  return {
    before,
    after: { ...rule, id: origin.id, createdBy, createdAt, updatedBy: by, updatedAt: now },
  }
}

async function look(
  parts: LabelRuleParts,
  change: RuleChange,
  rules = parts.labelRules.rules,
): Promise<LookedAt> {
  const { db, fleet, fleetConfigs } = parts
  const { policy } = await readApprovalPolicy(db)
  const workloads = fleet.state.workloads.values()
  return previewRuleChange({ rules, workloads, fleetConfigs, policy }, change)
}

/** What a change of the rules would do. */
export async function previewAskedChange(
  parts: LabelRuleParts,
  asked: AskedChange,
): Promise<{ ok: true; preview: LabelRulePreview } | NotFound> {
  const change = openChange(parts, asked, '')
  return 'ok' in change ? change : { ok: true, preview: (await look(parts, change)).preview }
}

/** The rule as it is now, null where it was removed, or why nothing was changed. */
export type RuleOutcome = { ok: true; rule: LabelRule | null } | ChangeRefusal | AuditFailure

/**
 * Make, change or take away a rule. Where approvals would then ask less for workloads that there are or that are to
 * come, the caller has to confirm it.
 */
export async function changeLabelRules(
  parts: LabelRuleParts,
  asked: AskedChange,
  by: RuleChanger,
): Promise<RuleOutcome> {
  for (let looked = 0; looked < LOOKED_MOST; looked++) {
    const outcome = await lookAndChange(parts, asked, by)
    if (outcome.ok || outcome.code !== 'moved-meanwhile') return outcome
  }
  return refuse('server-busy')
}

/** Who changes rules, and whether they confirm that approvals may ask less. */
interface RuleChanger {
  actor: ApprovalActor
  confirmsLowering: boolean
}

async function lookAndChange(
  parts: LabelRuleParts,
  asked: AskedChange,
  { actor, confirmsLowering }: RuleChanger,
): Promise<RuleOutcome | Moved> {
  const { rules } = parts.labelRules
  const change = openChange(parts, asked, actor.email)
  if ('ok' in change) return change
  const { before, after } = change
  // Whoever comes from now on is a newcomer to the change.
  const newcomersAfter = await readLastComing(parts.db)
  const { preview, lowered: every, keptForNewcomers: keptClasses } = await look(parts, change, rules)
  const { changed_count: changed, lowered_count: lowered, lowers_newcomers: lowersNewcomers } = preview
  if (!confirmsLowering && (lowered > 0 || lowersNewcomers))
    return refuse('label-rule-lowers', { count: lowered })
  if (every.length > LOWERED_MAX)
    return refuse('label-rules-full', faultOf('lowered_too_many', { max: LOWERED_MAX }))
  const kind = before === null ? 'create' : after === null ? 'delete' : 'update'
  const stored = await parts.db.change<RuleOutcome | Moved>(`label-rule.${kind}`, actor, async (tx) => {
    const refusal = await write(tx, change, rules, keptClasses)
    if (refusal !== null) return refusal
    await noteAuthor(tx, change, rules, actor)
    if (keptClasses.length > 0)
      await noteUnreviewed(parts, tx, actor, {
        kind: 'label_rule',
        keptClasses,
        reason: (after ?? before)!.name,
        newcomersAfter,
      })
    // As where labels are set by hand: approvals keep to the stricter class until a second person has looked, or a day.
    for (const { workloadId, from, to } of every)
      await noteUnreviewed(parts, tx, actor, {
        kind: 'labels',
        workloadId,
        keptClasses: [from],
        reason: `${from} → ${to}`,
      })
    await tx.record({
      ...ACTIONS[kind],
      resource: 'label_rule',
      resourceId: (after ?? before)!.id,
      detail: JSON.stringify({
        ...describe((after ?? before)!),
        changed_count: changed,
        lowered_count: lowered,
        lowers_newcomers: lowersNewcomers,
      }),
    })
    return { ok: true, rule: after }
  })
  // Also after a refusal: with `audit-unavailable` the change may be stored all the same.
  await parts.labelRules.reload()
  return stored
}

const ACTIONS = {
  create: { action: 'label_rule.create' },
  update: { action: 'label_rule.update' },
  delete: { action: 'label_rule.delete' },
} as const

/** Write a change, provided that the stored rules are still those over which it was looked at. */
async function write(
  tx: ActTransaction,
  { before, after }: RuleChange,
  rules: readonly LabelRule[],
  keptClasses: readonly ApprovalClass[],
): Promise<ChangeRefusal | Moved | null> {
  await lockLabelRules(tx)
  const stored = await listLabelRules(tx)
  const isAsLookedAt = (one: StoredLabelRule) =>
    rules.some((rule) => rule.id === one.id && sayTheSame(rule, one))
  if (stored.length !== rules.length || !stored.every(isAsLookedAt))
    return { ok: false, code: 'moved-meanwhile' }
  if (keptClasses.length > 0 && (await countKeepingRules(tx)) >= LOWERING_CHANGES_MAX)
    return refuse('label-rules-full', faultOf('lowered_too_often', { max: LOWERING_CHANGES_MAX }))
  if (after === null) {
    await deleteLabelRule(tx, before!.id)
    return null
  }
  // The rules as they were read before: to read their lists again would take long while others wait for the lock.
  const all = [...rules.filter(({ id }) => id !== after.id), after]
  const excess = findExcess(all)
  if (excess !== null) return refuse('label-rules-full', excess)
  return (await storeLabelRule(tx, after)) ? null : refuse('label-rule-taken')
}

const labelsOf = ({ labels, rows }: LabelRule): string[] => [...Object.keys(labels), ...(rows?.columns ?? [])]

/** Note who decides from then on which values the labels of a changed rule choose. */
async function noteAuthor(
  tx: ActTransaction,
  { before, after }: RuleChange,
  rules: readonly LabelRule[],
  { userId }: ApprovalActor,
): Promise<void> {
  // Another name gives nobody other labels.
  if (before !== null && after !== null && sayTheSame(before, after)) return
  const labels = [...new Set([before, after].flatMap((rule) => (rule === null ? [] : labelsOf(rule))))]
  const given = new Set(rules.flatMap(labelsOf))
  await noteLabelRuleAuthor(tx, { labels, first: labels.filter((label) => !given.has(label)), userId })
}

/** Which limit all rules together exceed; null when none. */
function findExcess(rules: readonly LabelRule[]): Fault | null {
  if (rules.length > LABEL_RULES_MAX) return faultOf('rules_too_many', { max: LABEL_RULES_MAX })
  const length = rules.reduce((sum, { list }) => sum + (list?.length ?? 0), 0)
  if (length > LISTS_LENGTH_MAX) return faultOf('lists_too_long', { max: LISTS_LENGTH_MAX })
  const keys = new Set(rules.flatMap(labelsOf))
  return keys.size > RULE_KEYS_MAX ? faultOf('rule_keys_too_many', { max: RULE_KEYS_MAX }) : null
}

/**
 * A rule for the audit trail. Of a list only the columns and the number of lines are told, for it may have thousands.
 */
const describe = ({ name, priority, selector, labels, rows }: LabelRule) => ({
  name,
  priority,
  ...(rows === null
    ? { selector, labels }
    : { list_key: rows.key, list_labels: rows.columns, list_count: rows.labels.size }),
})
