import type { ActTransaction } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditEvent } from '../audit/event.ts'
import type { ApprovalActor, ApprovalParts } from '../changes/approval-parts.ts'
import { withdrawAll } from '../changes/close-approval.ts'
import { gitGroupOf } from '../model/git-group.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { isStorable } from '../model/storable.ts'
import { type Approval, listOpenApprovalsOfGroup } from '../store/approvals.ts'
import { placeOfFleetConfig } from '../store/commit-authors.ts'
import {
  deleteWishesOfHeir,
  deleteWishesWhereHeirKeeps,
  type HandOver,
  handOverFleetConfigs,
  handOverWorkloads,
  isSpokenForByAnother,
  listSpeakers,
  lockOwner,
  lockRequestsOf,
  moveRequests,
  sayHandsOverItself,
} from '../store/git-owners.ts'
import { handOverUnseen } from '../store/unseen-texts.ts'
import { findAccountSaid } from '../store/users.ts'
import { isOwner } from './owner.ts'

/** What an owner in Git keeps and is to be another's: all of it, or these objects only where a list is given. */
export interface WantedHandOver {
  owner: string
  toOwner: string
  /** The user or service account that speaks for it from then on: its id, an e-mail, or `service:` and its name. */
  toAccount: string
  workloadIds: readonly string[] | null
  fleetConfigIds: readonly string[] | null
}

/** What handing over needs. */
type HandOverParts = Pick<ApprovalParts, 'clock' | 'counters' | 'db' | 'fleet' | 'hub' | 'news'>

/** How handing over ended. */
export type HandOverOutcome =
  | { ok: true; workloads: readonly string[]; fleetConfigs: readonly string[] }
  | Refusal<'account-unknown' | 'not-managed' | 'owner-invalid' | 'owner-taken'>
  | AuditFailure

/**
 * Hand what an owner in Git keeps over to another name, another account, or both, all or nothing. What was decided about
 * it stays decided: which text Git asked for, by which request or campaign, and what became of that. A name speaks for
 * one account before and after.
 */
export async function handOver(
  parts: HandOverParts,
  actor: ApprovalActor,
  wanted: WantedHandOver,
): Promise<HandOverOutcome> {
  const { owner, toOwner, toAccount, workloadIds, fleetConfigIds } = wanted
  if (!isOwner(toOwner)) return refuse('owner-invalid')
  if (!isStorable(toAccount)) return refuse('account-unknown')
  const named = [...(workloadIds ?? []), ...(fleetConfigIds ?? [])]
  if (!isOwner(owner) || !named.every(isStorable)) return refuse('not-managed')
  return parts.db.change<HandOverOutcome>('config.hand-over', actor, async (tx) => {
    for (const name of [...new Set([owner, toOwner])].sort()) await lockOwner(tx, name)
    const heir = await findAccountSaid(tx, toAccount)
    if (heir === null) return refuse('account-unknown')
    const { id: toAccountId, email: account } = heir
    const isAll = workloadIds === null && fleetConfigIds === null
    const to = { owner, toOwner, accountId: toAccountId, account, now: parts.clock.now() }
    const groups = { from: gitGroupOf(owner), to: gitGroupOf(toOwner) }
    const ofWorkloads = { ...to, only: isAll ? null : (workloadIds ?? []) }
    const formerIds = await listSpeakers(tx, owner)
    const heirsBefore = await listSpeakers(tx, toOwner)
    await lockRequestsOf(tx, ofWorkloads, Object.values(groups))
    await sayHandsOverItself(tx)
    const { ended, left } = await giveWay(parts, tx, ofWorkloads, actor)
    const workloads = await handOverWorkloads(tx, ofWorkloads)
    const ofFleetConfigs = { ...to, only: isAll ? null : (fleetConfigIds ?? []) }
    const handed = await handOverFleetConfigs(tx, ofFleetConfigs, formerIds)
    const fleetConfigs = handed.map(({ id }) => id)
    const found = new Set([...workloads, ...fleetConfigs, ...left])
    if (found.size === 0 || named.some((id) => !found.has(id))) return refuse('not-managed')
    if (await isSpokenForByAnother(tx, toOwner, toAccountId)) return refuse('owner-taken', { owner: toOwner })
    // With all that an owner keeps goes what it let go of before.
    const ofFleet = handed.map(({ name }) => placeOfFleetConfig(name))
    const places = isAll ? null : [...workloads, ...left, ...ofFleet]
    await handOverUnseen(tx, { ...to, formerIds }, places)
    // What the heir's name asked for by another account gave way, or was asked for where it has nothing any more.
    if (toOwner !== owner) await handOverUnseen(tx, { ...to, owner: toOwner, formerIds: heirsBefore }, null)
    await moveRequests(tx, to, { workloadIds: workloads, ...groups, formerIds })
    const detail = JSON.stringify({
      to_owner: toOwner,
      to_account: account,
      workload_count: workloads.length,
      fleet_config_count: fleetConfigs.length,
      ...(isAll ? {} : { only: named }),
    })
    await tx.recordAll([
      ...ended,
      { action: 'config.hand_over', resource: 'owner', resourceId: owner, detail },
    ])
    return { ok: true, workloads, fleetConfigs }
  })
}

/**
 * End what the heir itself asked for where it gets what the owner has, and what the owner asked for where the heir keeps
 * the workload (`left`); returns what is to be recorded of it.
 */
async function giveWay(
  parts: HandOverParts,
  tx: ActTransaction,
  of: HandOver,
  actor: ApprovalActor,
): Promise<{ ended: Omit<AuditEvent, 'actor'>[]; left: readonly string[] }> {
  const left = await deleteWishesWhereHeirKeeps(tx, of)
  const open: Approval[] = []
  for (const workloadId of left)
    open.push(...(await listOpenApprovalsOfGroup(tx, workloadId, gitGroupOf(of.owner))))
  for (const workloadId of await deleteWishesOfHeir(tx, of))
    open.push(...(await listOpenApprovalsOfGroup(tx, workloadId, gitGroupOf(of.toOwner))))
  const comment = 'What another owner asked for was handed over'
  return { ended: await withdrawAll(parts, tx, open, { actor, comment, now: of.now }), left }
}
