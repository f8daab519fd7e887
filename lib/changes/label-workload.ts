import type { AuditFailure } from '../audit/delivery.ts'
import type { Clock } from '../clock.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Workload } from '../fleet/state/model.ts'
import type { Hub } from '../hub/hub.ts'
import type { Random } from '../ids.ts'
import type { Log } from '../log.ts'
import { type ApprovalClass, approvalClassOf, isLooser, lowersClass } from '../model/approval-policy.ts'
import { type TrustedParts, trustedOf } from '../model/trusted-labels.ts'
import type { Db } from '../store/db.ts'
import { listKeptClasses } from '../store/reviews.ts'
import { changedNames, noteValueAuthor } from '../store/value-authors.ts'
import type { ApprovalActor } from './approval-parts.ts'
import { readApprovalPolicy } from './approval-policy.ts'
import { keptUntil, noteUnreviewed } from './reviews.ts'

type Labels = TrustedParts['handLabels']

/** What operators set on a workload, and whether some of it could not be read. */
type ByHand = Pick<TrustedParts, 'handLabels' | 'hasUnreadableLabels'>

interface Parts {
  clock: Clock
  random: Random
  log: Log
  hub: Pick<Hub, 'broadcast'>
  fleet: Pick<Fleet, 'changeTrustedLabels' | 'workload'>
}

/**
 * Change the labels that operators set on a workload: `change` makes the new ones from those that it has, or refuses.
 * They count at once for everything but approvals. Where the approval class becomes one of which less is asked, or an
 * earlier change of class still waits, approvals follow the strictest of the former classes and the new one until a
 * second person has accepted the labels, or until `stricterUntil`, a day later.
 */
export async function labelWorkload<Refused extends { ok: false }>(
  parts: Parts,
  id: string,
  change: (before: ByHand) => { ok: true; labels: Labels } | Refused,
  actor: ApprovalActor,
): Promise<
  | { ok: true; stricterUntil: Date | null }
  | { ok: false; code: 'workload-not-found' }
  | Refused
  | AuditFailure
> {
  const { fleet, log } = parts
  const workload = fleet.workload(id)
  let former: ApprovalClass | null = null
  let formerLabels: Labels = {}
  let stricterUntil: Date | null = null
  const outcome = await fleet.changeTrustedLabels<Refused>(
    id,
    (before) => {
      former = classWith(workload, before)
      formerLabels = before.handLabels
      return change(before)
    },
    actor,
    async (tx, labels) => {
      const own = classWith(workload, { handLabels: labels, hasUnreadableLabels: false })
      const kept = (await listKeptClasses(tx, [id])).get(id) ?? []
      if (former !== null && former !== own && (kept.length > 0 || (await lowersBar(tx, former, own)))) {
        const review = await noteUnreviewed(parts, tx, actor, {
          kind: 'labels',
          workloadId: id,
          keptClasses: [...new Set([...kept, former])].sort(),
          reason: `${former} → ${own}`,
        })
        stricterUntil = keptUntil(review)
        const said = { email: actor.email, workload_id: id, from: former, to: own }
        tx.afterCommit(() => log.warn(said, 'other rules for approvals wait for a second person'))
      }
      // A label may choose a value of a version: whoever sets it then is an author of what is pushed.
      const names = changedNames(formerLabels, labels)
      const set = { workloadId: id, kind: 'label' as const, names, userId: actor.userId }
      await noteValueAuthor(tx, set, Object.keys(labels))
      await tx.record({
        action: 'workload.trusted_labels',
        resource: 'workload',
        resourceId: id,
        detail: JSON.stringify(labels),
      })
    },
  )
  return outcome.ok ? { ok: true, stricterUntil } : outcome
}

type Labelled = Pick<Workload, 'labels' | 'ruleLabels'>

/** The class of a workload with these labels by hand: what a label rule gives counts where nobody set the same key. */
const classWith = (workload: Labelled | null, byHand: ByHand): ApprovalClass =>
  approvalClassOf({
    targetEnv: '',
    targetGroup: '',
    labels: workload?.labels ?? {},
    trustedLabels: trustedOf({ ruleLabels: workload?.ruleLabels ?? {}, ...byHand }),
  })

/** Whether one of these classes asks more than the one that a workload has without labels by hand; by the stored policy. */
export async function asksMoreThanWithoutLabels(
  tx: Db,
  workload: Labelled,
  classes: readonly ApprovalClass[],
): Promise<boolean> {
  const { policy } = await readApprovalPolicy(tx)
  const left = policy[classWith(workload, { handLabels: {}, hasUnreadableLabels: false })]
  return classes.some((one) => isLooser(policy[one], left))
}

/** The class of a workload by its labels now. */
export const classByLabels = (workload: Labelled & ByHand): ApprovalClass => classWith(workload, workload)

/** Whether the labels lower the bar, by the policy that is stored now. */
async function lowersBar(tx: Db, former: ApprovalClass, own: ApprovalClass): Promise<boolean> {
  const { policy } = await readApprovalPolicy(tx)
  return lowersClass(policy, former, own)
}
