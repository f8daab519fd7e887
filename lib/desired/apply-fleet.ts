import { isDeepStrictEqual } from 'node:util'
import type { AuditFailure } from '../audit/delivery.ts'
import {
  type CampaignOutcome,
  changeCampaign,
  closeCampaign,
  createCampaign,
} from '../campaigns/decisions.ts'
import type { CampaignParts } from '../campaigns/judge/parts.ts'
import type { CampaignDraft } from '../campaigns/read-campaign.ts'
import type { ApprovalActor } from '../changes/approval-parts.ts'
import { FLEET_CONFIGS_MAX, type FleetConfigs } from '../fleet-configs/fleet-configs.ts'
import { readVersion, type VersionDraft, type VersionRefusal } from '../fleet-configs/read-version.ts'
import { uuidv7 } from '../ids.ts'
import { configHash } from '../model/config-hash.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import type { ChangeReach } from '../selectors/within-scope.ts'
import { listOpenAutoApplies } from '../store/auto-apply.ts'
import { findCampaign, type StoredCampaign } from '../store/campaigns.ts'
import { areCommitAuthorsNoted, noteCommitAuthors } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import {
  type FleetConfigChange,
  insertFleetConfig,
  insertVersion,
  lockFleetConfig,
  type StoredFleetConfig,
  updateFleetConfig,
} from '../store/fleet-configs.ts'
import { isSpokenForByAnother, lockOwner } from '../store/git-owners.ts'
import {
  deleteManagedFleetConfig,
  findManagedFleetConfig,
  findOwnerByName,
  keepManagedFleetConfig,
  type ManagedFleetConfig,
  noteManagedCampaign,
} from '../store/managed-fleet-configs.ts'
import { decideFleet, type FleetVerdict } from './decide-fleet.ts'
import { isOwner, tellCommit, toAuthorNames } from './owner.ts'

/** What proposing fleet configs needs beside what campaigns need. */
export interface FleetDesiredParts extends Omit<CampaignParts, 'fleetConfigs'> {
  fleetConfigs: FleetConfigs
}

/** A fleet config that Git holds. */
export interface DesiredFleetConfig {
  actor: ApprovalActor
  owner: string
  definition: Omit<FleetConfigChange, 'id' | 'updatedAt'>
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
      /** The campaigns that this call stored, changed or withdrew. */
      changed: readonly StoredCampaign[]
    }
  | VersionRefusal
  | Refusal<
      | 'auto-apply-in-force'
      | 'fleet-config-not-found'
      | 'fleet-config-taken'
      | 'managed-elsewhere'
      | 'out-of-scope'
      | 'owner-invalid'
      | 'owner-taken'
      | 'fleet-configs-too-many'
    >
  | Exclude<CampaignOutcome, { ok: true }>

type Managed = ManagedFleetConfig | null

/** Compare a fleet config with what Git holds, and propose what differs as a version and a campaign. */
export async function applyDesiredFleet(
  parts: FleetDesiredParts,
  wanted: DesiredFleetConfig,
): Promise<DesiredFleetOutcome> {
  const { owner, definition } = wanted
  if (!isOwner(owner)) return refuse('owner-invalid')
  const draft = { ...wanted.version, comment: tellCommit(wanted) }
  const read = await readVersion(draft, parts.configs)
  if (!read.ok) return read
  const { configs } = parts.fleetConfigs
  const known = configs.find(({ name }) => name === definition.name) ?? null
  if (known === null && configs.length >= FLEET_CONFIGS_MAX)
    return refuse('fleet-configs-too-many', { max: FLEET_CONFIGS_MAX })
  const managed = known && (await findManagedFleetConfig(parts.db, known.id))
  if (managed !== null && managed.owner !== owner)
    return refuse('managed-elsewhere', { owner: managed.owner })
  // Everybody may ask what an owner would change; to ask for it in its name is for the account that speaks for it.
  if (!wanted.isDryRun && (await isSpokenForByAnother(parts.db, owner, wanted.actor.userId)))
    return refuse('owner-taken', { owner })
  const wishHash = hashWish(draft)
  const isSameWish = managed?.wishHash === wishHash
  const campaign = managed?.campaignId ? await findCampaign(parts.db, managed.campaignId) : null
  // A run that broke off may have stored the version and left the campaign of the one before.
  const isCarried = campaign?.change.kind === 'version' && campaign.change.number === managed?.version
  const facts = { isSameWish, campaign: isCarried ? campaign.status : null, again: wanted.again }
  const verdict = decideFleet(facts)
  const found = { fleetConfigId: known?.id ?? null, version: isSameWish ? managed.version : null }
  if (wanted.isDryRun) {
    // What would be proposed has no campaign yet; the former one carried something else.
    const own = verdict.action === 'propose' ? null : campaign
    return { ok: true, verdict, ...found, campaign: own, changed: [] }
  }
  const kept = await keepWish(parts, wanted, { ...draft, hash: read.hash }, { known, managed, wishHash })
  if (!kept.ok) return kept
  await parts.fleetConfigs.load()
  await parts.fleetConfigs.storeMemberships()
  const { fleetConfigId, version } = kept
  if (verdict.action !== 'propose')
    return { ok: true, verdict, fleetConfigId, version, campaign, changed: [] }
  const proposed = await proposeCampaign(parts, wanted, campaign, { fleetConfigId, version })
  return proposed.ok ? { ...proposed, verdict, fleetConfigId, version } : proposed
}

