import type { AuditFailure } from '../audit/delivery.ts'
import { type ApprovalActor, type ApprovalParts, checkDraft, refuseTexts } from '../changes/approval-parts.ts'
import { withdrawAll } from '../changes/close-approval.ts'
import {
  type CreateOutcome,
  type RequestRefusal,
  readRequest,
  storeRequest,
} from '../changes/create-approval.ts'
import { toAuthorNames } from '../changes/named-authors.ts'
import { configHash } from '../model/config-hash.ts'
import { gitGroupOf } from '../model/git-group.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import {
  type Approval,
  findApproval,
  findNewestApprovalFromGit,
  listOpenApprovalsOfGroup,
} from '../store/approvals.ts'
import { areCommitAuthorsNoted, type CommitClaim } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import { isSpokenForByAnother, lockOwner } from '../store/git-owners.ts'
import { findKeeper } from '../store/keepers.ts'
import {
  acceptWish,
  deleteManagedConfig,
  keepManagedConfig,
  listWishes,
  type ManagedConfig,
} from '../store/managed-configs.ts'
import { lockWorkload } from '../store/workloads.ts'
import { type DesiredVerdict, decideDesired } from './decide.ts'
import { noteAuthors } from './note-authors.ts'
import { isOwner, recordNamed, tellCommit, tellRelease, textsOf } from './owner.ts'
import { type ReleaseRefusal, refuseRelease } from './refuse-release.ts'

const REPLACED = 'Git asks for something else now'

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
  /** Whether the actor may push there: then Git keeps what runs there already, without a request. */
  mayPush: boolean
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
  const refused = refuseTexts({ config: draftYaml, comment: tellCommit(wanted), ...textsOf(wanted) })
  if (refused !== null) return refused
  const target = await parts.configTargets.find(workloadId)
  if (target === null) return { ok: false, code: 'workload-not-found' }
  const db = await parts.db.upToDate()
  const hash = configHash(draftYaml)
  const standing = await readStanding(parts, db, wanted, hash)
  if (!standing.ok) return standing
  // Everybody may ask what an owner would change; to ask for it in its name is for the account that speaks for it.
  if (!wanted.isDryRun && (await isSpokenForByAnother(db, owner, wanted.actor.userId)))
    return refuse('owner-taken', { owner })
  if (!target.acceptsRemoteConfig) return { ok: false, code: 'remote-config-unsupported' }
  const checked = await checkDraft(parts, draftYaml, target)
  if (!checked.ok) return checked
  const found = { ok: true, hash, activeHash: target.activeConfigHash, proposed: null } as const
  if (wanted.isDryRun || (await isKept(db, wanted, standing))) return { ...found, verdict: standing.verdict }
  const kept = await keepWish(parts, wanted, hash)
  return kept.ok ? { ...found, verdict: kept.verdict, proposed: kept.proposed } : kept
}

/** A wish beside what is known of its workload, and what is to be done about it. */
interface Standing {
  ok: true
  hash: string
  managed: ManagedConfig | null
  isSameWish: boolean
  verdict: DesiredVerdict
  activeHash: string | null
  /** The request that speaks for the wish where nothing new is requested. */
  spokenFor: Approval | null
  /** The owner's requests for other texts that nobody pushed or ended. */
  others: readonly Approval[]
}

/** Read what decides about a wish. In a transaction that has locked the workload it stays true to its end. */
async function readStanding(
  { fleet }: Pick<ApprovalParts, 'fleet'>,
  db: Db,
  { workloadId, owner, again, actor }: DesiredConfig,
  hash: string,
): Promise<Standing | Refusal<'managed-elsewhere' | 'workload-not-found'>> {
  const workload = fleet.workload(workloadId)
  if (workload === null) return refuse('workload-not-found')
  const wishes = await listWishes(db, { owner: null, workloadId })
  const managed = wishes.find((wish) => wish.owner === owner) ?? null
  const keeper = await findKeeper(db, workloadId)
  // What nobody has approved keeps no other account out; but one account asks for one thing.
  const asked = managed === null ? wishes.find(({ appliedById }) => appliedById === actor.userId) : undefined
  const elsewhere = [keeper, asked].find((one) => one && one.owner !== owner)
  if (elsewhere) return refuse('managed-elsewhere', { owner: elsewhere.owner })
  const group = gitGroupOf(owner)
  const isSameWish = managed?.configHash === hash
  const newest = await findNewestApprovalFromGit(db, workloadId, group, hash)
  const ownId = isSameWish ? managed.approvalId : null
  const own =
    ownId === null || ownId === newest?.id ? ownId && newest : await findApproval(db, workloadId, ownId)
  const { activeHash, rollout, quarantinedHashes } = workload
  const verdict = decideDesired({
    hash,
    activeHash,
    rollout: rollout && {
      hash: rollout.followed.push.hash,
      isStopped: rollout.stored.status === 'aborted',
    },
    hasFailed: quarantinedHashes.has(hash),
    newest,
    own: own || null,
    again,
  })
  const open = await listOpenApprovalsOfGroup(db, workloadId, group)
  const others = open.filter(({ draftHash }) => draftHash !== hash)
  return {
    ok: true,
    hash,
    managed,
    isSameWish,
    verdict,
    activeHash,
    spokenFor: speaksFor(verdict, own || null, newest),
    others,
  }
}

