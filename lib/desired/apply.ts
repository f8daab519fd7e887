import type { AuditFailure } from '../audit/delivery.ts'
import { type ApprovalActor, type ApprovalParts, checkDraft, refuseTexts } from '../changes/approval-parts.ts'
import { endApproval } from '../changes/close-approval.ts'
import { type CreateOutcome, createApproval } from '../changes/create-approval.ts'
import { configHash } from '../model/config-hash.ts'
import { gitGroupOf } from '../model/git-group.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { type Approval, findNewestApprovalFromGit, listOpenApprovalsOfGroup } from '../store/approvals.ts'
import { areCommitAuthorsNoted, noteCommitAuthors } from '../store/commit-authors.ts'
import { isSpokenForByAnother, lockOwner } from '../store/git-owners.ts'
import {
  deleteManagedConfig,
  findManagedConfig,
  keepManagedConfig,
  type ManagedConfig,
} from '../store/managed-configs.ts'
import { lockWorkload } from '../store/workloads.ts'
import { type DesiredVerdict, decideDesired } from './decide.ts'
import { isOwner, tellCommit, toAuthorNames } from './owner.ts'

/** A config that Git holds for a workload. */
export interface DesiredConfig {
  workloadId: string
  actor: ApprovalActor
  /** The owner in Git: the name of a folder or a repository. */
  owner: string
  draftYaml: string
  commitSha: string
  commitAuthor: string
  /** Everybody else whom the commit names, or may have been made by. */
  commitAuthors: readonly string[]
  /** Request it, whatever was decided about it before. */
  again: boolean
  /** Say what would be done, and do nothing. */
  isDryRun: boolean
}

/** What is done about a config that Git holds, or why nothing is. */
export type DesiredOutcome =
  | {
      ok: true
      verdict: DesiredVerdict
      hash: string
      activeHash: string | null
      /** The request that this call made; null where it made none. */
      proposed: Approval | null
    }
  | Exclude<CreateOutcome, { ok: true }>
  | Refusal<'managed-elsewhere' | 'owner-invalid' | 'owner-taken'>

/**
 * Compare a workload with what Git holds for it, and request what differs. Calling it again with the same changes
 * nothing more.
 */
export async function applyDesired(parts: ApprovalParts, wanted: DesiredConfig): Promise<DesiredOutcome> {
  const { workloadId, owner, draftYaml } = wanted
  if (!isOwner(owner)) return refuse('owner-invalid')
  const refused = refuseTexts({
    config: draftYaml,
    comment: tellCommit(wanted),
    commit_authors: wanted.commitAuthors.join(),
  })
  if (refused !== null) return refused
  const target = await parts.configTargets.find(workloadId)
  if (target === null) return { ok: false, code: 'workload-not-found' }
  const db = await parts.db.upToDate()
  const managed = await findManagedConfig(db, workloadId)
  if (managed !== null && managed.owner !== owner)
    return refuse('managed-elsewhere', { owner: managed.owner })
  // Everybody may ask what an owner would change; to ask for it in its name is for the account that speaks for it.
  if (!wanted.isDryRun && (await isSpokenForByAnother(db, owner, wanted.actor.userId)))
    return refuse('owner-taken', { owner })
  if (!target.acceptsRemoteConfig) return { ok: false, code: 'remote-config-unsupported' }
  const hash = configHash(draftYaml)
  const verdict = decideDesired({
    hash,
    activeHash: target.activeConfigHash,
    again: wanted.again,
    hasFailed: parts.fleet.workload(workloadId)?.quarantinedHashes.has(hash) === true,
    isSameWish: managed?.configHash === hash,
    newest: await findNewestApprovalFromGit(db, workloadId, gitGroupOf(owner), hash),
  })
  const checked = await checkDraft(parts, draftYaml, target)
  if (!checked.ok) return checked
  const outcome = { ok: true, verdict, hash, activeHash: target.activeConfigHash, proposed: null } as const
  if (wanted.isDryRun) return outcome
  const kept = await keepWish(parts, wanted, managed, hash)
  if (!kept.ok) return kept
  const ended = await endOthers(parts, wanted, hash)
  if (ended !== null) return ended
  if (verdict.action !== 'propose') return outcome
  const created = await createApproval(parts, {
    workloadId,
    actor: wanted.actor,
    draftYaml,
    comment: tellCommit(wanted),
    // Nobody is there to confirm production for a pipeline: whoever approves and pushes the request does so.
    targetGroup: gitGroupOf(owner),
    targetEnv: '',
    prodConfirmation: true,
  })
  return created.ok ? { ...outcome, proposed: created.approval } : created
}

