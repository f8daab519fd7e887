import type { AuditFailure } from '../audit/delivery.ts'
import {
  type CampaignOutcome,
  changeCampaign,
  closeCampaign,
  createCampaign,
  withdrawWithin,
} from '../campaigns/decisions.ts'
import { CampaignJudge, JudgeBusy } from '../campaigns/judge/judge.ts'
import type { CampaignParts } from '../campaigns/judge/parts.ts'
import { isInOneOf } from '../campaigns/judge/scope.ts'
import type { CampaignDraft } from '../campaigns/read-campaign.ts'
import { type ApprovalActor, refuseTexts, type TextRefusal } from '../changes/approval-parts.ts'
import { toAuthorNames } from '../changes/named-authors.ts'
import type { Workload } from '../fleet/state/model.ts'
import { hasFailedSomewhere } from '../fleet/state/state.ts'
import { isBoundByAutoApply, isStoredAlike } from '../fleet-configs/bound-by-auto-apply.ts'
import {
  FLEET_CONFIGS_MAX,
  FLEET_CONFIGS_WIDTH_MAX,
  type FleetConfigs,
} from '../fleet-configs/fleet-configs.ts'
import { listMembersThen, type MembersThen } from '../fleet-configs/members-then.ts'
import { readVersion, type VersionDraft, type VersionRefusal } from '../fleet-configs/read-version.ts'
import { storeVersion } from '../fleet-configs/store-version.ts'
import { uuidv7 } from '../ids.ts'
import { campaignIs } from '../model/campaign-states.ts'
import { configHash } from '../model/config-hash.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import type { ChangeReach } from '../selectors/within-scope.ts'
import { listOpenAutoApplies } from '../store/auto-apply.ts'
import { findCampaign, findCampaignUnderWay, listUnreached, type StoredCampaign } from '../store/campaigns.ts'
import { areCommitAuthorsNoted, placeOfFleetConfig } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import {
  type FleetConfigChange,
  findContent,
  insertFleetConfig,
  lockFleetConfig,
  type StoredFleetConfig,
  updateFleetConfig,
} from '../store/fleet-configs.ts'
import { listFleetWishes } from '../store/fleet-wishes.ts'
import { isSpokenForByAnother, lockOwner } from '../store/git-owners.ts'
import {
  deleteManagedFleetConfig,
  findCarriedHash,
  findManagedFleetConfig,
  findOwnerByName,
  keepManagedFleetConfig,
  type ManagedFleetConfig,
  noteManagedCampaign,
} from '../store/managed-fleet-configs.ts'
import { decideFleet, type FleetVerdict, type Undone } from './decide-fleet.ts'
import { noteAuthors } from './note-authors.ts'
import { overruledAt } from './overruled.ts'
import { isOwner, recordNamed, tellCommit, tellRelease, textsOf } from './owner.ts'
import { type ReleaseRefusal, refuseRelease } from './refuse-release.ts'

/** What proposing fleet configs needs beside what campaigns need. */
export interface FleetDesiredParts extends Omit<CampaignParts, 'fleetConfigs'> {
  fleetConfigs: FleetConfigs
}

/** What a fleet config is about beside its versions. */
type Definition = Omit<FleetConfigChange, 'id' | 'updatedAt'>

/** A fleet config that Git holds. */
export interface DesiredFleetConfig {
  actor: ApprovalActor
  owner: string
  definition: Definition
  version: VersionDraft
  commitSha: string
  commitAuthor: string
  /** Everybody else whom the commit names, or may have been made by. */
  commitAuthors: readonly string[]
  /** Propose it, whatever was decided about it before. */
  again: boolean
  /** Say what would be done, and do nothing. */
  isDryRun: boolean
  /** Asked in the transaction of the change: whether the actor may still change what reaches these workloads. */
  mayStillChange(tx: Db, reach: ChangeReach): Promise<boolean>
  /** The campaign that carries a version of a fleet config. */
  draftCampaign(fleetConfigId: string, version: number): CampaignDraft
}

