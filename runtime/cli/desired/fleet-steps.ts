import { tellCommit } from '../../../lib/desired/owner.ts'
import { campaignIs } from '../../../lib/model/campaign-states.ts'
import type { CampaignRecord, CampaignStatus } from '../../../lib/wire/campaigns.ts'
import type { DesiredFleetResult } from '../../../lib/wire/desired.ts'
import type { ConfigDiff } from '../../../lib/wire/diff.ts'
import type { FleetConfigRecord, FleetConfigVersion } from '../../../lib/wire/fleet-configs.ts'
import { beginPlan, PLAN_SECONDS_MAX, waitForCampaign } from '../campaigns/wait.ts'
import { CommandFailure } from '../exit-codes.ts'
import { toLine } from '../output.ts'
import { type Api, refusesThisOne, ServiceRefusal } from '../server/api.ts'
import type { FleetDocument } from './documents.ts'

/** What is done, or would be, about one fleet config. */
export interface FleetStep {
  kind: 'FleetConfig'
  fleet_config: string
  fleet_config_id?: string
  /** `leftover` is one that the owner keeps and that the folder does not hold. */
  action: DesiredFleetResult['action'] | 'refused' | 'leftover' | 'released'
  reason?: string
  version?: number
  workload_count?: number
  definition_changes?: DesiredFleetResult['definition_changes']
  joining_count?: number
  leaving_count?: number
  campaign_id?: string
  campaign_status?: CampaignStatus
  campaign_rules?: DesiredFleetResult['campaign_rules']
  unknown_authors?: readonly string[]
  /** What would change in meaning, a sentence each; only in a plan, and where the token may read versions. */
  changes?: readonly string[]
}

interface Common {
  owner: string
  commit_sha: string
  commit_author: string
  commit_authors: readonly string[]
  dry_run: boolean
}

/**
 * Propose a document's config as a version of its fleet config and request approval of the campaign that carries it;
 * with `dry_run` only say what would be done.
 */
export async function takeFleetStep(
  api: Api,
  { place, name, content, rest }: FleetDocument,
  common: Common,
): Promise<FleetStep> {
  const about = { kind: 'FleetConfig', fleet_config: name } as const
  try {
    const body = { ...rest, ...common, name, content }
    const { name: _, ...result } = await api.post<DesiredFleetResult>('/api/fleet-configs/desired', body)
    const step: FleetStep = { ...about, ...result }
    if (common.dry_run) return { ...step, ...(await readChanges(api, name, content, result.action)) }
    return await bringToApproval(api, step, common)
  } catch (error) {
    // A refused document does not keep the others from being requested; a service that does not answer ends the run.
    if (!refusesThisOne(error)) throw error
    return { ...about, action: 'refused', reason: `${place}: ${error.message}` }
  }
}

/** Plan the campaign if its approval was not requested yet, also when an earlier run made it, and request it. */
async function bringToApproval(api: Api, step: FleetStep, common: Common): Promise<FleetStep> {
  const { campaign_id: id, campaign_status: status } = step
  if (id === undefined || status === undefined || !campaignIs(status, 'unasked')) return step
  for (let tries = 1; ; tries++)
    try {
      return await planAndRequest(api, { ...step, campaign_id: id }, common)
    } catch (error) {
      if (!isOvertaken(error)) throw error
      // Another run plans or requests the same campaign at this moment: what it did is what there is to say.
      const now = await waitForCampaign(api, await readCampaign(api, id), isPlanning, PLAN_SECONDS_MAX)
      const isAsked = !campaignIs(now.status, 'unasked')
      if (isAsked) return { ...step, action: 'waits', campaign_status: now.status }
      if (tries === TRIES_MAX) throw error
    }
}

/** How often a campaign is planned anew that somebody else plans or changes at the same time. */
const TRIES_MAX = 5

const isOvertaken = (error: unknown): boolean =>
  error instanceof ServiceRefusal &&
  ['campaign_not_ready', 'campaign_plan_changed', 'campaign_being_planned'].includes(error.code ?? '')

const isPlanning = ({ planning }: CampaignRecord): boolean => planning !== undefined

const readCampaign = (api: Api, id: string) => api.get<CampaignRecord>(`/api/campaigns/${id}`)

