import type { Workload } from '../fleet/state/model.ts'
import type { FleetConfigs } from '../fleet-configs/fleet-configs.ts'
import {
  type ApprovalClass,
  type ApprovalPolicy,
  approvalClassOf,
  lowersClass,
} from '../model/approval-policy.ts'
import { ENVIRONMENT_KEYS } from '../model/labels.ts'
import { placeFieldOf } from '../model/places.ts'
import { namesProduction } from '../model/production.ts'
import { trustedOf } from '../model/trusted-labels.ts'
import type { StoredLabelRule } from '../store/label-rules.ts'
import { inTurns } from '../turns.ts'
import type { LabelRuleChange, LabelRulePreview } from '../wire/label-rules.ts'
import { giveLabels, inOrder, type LabelRule, type Labels, labelsOfRule } from './rules.ts'

const CHANGES_SHOWN = 100
/** Workloads that are looked at before others get their turn. */
const CHUNK = 100

/** A change of one rule: `before` is null for a new one, `after` for one that is taken away. */
export interface RuleChange {
  before: LabelRule | null
  after: LabelRule | null
}

/** What a preview is worked out from. */
export interface PreviewParts {
  rules: readonly LabelRule[]
  workloads: Iterable<Workload>
  fleetConfigs: Pick<FleetConfigs, 'membershipOf'>
  policy: ApprovalPolicy
}

/** The rules with a change made, in their order. */
export const withChange = (rules: readonly LabelRule[], { before, after }: RuleChange): LabelRule[] =>
  inOrder([...rules.filter(({ id }) => id !== before?.id), ...(after === null ? [] : [after])])

/** What a change would do, and every workload for which approvals would ask less, with its class before and after. */
export interface LookedAt {
  preview: LabelRulePreview
  lowered: readonly { workloadId: string; from: ApprovalClass; to: ApprovalClass }[]
  /** The classes that newcomers could have had before, where approvals could ask less for them. */
  keptForNewcomers: readonly ApprovalClass[]
}

/** What a change of the rules would do to the workloads that there are, and to those that are to come. */
export async function previewRuleChange(parts: PreviewParts, change: RuleChange): Promise<LookedAt> {
  const { rules, workloads } = parts
  const next = withChange(rules, change)
  const names = new Map(next.map(({ id, name }) => [id, name]))
  const sum = { workload: 0, changed: 0, lowered: 0, moved: 0, byHand: 0 }
  const conflicts = new Map<string, LabelRulePreview['conflicts'][number]>()
  const present = new Set<string>()
  const lowered: LabelRuleChange[] = []
  const others: LabelRuleChange[] = []
  const every: LookedAt['lowered'][number][] = []
  for await (const piece of inTurns(workloads, CHUNK)) {
    for (const workload of piece) {
      // One that is archived comes back with the labels that it has by then: only what lowers is told of it.
      const isHere = workload.archivedAt === null
      const identity = workload.fingerprintKeys
      const given = giveLabels(next, identity)
      const said = change.after === null || !isHere ? null : labelsOfRule(change.after, identity)
      if (said !== null) {
        sum.workload++
        if (contradicts(workload.handLabels, said)) sum.byHand++
        noteConflicts(conflicts, change.after!.id, given.overruled, names)
      }
      const listed = change.after?.rows ?? null
      if (listed !== null && said !== null) present.add(identity[listed.key]!)
      const told = changeOf(parts, workload, trustedOf({ ...workload, ruleLabels: given.labels }))
      if (told === null || (!isHere && !told.change.is_lowered)) continue
      sum.changed++
      if (told.change.is_lowered) {
        sum.lowered++
        const { class_before: from, class_after: to } = told.change
        every.push({ workloadId: workload.id, from, to })
      }
      if (told.isMoved) sum.moved++
      const list = told.change.is_lowered ? lowered : others
      if (list.length < CHANGES_SHOWN) list.push(told.change)
    }
  }
  const keptForNewcomers = listKept(change, { rules, next, policy: parts.policy })
  const preview: LabelRulePreview = {
    workload_count: sum.workload,
    changed_count: sum.changed,
    lowered_count: sum.lowered,
    moved_count: sum.moved,
    by_hand_count: sum.byHand,
    absent_count: (change.after?.rows?.labels.size ?? 0) - present.size,
    lowers_newcomers: keptForNewcomers.length > 0,
    conflicts: [...conflicts.values()].sort((a, b) => b.workload_count - a.workload_count),
    changes: [...lowered, ...others].slice(0, CHANGES_SHOWN),
  }
  return { preview, lowered: every, keptForNewcomers }
}

/** Whether a label that was set by hand has another value than a rule gives it. */
export const contradicts = (byHand: Labels, said: Labels): boolean =>
  Object.entries(said).some(([key, value]) => Object.hasOwn(byHand, key) && byHand[key] !== value)