/** What is done about a fleet config that Git holds, or why nothing is. */
export type DesiredFleetOutcome =
  | {
      ok: true
      verdict: FleetVerdict
      /** Null in a dry run for a fleet config that is not there yet. */
      fleetConfigId: string | null
      version: number | null
      campaign: StoredCampaign | null
      /** What becomes another of the fleet config itself, and how many workloads come under it and leave it by that. */
      definitionChanges: readonly DefinitionPart[]
      joining: number
      leaving: number
      /** The campaigns that this call stored, changed or withdrew. */
      changed: readonly StoredCampaign[]
    }
  | VersionRefusal
  | TextRefusal
  | Refusal<
      | 'auto-apply-in-force'
      | 'fleet-config-not-found'
      | 'fleet-config-taken'
      | 'managed-elsewhere'
      | 'out-of-scope'
      | 'owner-invalid'
      | 'owner-taken'
      | 'fleet-configs-too-many'
      | 'fleet-configs-too-wide'
    >
  | Exclude<CampaignOutcome, { ok: true }>

type Managed = ManagedFleetConfig | null

/** Another run did something about the same fleet config: this one looks again. */
type Overtaken = { ok: false; code: 'overtaken' }
const OVERTAKEN: Overtaken = { ok: false, code: 'overtaken' }
/** So often a run looks again before it is refused. */
const LOOKS_MOST = 5

/**
 * Compare a fleet config with what Git holds, and propose what differs as a version and a campaign. Of two equal runs at
 * once one does so, and the other finds what it did.
 */
export async function applyDesiredFleet(
  parts: FleetDesiredParts,
  wanted: DesiredFleetConfig,
): Promise<DesiredFleetOutcome> {
  if (!isOwner(wanted.owner)) return refuse('owner-invalid')
  const refused = refuseTexts(textsOf(wanted))
  if (refused !== null) return refused
  const draft = { ...wanted.version, comment: tellCommit(wanted) }
  const read = await readVersion(draft, parts)
  if (!read.ok) return read
  for (let looks = 0; looks < LOOKS_MOST; looks++) {
    if (looks > 0) await parts.fleetConfigs.load()
    const outcome = await applyOnce(parts, wanted, { ...draft, hash: read.hash, meaning: read.meaning })
    if (outcome.ok || outcome.code !== 'overtaken') return outcome
  }
  return { ok: false, code: 'campaign-plan-changed' }
}

async function applyOnce(
  parts: FleetDesiredParts,
  wanted: DesiredFleetConfig,
  draft: VersionDraft & { hash: string; meaning: string },
): Promise<DesiredFleetOutcome | Overtaken> {
  const { owner, definition } = wanted
  const { configs } = parts.fleetConfigs
  const known = configs.find(({ name }) => name === definition.name) ?? null
  if (known === null && configs.length >= FLEET_CONFIGS_MAX)
    return refuse('fleet-configs-too-many', { max: FLEET_CONFIGS_MAX })
  if (parts.fleetConfigs.isTooWide(known?.id ?? null, definition.selector))
    return refuse('fleet-configs-too-wide', { max: FLEET_CONFIGS_WIDTH_MAX })
  const managed = known && (await findManagedFleetConfig(parts.db, known.id))
  if (managed !== null && managed.owner !== owner)
    return refuse('managed-elsewhere', { owner: managed.owner })
  // Everybody may ask what an owner would change; to ask for it in its name is for the account that speaks for it.
  if (!wanted.isDryRun && (await isSpokenForByAnother(parts.db, owner, wanted.actor.userId)))
    return refuse('owner-taken', { owner })
  const wishHash = hashWish(draft)
  const members = await listMembersThen(parts, known?.id ?? null, { ...definition, owner })
  const found = { known, definition, members }
  if (wanted.isDryRun) {
    const { verdict, campaign } = await judge(parts, wanted, { managed, wishHash, members })
    const isSameWish = managed?.wishHash === wishHash
    const about = { fleetConfigId: known?.id ?? null, version: isSameWish ? managed.version : null }
    return { ok: true, verdict, ...about, ...toChanges(found), campaign, changed: [] }
  }
  const kept = await keepWish(parts, wanted, draft, { known, managed, wishHash })
  if (!kept.ok) return kept
  await parts.fleetConfigs.load()
  await parts.fleetConfigs.storeMemberships()
  const { fleetConfigId, version } = kept
  const stored = await findManagedFleetConfig(parts.db, fleetConfigId)
  if (stored?.version !== version) return OVERTAKEN
  const { verdict, campaign, former } = await judge(parts, wanted, { managed: stored, wishHash, members })
  const about = { verdict, fleetConfigId, version, ...toChanges(found) }
  if (verdict.action !== 'propose') return { ok: true, ...about, campaign, changed: [] }
  const proposed = await proposeCampaign(parts, wanted, former, stored)
  return proposed.ok ? { ...proposed, ...about } : proposed
}