async function planAndRequest(
  api: Api,
  step: FleetStep & { campaign_id: string },
  common: Common,
): Promise<FleetStep> {
  const { campaign_id: id } = step
  const campaign = await waitForCampaign(api, await beginPlan(api, id), isPlanning, PLAN_SECONDS_MAX)
  if (campaign.plan_hash === undefined)
    throw new CommandFailure(`the campaign ${id} of ${step.fleet_config} has no plan yet`)
  try {
    const requested = await api.post<CampaignRecord>(`/api/campaigns/${id}/request`, {
      plan_hash: campaign.plan_hash,
      comment: tellCommit({
        owner: common.owner,
        commitSha: common.commit_sha,
        commitAuthor: common.commit_author,
      }),
      // A pipeline has nobody to confirm that production is among the workloads; whoever approves the campaign looks
      // at that.
      prod_confirmation: true,
    })
    return { ...step, campaign_status: requested.status }
  } catch (error) {
    if (!(error instanceof ServiceRefusal) || error.code !== 'campaign_changes_nothing') throw error
    return { ...step, action: 'unchanged', reason: 'nothing_changes', campaign_status: campaign.status }
  }
}

/**
 * What the document's config changes in meaning against the newest version; empty where there is none, or where the
 * token may not read it.
 */
async function readChanges(
  api: Api,
  name: string,
  content: string,
  action: FleetStep['action'],
): Promise<{ changes?: string[] }> {
  if (action !== 'propose') return {}
  try {
    const all = await api.get<FleetConfigRecord[]>('/api/fleet-configs?ran_commits=true')
    const before = all.find((one) => one.name === name)
    if (before === undefined || before.newest_version === 0) return {}
    const path = `/api/fleet-configs/${before.id}/versions/${before.newest_version}`
    const version = await api.get<FleetConfigVersion>(path)
    const texts = { base_yaml: version.content ?? '', target_yaml: content }
    const { human_summary: lines } = await api.post<ConfigDiff>('/api/configs/diff', texts)
    return {
      changes: lines.flatMap(({ kind, risk, text }) => (kind === 'unchanged' ? [] : [`${text} (${risk})`])),
    }
  } catch (error) {
    if (refusesThisOne(error)) return {}
    throw error
  }
}

/**
 * A step for each fleet config that the owner keeps and the folder holds no more. With `isWanted` (`--prune`) they are
 * released, so that people can change them again.
 */
export async function pruneFleets(
  api: Api,
  {
    owner,
    kept,
    documents,
  }: { owner: string; kept: readonly FleetConfigRecord[]; documents: readonly FleetDocument[] },
  isWanted: boolean,
): Promise<FleetStep[]> {
  const left = kept.filter(({ name }) => !documents.some((document) => document.name === name))
  const steps: FleetStep[] = []
  for (const { id, name, managed } of left) {
    const path = `/api/fleet-configs/${id}/desired?owner=${encodeURIComponent(owner)}`
    steps.push({
      kind: 'FleetConfig',
      fleet_config: name,
      fleet_config_id: id,
      ...(managed === undefined ? {} : { version: managed.version }),
      ...(isWanted ? await release(api, path, name) : { action: 'leftover' as const }),
    })
  }
  return steps
}

/** Leave to people what the folder holds no more. A refusal ends nothing else: what was done before it is to be told. */
export async function release(
  api: Api,
  path: string,
  name: string,
): Promise<{ action: 'released' } | { action: 'refused'; reason: string }> {
  try {
    await api.delete(path)
    return { action: 'released' }
  } catch (error) {
    if (!refusesThisOne(error)) throw error
    return { action: 'refused', reason: `${toLine(name)}: ${error.message}` }
  }
}

/** The fleet configs that an owner keeps in Git. */
export async function listKeptFleets(api: Api, owner: string): Promise<FleetConfigRecord[]> {
  try {
    const all = await api.get<FleetConfigRecord[]>('/api/fleet-configs?ran_commits=true')
    return all.filter(({ managed }) => managed?.owner === owner)
  } catch (error) {
    // An edition without fleet configs keeps none.
    if (error instanceof ServiceRefusal && error.code === 'feature_disabled') return []
    throw error
  }
}