/**
 * The request that speaks for a wish: one that waits, the wish's own, or the one by which its text came to run; what
 * becomes of that is then what becomes of the wish.
 */
function speaksFor(verdict: DesiredVerdict, own: Approval | null, newest: Approval | null): Approval | null {
  if (own !== null) return own
  const isThere =
    verdict.action === 'unchanged' || (verdict.action === 'waits' && verdict.reason !== 'other_rolling_out')
  const isOpenOrPushed = newest !== null && ['pending', 'approved', 'pushed'].includes(newest.status)
  return isThere && isOpenOrPushed ? newest : null
}

/**
 * Whether a wish for a workload that is not kept in Git yet waits for a rollout. Nothing is stored of it then: kept in Git,
 * the workload would keep that rollout from its next stage, and both would wait for each other.
 */
const isTooEarly = ({ managed, verdict }: Standing): boolean =>
  managed === null && verdict.action === 'waits' && verdict.reason !== null

/** Whether a wish keeps others out from now on, although no request of its owner was approved. */
const isAcceptedAtOnce = ({ mayPush }: DesiredConfig, { managed, verdict }: Standing): boolean =>
  mayPush && verdict.action === 'unchanged' && managed?.isAccepted !== true

/** Whether everything is stored already that is to be stored of a wish, so that nothing is left to do. */
async function isKept(db: Db, wanted: DesiredConfig, standing: Standing): Promise<boolean> {
  if (isTooEarly(standing)) return true
  const { hash, managed, isSameWish, verdict, spokenFor, others } = standing
  if (!isSameWish || managed?.approvalId !== (spokenFor?.id ?? null)) return false
  if (verdict.action === 'propose' || others.length > 0 || isAcceptedAtOnce(wanted, standing)) return false
  return areCommitAuthorsNoted(
    db,
    toClaim(wanted, hash),
    toAuthorNames(wanted).map(({ name }) => name),
  )
}

/** Whose word it is whom a commit names, and where. */
const toClaim = ({ workloadId, actor }: DesiredConfig, configHash: string): CommitClaim => ({
  configHash,
  byId: actor.userId,
  place: workloadId,
})

/**
 * Note what Git asks for, withdraw what the owner asked for before, and request it where it is to be, all or nothing:
 * what is to be done is decided under the workload's lock, so that of two equal runs one finds what the other did.
 */
async function keepWish(
  parts: ApprovalParts,
  wanted: DesiredConfig,
  hash: string,
): Promise<
  | { ok: true; verdict: DesiredVerdict; proposed: Approval | null }
  | Refusal<'managed-elsewhere' | 'owner-taken' | 'workload-not-found'>
  | RequestRefusal
  | AuditFailure