/** Note what Git asks for, where it is another text than before, or somebody else's too. */
async function keepWish(
  parts: ApprovalParts,
  wanted: DesiredConfig,
  managed: ManagedConfig | null,
  hash: string,
): Promise<
  { ok: true } | Refusal<'managed-elsewhere' | 'owner-taken' | 'workload-not-found'> | AuditFailure
> {
  const authors = toAuthorNames(wanted)
  const isSameWish = managed?.configHash === hash
  if (isSameWish && (await areCommitAuthorsNoted(parts.db, hash, authors))) return { ok: true }
  const { workloadId, owner, actor, commitSha, commitAuthor } = wanted
  return parts.db.change('config.manage', actor, async (tx) => {
    if ((await lockWorkload(tx, workloadId)) === null) return refuse('workload-not-found')
    await lockOwner(tx, owner)
    if (await isSpokenForByAnother(tx, owner, actor.userId)) return refuse('owner-taken', { owner })
    const now = parts.clock.now()
    await noteCommitAuthors(tx, hash, authors, now)
    const wish = { workloadId, owner, configHash: hash, commitSha, commitAuthor }
    // The commit that asked first stays noted as the one that did.
    const applied = { appliedAt: now, appliedBy: actor.email, appliedById: actor.userId }
    const isKept = isSameWish || (await keepManagedConfig(tx, { ...wish, ...applied }))
    if (!isKept) {
      // The row of another owner, who was first; it stays while the workload is locked.
      const rival = await findManagedConfig(tx, workloadId)
      return refuse('managed-elsewhere', { owner: rival?.owner ?? '' })
    }
    await tx.record({
      action: 'config.manage',
      resource: 'workload',
      resourceId: workloadId,
      configHash: hash,
      detail: JSON.stringify({ owner, commit_sha: commitSha, commit_author: commitAuthor }),
    })
    return { ok: true }
  })
}

/**
 * Withdraw the owner's open requests for this workload, approved ones too, but for those for `hash`; null withdraws
 * all.
 */
async function endOthers(
  parts: ApprovalParts,
  { workloadId, owner, actor }: Pick<DesiredConfig, 'workloadId' | 'owner' | 'actor'>,
  hash: string | null,
): Promise<AuditFailure | null> {
  for (const open of await listOpenApprovalsOfGroup(parts.db, workloadId, gitGroupOf(owner))) {
    if (open.draftHash === hash) continue
    const comment = 'Git asks for something else now'
    const ended = await endApproval(parts, {
      workloadId,
      approvalId: open.id,
      status: 'withdrawn',
      comment,
      actor,
    })
    if (!ended.ok && ended.code === 'audit-unavailable') return ended
  }
  return null
}

/**
 * Let a workload be changed by hand again. What runs stays; requests from Git that were not pushed are withdrawn.
 * `mayOverrule`: the actor may do so without being the account that proposed what Git holds.
 */
export async function releaseDesired(
  parts: ApprovalParts,
  wanted: Pick<DesiredConfig, 'workloadId' | 'owner' | 'actor'> & { mayOverrule: boolean },
): Promise<{ ok: true } | Refusal<'managed-elsewhere' | 'not-managed' | 'not-its-pipeline'> | AuditFailure> {
  const { workloadId, owner, actor, mayOverrule } = wanted
  const managed = await findManagedConfig(parts.db, workloadId)
  if (managed === null) return refuse('not-managed')
  if (managed.owner !== owner) return refuse('managed-elsewhere', { owner: managed.owner })
  // Everybody can read the owner's name: only the account that speaks for it, or who may overrule it, lets go.
  if (!mayOverrule && managed.appliedById !== actor.userId) return refuse('not-its-pipeline')
  const ended = await endOthers(parts, wanted, null)
  if (ended !== null) return ended
  return parts.db.change('config.unmanage', actor, async (tx) => {
    const gone = await deleteManagedConfig(tx, workloadId, owner)
    if (gone === null) return refuse('not-managed')
    await tx.record({
      action: 'config.unmanage',
      resource: 'workload',
      resourceId: workloadId,
      configHash: gone.configHash,
      detail: JSON.stringify({ owner }),
    })
    return { ok: true }
  })
}