function noteConflicts(
  conflicts: Map<string, LabelRulePreview['conflicts'][number]>,
  id: string,
  overruled: ReturnType<typeof giveLabels>['overruled'],
  names: ReadonlyMap<string, string>,
): void {
  for (const { key, ruleId, byId } of overruled) {
    if (ruleId !== id && byId !== id) continue
    const other = ruleId === id ? byId : ruleId
    const mark = JSON.stringify([other, key])
    const known = conflicts.get(mark)
    if (known !== undefined) known.workload_count++
    else
      conflicts.set(mark, {
        rule_id: other,
        rule_name: names.get(other) ?? '',
        key,
        workload_count: 1,
        wins: byId === id,
      })
  }
}

/** How one workload would change by these trusted labels; null where it would not. */
function changeOf(
  { policy, fleetConfigs }: Pick<PreviewParts, 'policy' | 'fleetConfigs'>,
  workload: Workload,
  after: Labels,
): { change: LabelRuleChange; isMoved: boolean } | null {
  const before = workload.trustedLabels
  const set = Object.fromEntries(Object.entries(after).filter(([key, value]) => before[key] !== value))
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  if (Object.keys(set).length === 0 && removed.length === 0) return null
  const classOf = (trustedLabels: Labels) =>
    approvalClassOf({ targetEnv: '', targetGroup: '', labels: workload.labels, trustedLabels })
  const [from, to] = [classOf(before), classOf(after)]
  const isLowered = lowersClass(policy, from, to)
  const member = fleetConfigs.membershipOf(workload).configId
  return {
    change: {
      workload_id: workload.id,
      display_name: workload.displayName,
      ...placeFieldOf(workload.fingerprintKeys),
      set,
      removed: removed.sort(),
      class_before: from,
      class_after: to,
      is_lowered: isLowered,
    },
    isMoved: fleetConfigs.membershipOf({ ...workload, trustedLabels: after }).configId !== member,
  }
}

/** Every label that a rule can give, as key and value. */
function* listGiven({ labels, rows }: LabelRule): Generator<readonly [string, string]> {
  yield* Object.entries(labels)
  for (const given of rows?.labels.values() ?? []) yield* Object.entries(given)
}

/**
 * The classes that workloads which are to come could have had before a change by which approvals could ask less for
 * them; none where they could not. They have a class that the changed rule gives, or none where it does not mean them
 * (unlabelled), or one that it hides of a rule that counts less. Who was production by it keeps that in any case: what
 * other rules say of them is not known.
 */
function listKept({ before, after }: RuleChange, { rules, next, policy }: Around): ApprovalClass[] {
  if (before !== null && after !== null && sayTheSame(before, after)) return []
  const [were, are] = [classesGiven(before), classesGiven(after)]
  if (hidesProduction(after, next)) were.add('production')
  if (hidesProduction(before, rules)) are.add('production')
  const meansTheSame =
    JSON.stringify([before?.selector, before?.list]) === JSON.stringify([after?.selector, after?.list]) &&
    before?.priority === after?.priority
  // Whom only one of them means has no environment by the other.
  if (!meansTheSame || !givesEnvironment(before)) were.add('unlabelled')
  if (!meansTheSame || !givesEnvironment(after)) are.add('unlabelled')
  const raised = are.has('production') && lowersClass(policy, 'other', 'production')
  if (raised && rules.some((rule) => classesGiven(rule).has('other'))) were.add('other')
  return [...were]
    .filter((from) => from === 'production' || [...are].some((to) => lowersClass(policy, from, to)))
    .sort()
}

/** All rules before and after a change, in their order, and what approvals ask. */
interface Around {
  rules: readonly LabelRule[]
  next: readonly LabelRule[]
  policy: ApprovalPolicy
}

/** The classes that a rule makes by itself, each for some of those that it means. */
function classesGiven(rule: LabelRule | null): Set<ApprovalClass> {
  const found = new Set<ApprovalClass>()
  if (rule === null) return found
  for (const [key, value] of listGiven(rule)) {
    const given = classGiven(key, value)
    if (given !== null) found.add(given)
  }
  return found
}

/** Whether a rule gives an environment to everybody whom it means. */
const givesEnvironment = (rule: LabelRule | null): boolean =>
  rule !== null && rule.list === null && ENVIRONMENT_KEYS.some((key) => Object.hasOwn(rule.labels, key))

/** Whether a rule has another value under a key under which one that counts less says production. */
function hidesProduction(rule: LabelRule | null, all: readonly LabelRule[]): boolean {
  if (rule === null) return false
  const keys = new Set<string>()
  for (const [key, value] of listGiven(rule)) if (!namesProduction(value)) keys.add(key)
  return all.slice(all.findIndex(({ id }) => id === rule.id) + 1).some((below) => {
    for (const [key, value] of listGiven(below)) if (keys.has(key) && namesProduction(value)) return true
    return false
  })
}

/** The class that one label makes by itself; null where it says nothing of it. */
function classGiven(key: string, value: string): 'production' | 'other' | null {
  if (namesProduction(value)) return 'production'
  return (ENVIRONMENT_KEYS as readonly string[]).includes(key) ? 'other' : null
}

/** Whether two rules give the same labels to the same workloads with the same priority; names do not matter. */
export const sayTheSame = (a: StoredLabelRule, b: StoredLabelRule): boolean =>
  a.priority === b.priority &&
  a.list === b.list &&
  JSON.stringify([a.selector, a.labels]) === JSON.stringify([b.selector, b.labels])