const hashWish = ({ body, variables, valueTable }: VersionDraft): string =>
  configHash(JSON.stringify([body, variables, valueTable]))

/** Whether the stored description, selector and priority of a fleet config are those that Git holds. */
const isDefined = (known: StoredFleetConfig, wanted: DesiredFleetConfig['definition']): boolean =>
  known.description === wanted.description && isForTheSame(known, wanted)

const isForTheSame = (
  known: Pick<StoredFleetConfig, 'selector' | 'priority'>,
  wanted: DesiredFleetConfig['definition'],
): boolean =>
  known.priority === wanted.priority &&
  isDeepStrictEqual(known.selector, JSON.parse(JSON.stringify(wanted.selector)))

/** Store what Git holds: the fleet config, a version where text, variables or values are new, and the commit. */
async function keepWish(
  parts: FleetDesiredParts,
  wanted: DesiredFleetConfig,
  draft: VersionDraft & { hash: string },
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
    >
  | AuditFailure
> {
  const { owner, actor, definition, commitSha, commitAuthor, mayStillChange } = wanted
  const isSameWish = managed?.wishHash === wishHash
  const authors = toAuthorNames(wanted)
  const isNoted = await areCommitAuthorsNoted(parts.db, draft.hash, authors)
  if (known !== null && isSameWish && isNoted && isDefined(known, definition))
    return { ok: true, fleetConfigId: known.id, version: managed.version }
  const now = parts.clock.now()
  const id = known?.id ?? uuidv7(now, parts.random)
  return parts.db.change('fleet-config.manage', actor, async (tx) => {
    const stands = known === null ? null : await lockFleetConfig(tx, known.id)
    // Somebody else may have made it or widened its selector since the guards: what is not one's own is not taken back.
    for (const reach of stands === null ? [definition] : [stands, definition])
      if (!(await mayStillChange(tx, reach))) return refuse('out-of-scope')
    await lockOwner(tx, owner)
    if (await isSpokenForByAnother(tx, owner, actor.userId)) return refuse('owner-taken', { owner })
    if (stands !== null && (await isBoundByAutoApply(tx, stands, definition)))
      return refuse('auto-apply-in-force')
    const isStored = await define(tx, { id, known, definition, by: actor.email, now })
    if (!isStored) return refuseRival(tx, definition.name, owner)
    const by = { author: actor.email, authorId: actor.userId, createdAt: now }
    const version = isSameWish
      ? managed.version
      : await insertVersion(tx, { fleetConfigId: id, ...draft, ...by })
    const wish = { fleetConfigId: id, owner, wishHash, version: version ?? 0, commitSha, commitAuthor }
    const applied = { appliedAt: now, appliedBy: actor.email, appliedById: actor.userId }
    // Of two owners that write at the same time the second is refused, and so is one whose fleet config was just
    // removed.
    if (version === null || !(await keepManagedFleetConfig(tx, { ...wish, ...applied })))
      return refuseRival(tx, definition.name, owner)
    await noteCommitAuthors(tx, draft.hash, authors, now)
    await tx.record({
      action: 'fleet_config.manage',
      resource: 'fleet_config',
      resourceId: id,
      configHash: draft.hash,
      detail: JSON.stringify({ owner, number: version, commit_sha: commitSha, commit_author: commitAuthor }),
    })
    return { ok: true, fleetConfigId: id, version }
  })
}

/**
 * Whether this would change selector or priority of a fleet config while a version of it applies by itself, or is
 * requested to: both are a part of what was approved.
 */
async function isBoundByAutoApply(
  tx: Db,
  stands: StoredFleetConfig,
  wanted: DesiredFleetConfig['definition'],
): Promise<boolean> {
  return !isForTheSame(stands, wanted) && (await listOpenAutoApplies(tx, stands.id)).length > 0
}

/** Why a fleet config is not stored that somebody else has made, removed or put into Git meanwhile. */
async function refuseRival(
  tx: Db,
  name: string,
  owner: string,
): Promise<Refusal<'fleet-config-not-found' | 'fleet-config-taken' | 'managed-elsewhere'>> {
  const rival = await findOwnerByName(tx, name)
  if (rival === null) return refuse('fleet-config-not-found')
  return rival.owner === null || rival.owner === owner
    ? refuse('fleet-config-taken')
    : refuse('managed-elsewhere', { owner: rival.owner })
}

interface Definition {
  id: string
  known: StoredFleetConfig | null
  definition: DesiredFleetConfig['definition']
  by: string
  now: Date
}

/** Insert the fleet config, or update it to what Git holds; false when somebody made or removed it meanwhile. */
function define(tx: Db, { id, known, definition, by, now }: Definition): Promise<boolean> {
  if (known !== null) return updateFleetConfig(tx, { id, ...definition, updatedAt: now })
  const times = { createdAt: now, updatedAt: now }
  return insertFleetConfig(tx, { id, ...definition, newestVersion: 0, createdBy: by, ...times })
}

/**
 * Have a campaign carry the version. The former campaign is changed while it is a draft or planned; else a new one is
 * made, and the former one withdrawn where it waits for approval or start.
 */
async function proposeCampaign(
  parts: FleetDesiredParts,
  wanted: DesiredFleetConfig,
  former: StoredCampaign | null,
  { fleetConfigId, version }: { fleetConfigId: string; version: number },
): Promise<
  { ok: true; campaign: StoredCampaign; changed: StoredCampaign[] } | Exclude<CampaignOutcome, { ok: true }>
> {
  const { actor } = wanted
  const draft = wanted.draftCampaign(fleetConfigId, version)
  const changed: StoredCampaign[] = []
  const closed = await withdrawOpen(parts, former, actor)
  if (closed !== null && !closed.ok) return closed
  if (closed !== null) changed.push(closed.campaign)
  const isUnasked = former?.status === 'draft' || former?.status === 'planned'
  const made = isUnasked
    ? await changeCampaign(parts, former.id, draft, actor)
    : await createCampaign(parts, draft, actor, (tx, { id }) => noteManagedCampaign(tx, fleetConfigId, id))
  return made.ok ? { ok: true, campaign: made.campaign, changed: [...changed, made.campaign] } : made
}

/** Withdraw a campaign that waits for approval or start; null where there is none to withdraw. */
async function withdrawOpen(
  parts: FleetDesiredParts,
  campaign: StoredCampaign | null,
  actor: ApprovalActor,
): Promise<CampaignOutcome | null> {
  if (campaign?.status !== 'requested' && campaign?.status !== 'approved') return null
  const comment = 'Git asks for something else now'
  const outcome = await closeCampaign(parts, { id: campaign.id, actor, comment, status: 'withdrawn' })
  // Somebody started or closed it just now, so there is nothing to withdraw any more.
  return !outcome.ok && outcome.code === 'campaign-not-ready' ? null : outcome
}

/**
 * Let a fleet config be changed by hand again. What runs stays; a campaign for Git that was not started is withdrawn.
 * `mayOverrule`: the actor may do so without being the account that proposed what Git holds.
 */
export async function releaseDesiredFleet(
  parts: FleetDesiredParts,
  {
    fleetConfigId,
    owner,
    actor,
    mayOverrule,
  }: { fleetConfigId: string; owner: string; actor: ApprovalActor; mayOverrule: boolean },
): Promise<
  | { ok: true; changed: readonly StoredCampaign[] }
  | Refusal<'managed-elsewhere' | 'not-managed' | 'not-its-pipeline'>
  | Exclude<CampaignOutcome, { ok: true }>
> {
  const managed = await findManagedFleetConfig(parts.db, fleetConfigId)
  if (managed === null) return refuse('not-managed')
  if (managed.owner !== owner) return refuse('managed-elsewhere', { owner: managed.owner })
  if (!mayOverrule && managed.appliedById !== actor.userId) return refuse('not-its-pipeline')
  const campaign = managed.campaignId === null ? null : await findCampaign(parts.db, managed.campaignId)
  const closed = await withdrawOpen(parts, campaign, actor)
  if (closed !== null && !closed.ok) return closed
  const released = await parts.db.change('fleet-config.unmanage', actor, async (tx) => {
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