> {
  const { workloadId, owner, actor, commitSha, commitAuthor } = wanted
  const asked = await readRequest(parts, {
    workloadId,
    actor,
    draftYaml: wanted.draftYaml,
    comment: tellCommit(wanted),
    // Nobody is there to confirm production for a pipeline: whoever approves and pushes the request does so.
    targetGroup: gitGroupOf(owner),
    targetEnv: '',
    prodConfirmation: true,
    // What failed here is held, and only requested where the pipeline says again.
    retryQuarantined: true,
  })
  // What is active already need not be requested; it may come to differ until the workload is locked.
  if (!asked.ok && asked.code !== 'nothing-changes') return asked
  return parts.db.change('config.manage', actor, async (tx) => {
    if ((await lockWorkload(tx, workloadId)) === null) return refuse('workload-not-found')
    await lockOwner(tx, owner)
    if (await isSpokenForByAnother(tx, owner, actor.userId)) return refuse('owner-taken', { owner })
    const standing = await readStanding(parts, tx, wanted, hash)
    if (!standing.ok) return standing
    const { managed, isSameWish, verdict, others } = standing
    if (isTooEarly(standing)) return { ok: true, verdict, proposed: null }
    const now = parts.clock.now()
    const place = { ...toClaim(wanted, hash), owner, activeHash: standing.activeHash }
    await noteAuthors(parts, tx, place, { authors: toAuthorNames(wanted), isAnew: !isSameWish })
    const ended = await withdrawAll(parts, tx, others, { actor, comment: REPLACED, now })
    const isProposed = verdict.action === 'propose'
    if (isProposed && !asked.ok) return asked
    const made = isProposed && asked.ok ? await storeRequest(parts, tx, actor, asked.wanted) : null
    if (made?.ok === false) return made
    const approvalId = made?.approval.id ?? standing.spokenFor?.id ?? null
    const applied = { appliedAt: now, appliedBy: actor.email, appliedById: actor.userId }
    const ran = findRan(managed, standing.activeHash)
    const isAccepted = managed?.isAccepted ?? false
    const wish = {
      workloadId,
      owner,
      configHash: hash,
      commitSha,
      commitAuthor,
      isAccepted,
      ...ran,
      ...applied,
    }
    // The commit that asked first stays noted as the one that did.
    await keepManagedConfig(tx, { ...wish, ...(isSameWish ? { ...managed, ...ran } : {}), approvalId })
    if (isAcceptedAtOnce(wanted, standing)) await acceptWish(tx, workloadId, owner)
    const detail = JSON.stringify({ owner, commit_sha: commitSha, ...recordNamed(wanted) })
    const about = { resource: 'workload', resourceId: workloadId, configHash: hash, detail }
    await tx.recordAll([
      ...ended,
      { action: 'config.manage', ...about },
      ...(made === null ? [] : [made.event]),
    ])
    return { ok: true, verdict, proposed: made?.approval ?? null }
  })
}

/**
 * The commit that first asked for what runs, or for what ran last of what Git asked for; '' where that is not
 * known: who changed a document since then has a part in what is asked for now.
 */
export function findRan(
  managed: ManagedConfig | null,
  activeHash: string | null,
): Pick<ManagedConfig, 'ranCommitSha'> {
  if (managed === null) return { ranCommitSha: '' }
  const { configHash, commitSha, ranCommitSha } = managed
  return { ranCommitSha: configHash === activeHash ? commitSha : ranCommitSha }
}

/**
 * Let a workload be changed by hand again. What runs stays; requests from Git that were not pushed are withdrawn.
 * `mayOverrule`: the actor may do so without being the account that proposed what Git holds.
 */
export async function releaseDesired(
  parts: ApprovalParts,
  wanted: Pick<DesiredConfig, 'workloadId' | 'owner' | 'actor'> & { mayOverrule: boolean },
): Promise<{ ok: true } | ReleaseRefusal | AuditFailure> {
  const { workloadId, owner, actor } = wanted
  const refused = refuseRelease(await findOwn(parts.db, wanted), wanted)
  if (refused !== null) return refused
  return parts.db.change('config.unmanage', actor, async (tx) => {
    if ((await lockWorkload(tx, workloadId)) === null) return refuse('not-managed')
    // While this waited for its turn the owner may have been handed over, to another name or another account.
    await lockOwner(tx, owner)
    const overtaken = refuseRelease(await findOwn(tx, wanted), wanted)
    if (overtaken !== null) return overtaken
    const open = await listOpenApprovalsOfGroup(tx, workloadId, gitGroupOf(owner))
    const now = parts.clock.now()
    const ended = await withdrawAll(parts, tx, open, { actor, comment: tellRelease(wanted), now })
    const gone = await deleteManagedConfig(tx, workloadId, owner)
    if (gone === null) return refuse('not-managed')
    const detail = JSON.stringify({ owner })
    const about = { resource: 'workload', resourceId: workloadId, configHash: gone.configHash, detail }
    await tx.recordAll([...ended, { action: 'config.unmanage', ...about }])
    return { ok: true }
  })
}

/** What an owner asks for of a workload, or else what keeps it out, or what another one asks for; null for nothing. */
async function findOwn(
  db: Db,
  { workloadId, owner }: Pick<DesiredConfig, 'workloadId' | 'owner'>,
): Promise<ManagedConfig | null> {
  const wishes = await listWishes(db, { owner: null, workloadId })
  return wishes.find((wish) => wish.owner === owner) ?? wishes[0] ?? null
}