/** What becomes another of a fleet config beside its text, variables and values. */
const toChanges = ({
  known,
  definition,
  members: { arriving, leaving },
}: {
  known: StoredFleetConfig | null
  definition: Definition
  members: MembersThen
}): { definitionChanges: DefinitionPart[]; joining: number; leaving: number } => ({
  definitionChanges:
    known === null ? [] : DEFINITION_PARTS.filter((part) => !isSame(part, known, definition)),
  joining: arriving,
  leaving,
})

/**
 * Judge a wish as it is stored. `campaign` is what it is about: its own, or another one that is under way; null where
 * something new would be proposed. `former` is the one noted last.
 */
async function judge(
  parts: FleetDesiredParts,
  wanted: DesiredFleetConfig,
  { managed, wishHash, members }: { managed: Managed; wishHash: string; members: MembersThen },
): Promise<{ verdict: FleetVerdict; campaign: StoredCampaign | null; former: StoredCampaign | null }> {
  const { db, fleetConfigs } = parts
  if (managed === null) {
    const known = fleetConfigs.configs.find(({ name }) => name === wanted.definition.name)
    const other = known === undefined ? null : await findCampaignUnderWay(db, known.id, null)
    const facts = {
      isSameWish: false,
      campaign: null,
      hasOtherRules: false,
      hasUnreached: false,
      undone: null,
      again: wanted.again,
    }
    return {
      verdict: decideFleet({ ...facts, isOtherUnderWay: other !== null }),
      campaign: other,
      former: null,
    }
  }
  const { fleetConfigId, version } = managed
  const former = managed.campaignId === null ? null : await findCampaign(db, managed.campaignId)
  const isSameWish = managed.wishHash === wishHash
  // A run that broke off may have stored the version and left the campaign of the one before.
  const isCarried = isSameWish && former?.change.kind === 'version' && former.change.number === version
  const own = isCarried ? former : null
  const other = await findCampaignUnderWay(db, fleetConfigId, own?.id ?? null)
  const draft = wanted.draftCampaign(fleetConfigId, version)
  const reached = withinReach(draft, members.under)
  const verdict = decideFleet({
    isSameWish,
    campaign: own?.status ?? null,
    hasOtherRules: own !== null && hasOtherRules(own, draft),
    isOtherUnderWay: other !== null,
    hasUnreached: own?.status === 'done' && (await hasUnreached(parts, managed, draft, reached)),
    undone: own?.status === 'done' ? await findUndone(parts, managed, reached) : null,
    again: wanted.again,
  })
  const isOther = verdict.action === 'waits' && verdict.reason === 'other_under_way'
  const about = isOther ? (other ?? own) : own
  return { verdict, campaign: verdict.action === 'propose' ? null : about, former }
}

/**
 * Whether workloads are under a fleet config to which nobody has brought Git's version, or decided not to: they came
 * under it after the plan of the campaign that did. Where the version applies by itself, that is what reaches them; and
 * whom a campaign would not change (one that runs it already, or that is held or taken over by nobody) needs none.
 */
async function hasUnreached(
  parts: FleetDesiredParts,
  { fleetConfigId, version }: ManagedFleetConfig,
  draft: CampaignDraft,
  reached: readonly Workload[],
): Promise<boolean> {
  const { db } = parts
  const byItself = await listOpenAutoApplies(db, fleetConfigId)
  if (byItself.some(({ number, status }) => number === version && status === 'active')) return false
  if (reached.length === 0) return false
  const ids = reached.map(({ id }) => id)
  const rows = await listUnreached(db, { fleetConfigId, number: version }, ids)
  const unreached = new Map(rows.map(({ id, wasUnread }) => [id, wasUnread]))
  const judge = new CampaignJudge(parts, draft)
  for (const workload of reached) {
    const wasUnread = unreached.get(workload.id)
    if (wasUnread === undefined) continue
    // Of one that only comes under it by what Git holds now nothing can be judged yet.
    if (parts.fleetConfigs.membershipOf(workload).configId !== fleetConfigId) return true
    // What cannot be said now a campaign says; where one has said before that it could not be read, it says so still.
    if ((await wouldChange(judge, workload)) ?? !wasUnread) return true
  }
  return false
}

/** Whether a campaign is carried by other rules than this draft of it. */
const hasOtherRules = (campaign: StoredCampaign, { change, rules }: CampaignDraft): boolean =>
  !isStoredAlike(campaign.change, change) || !isStoredAlike(campaign.rules, rules)

/** Those of these workloads that a campaign may reach. */
const withinReach = ({ scope: { cut_to: within } }: CampaignDraft, under: readonly Workload[]): Workload[] =>
  under.filter((workload) => within === undefined || isInOneOf(within, workload))

/**
 * What became of Git's version at a workload that it was brought to and that does not run it: it failed there, or something
 * else was pushed since. Null where there is no such workload.
 */
async function findUndone(
  { db }: FleetDesiredParts,
  { fleetConfigId }: ManagedFleetConfig,
  reached: readonly Workload[],
): Promise<Undone | null> {
  const wishes = await listFleetWishes(db, { fleetConfigId })
  const wishOf = new Map(wishes.map(({ workloadId, ...wish }) => [workloadId, wish]))
  for (const workload of reached) {
    const wish = wishOf.get(workload.id)
    if (wish === undefined || wish.hash === null) continue
    if (workload.activeHash !== wish.hash && hasFailedSomewhere(workload, wish.hash)) return 'failed'
    const overruled = overruledAt(wish, workload)
    if (overruled !== null) return overruled
  }
  return null
}

/** Whether a campaign would change a workload, now or when it is back; null where that cannot be said now. */
async function wouldChange(judge: CampaignJudge, workload: Workload): Promise<boolean | null> {
  try {
    const { verdict } = await judge.judge(workload)
    return verdict === 'changes' || verdict === 'offline'
  } catch (error) {
    if (error instanceof JudgeBusy) return null
    throw error
  }
}

const hashWish = ({ body, variables, valueTable }: VersionDraft): string =>
  configHash(JSON.stringify([body, variables, valueTable]))

const DEFINITION_PARTS = ['description', 'selector', 'priority'] as const
/** A part of what a fleet config is about, beside its versions. */
export type DefinitionPart = (typeof DEFINITION_PARTS)[number]

const isSame = (part: DefinitionPart, known: StoredFleetConfig, wanted: Definition): boolean =>
  isStoredAlike(known[part], wanted[part])

/** Whether the stored description, selector and priority of a fleet config are those that Git holds. */
const isDefined = (known: StoredFleetConfig, wanted: Definition): boolean =>
  DEFINITION_PARTS.every((part) => isSame(part, known, wanted))

/** Store what Git holds: the fleet config, a version where text, variables or values are new, and the commit. */
async function keepWish(
  parts: FleetDesiredParts,
  wanted: DesiredFleetConfig,
  draft: VersionDraft & { hash: string; meaning: string },
  { known, managed, wishHash }: { known: StoredFleetConfig | null; managed: Managed; wishHash: string },
): Promise<
  | { ok: true; fleetConfigId: string; version: number }
  | Refusal<
      | 'auto-apply-in-force'
      | 'fleet-config-not-found'
      | 'fleet-config-taken'
      | 'managed-elsewhere'
      | 'out-of-scope'
      | 'owner-taken'
      | 'versions-too-large'
    >
  | Overtaken
  | AuditFailure
> {
  const { owner, actor, definition, commitSha, commitAuthor, mayStillChange } = wanted
  const authors = toAuthorNames(wanted)
  const by = { byId: actor.userId, place: placeOfFleetConfig(definition.name) }
  if (known !== null && managed?.wishHash === wishHash && isDefined(known, definition)) {
    const { version } = managed
    const content = await findContent(parts.db, known.id, version)
    const names = authors.map(({ name }) => name)
    if (
      content !== null &&
      (await areCommitAuthorsNoted(parts.db, { ...by, configHash: content.hash }, names))
    )
      return { ok: true, fleetConfigId: known.id, version }
  }
  const id = known?.id ?? uuidv7(parts.clock.now(), parts.random)
  return parts.db.change('fleet-config.manage', actor, async (tx) => {
    const stands = known === null ? null : await lockFleetConfig(tx, known.id)
    // Somebody else may have made it or widened its selector since the guards: what is not one's own is not taken back.
    for (const reach of stands === null ? [definition] : [stands, definition])
      if (!(await mayStillChange(tx, reach))) return refuse('out-of-scope')
    await lockOwner(tx, owner)
    if (await isSpokenForByAnother(tx, owner, actor.userId)) return refuse('owner-taken', { owner })
    if (stands !== null && (await isBoundByAutoApply(tx, stands, definition)))
      return refuse('auto-apply-in-force')
    const now = parts.clock.now()
    const isStored = await define(tx, { id, known, definition, by: actor.email, now })
    if (!isStored) return refuseRival(tx, definition.name, owner)
    // Another run may have stored the same just now: then this is its version.
    const before = await findManagedFleetConfig(tx, id)
    const isSameWish = before?.wishHash === wishHash
    const written = { author: actor.email, authorId: actor.userId, createdAt: now }
    const stored = isSameWish
      ? ({ ok: true, number: before.version } as const)
      : await storeVersion(tx, { fleetConfigId: id, ...draft, ...written })
    if (!stored.ok) return stored
    const version = stored.number
    const wish = { fleetConfigId: id, owner, wishHash, version: version ?? 0, commitSha, commitAuthor }
    const applied = { appliedAt: now, appliedBy: actor.email, appliedById: actor.userId }
    // Of two owners that write at the same time the second is refused, and so is one whose fleet config was just
    // removed.
    if (version === null || !(await keepManagedFleetConfig(tx, { ...wish, ...applied })))
      return refuseRival(tx, definition.name, owner)
    const { hash: configHash } = (await findContent(tx, id, version))!
    const asked = { ...by, configHash, owner, activeHash: await findCarriedHash(tx, id, by) }
    await noteAuthors(parts, tx, asked, { authors, isAnew: !isSameWish })
    await tx.record({
      action: 'fleet_config.manage',
      resource: 'fleet_config',
      resourceId: id,
      configHash: draft.hash,
      detail: JSON.stringify({ owner, number: version, commit_sha: commitSha, ...recordNamed(wanted) }),
    })
    return { ok: true, fleetConfigId: id, version }
  })
}

/** Why a fleet config is not stored that somebody else has made, removed or put into Git meanwhile. */
async function refuseRival(
  tx: Db,
  name: string,
  owner: string,
): Promise<Refusal<'fleet-config-not-found' | 'fleet-config-taken' | 'managed-elsewhere'> | Overtaken> {
  const rival = await findOwnerByName(tx, name)
  if (rival === null) return refuse('fleet-config-not-found')
  if (rival.owner === null) return refuse('fleet-config-taken')
  return rival.owner === owner ? OVERTAKEN : refuse('managed-elsewhere', { owner: rival.owner })
}

interface NewDefinition {
  id: string
  known: StoredFleetConfig | null
  definition: Definition
  by: string
  now: Date
}

/** Insert the fleet config, or update it to what Git holds; false when somebody made or removed it meanwhile. */
function define(tx: Db, { id, known, definition, by, now }: NewDefinition): Promise<boolean> {
  if (known !== null) return updateFleetConfig(tx, { id, ...definition, updatedAt: now })
  const times = { createdAt: now, updatedAt: now }
  return insertFleetConfig(tx, { id, ...definition, newestVersion: 0, createdBy: by, ...times })
}

/**
 * Have a campaign carry the version. The former campaign is changed while it is a draft or planned; else a new one is
 * made, and in the same transaction the former one withdrawn where it waits for approval or start: where the proposal is
 * refused, it goes on waiting.
 */
async function proposeCampaign(
  parts: FleetDesiredParts,
  wanted: DesiredFleetConfig,
  former: StoredCampaign | null,
  { fleetConfigId, version }: ManagedFleetConfig,
): Promise<
  | { ok: true; campaign: StoredCampaign; changed: StoredCampaign[] }
  | Exclude<CampaignOutcome, { ok: true }>
  | Refusal<'out-of-scope' | 'owner-taken'>
  | Overtaken
> {
  const { actor, owner } = wanted
  const draft = wanted.draftCampaign(fleetConfigId, version)
  const isUnasked = former !== null && campaignIs(former.status, 'unasked')
  const formerId = former?.id ?? null
  let withdrawn: StoredCampaign | null = null
  let mayNot: Refusal<'out-of-scope' | 'owner-taken'> | null = null
  // Since the version was stored the account may have lost its right, or the owner may have been handed over.
  const refuseIt = async (tx: Db): Promise<{ ok: false; code: 'campaign-plan-changed' } | null> => {
    await lockOwner(tx, owner)
    const stands = parts.fleetConfigs.configs.find(({ id }) => id === fleetConfigId)
    if (await isSpokenForByAnother(tx, owner, actor.userId)) mayNot = refuse('owner-taken', { owner })
    else if (stands && !(await wanted.mayStillChange(tx, stands))) mayNot = refuse('out-of-scope')
    return mayNot && { ok: false, code: 'campaign-plan-changed' }
  }
  const made = isUnasked
    ? await changeCampaign(parts, former.id, draft, actor, former.edition, refuseIt)
    : await createCampaign(parts, draft, actor, async (tx, { id: campaignId }) => {
        if (isOpen(former)) {
          const closed = await withdrawWithin(parts, tx, { id: former.id, actor, comment: ANOTHER_WISH })
          // Somebody started or closed it just now, so there is nothing to withdraw any more.
          if (closed.ok) withdrawn = closed.campaign
          else if (closed.code === 'audit-unavailable')
            throw new Error('A withdrawal records nothing by itself')
          else if (closed.code !== 'campaign-not-ready') return closed
        }
        const refused = await refuseIt(tx)
        if (refused !== null) return refused
        const noted = { fleetConfigId, version, formerId, campaignId }
        return (await noteManagedCampaign(tx, noted)) ? null : { ok: false, code: 'campaign-plan-changed' }
      })
  if (made.ok)
    return { ok: true, campaign: made.campaign, changed: [...(withdrawn ? [withdrawn] : []), made.campaign] }
  if (mayNot !== null) return mayNot
  // Another run has made or changed it, or somebody has asked for it, decided on it or removed it meanwhile.
  const isOvertaken =
    made.code === 'campaign-plan-changed' ||
    made.code === 'fleet-config-managed' ||
    made.code === 'campaign-not-ready' ||
    made.code === 'campaign-not-found'
  return isOvertaken ? OVERTAKEN : made
}

const ANOTHER_WISH = 'Git asks for something else now'

/** Whether a campaign waits for approval or start. */
const isOpen = (campaign: StoredCampaign | null): campaign is StoredCampaign =>
  campaign?.status === 'requested' || campaign?.status === 'approved'

/** Withdraw a campaign that waits for approval or start, unless `refuseIt` objects; null where there is none to withdraw. */
async function withdrawOpen(
  parts: FleetDesiredParts,
  campaign: StoredCampaign | null,
  { actor, comment }: { actor: ApprovalActor; comment: string },
  refuseIt?: Parameters<typeof closeCampaign>[2],
): Promise<CampaignOutcome | null> {
  if (!isOpen(campaign)) return null
  const decision = { id: campaign.id, actor, comment, status: 'withdrawn' } as const
  const outcome = await closeCampaign(parts, decision, refuseIt)
  // Somebody started or closed it just now, so there is nothing to withdraw any more.
  return !outcome.ok && outcome.code === 'campaign-not-ready' ? null : outcome
}

/**
 * Let a fleet config be changed by hand again. What runs stays; a campaign for Git that was not started is withdrawn.
 * `mayOverrule`: the actor may do so without being the account that proposed what Git holds.
 */
export async function releaseDesiredFleet(
  parts: FleetDesiredParts,
  wanted: { fleetConfigId: string; owner: string; actor: ApprovalActor; mayOverrule: boolean },
): Promise<
  { ok: true; changed: readonly StoredCampaign[] } | ReleaseRefusal | Exclude<CampaignOutcome, { ok: true }>
> {
  const { fleetConfigId, owner, actor } = wanted
  const managed = await findManagedFleetConfig(parts.db, fleetConfigId)
  const refused = refuseRelease(managed, wanted)
  if (refused !== null) return refused
  // While either transaction waits for its turn the owner may be handed over, to another name or another account.
  const refuseUnderLock = async (tx: Db) => {
    await lockOwner(tx, owner)
    return refuseRelease(await findManagedFleetConfig(tx, fleetConfigId), wanted)
  }
  const campaignId = managed?.campaignId ?? null
  const campaign = campaignId === null ? null : await findCampaign(parts.db, campaignId)
  const closed = await withdrawOpen(parts, campaign, { actor, comment: tellRelease(wanted) }, async (tx) =>
    (await refuseUnderLock(tx)) === null ? null : { ok: false, code: 'campaign-plan-changed' },
  )
  if (closed !== null && !closed.ok)
    return refuseRelease(await findManagedFleetConfig(parts.db, fleetConfigId), wanted) ?? closed
  const released = await parts.db.change('fleet-config.unmanage', actor, async (tx) => {
    const overtaken = await refuseUnderLock(tx)
    if (overtaken !== null) return overtaken
    if (!(await deleteManagedFleetConfig(tx, fleetConfigId, owner))) return refuse('not-managed')
    await tx.record({
      action: 'fleet_config.unmanage',
      resource: 'fleet_config',
      resourceId: fleetConfigId,
      detail: JSON.stringify({ owner }),
    })
    return { ok: true }
  })
  if (!released.ok) return released
  await parts.fleetConfigs.load()
  return { ok: true, changed: closed === null ? [] : [closed.campaign] }
}
