import { CAMPAIGN_ERRORS, readCampaign } from '../../lib/campaigns/read-campaign.ts'
import { applyDesiredFleet, type DesiredFleetOutcome } from '../../lib/desired/apply-fleet.ts'
import { VERSION_ERRORS } from '../../lib/fleet-configs/read-version.ts'
import { stillCovers } from '../../lib/identity/still-may.ts'
import { uuidv7 } from '../../lib/ids.ts'
import { DesiredFleetRequest, DesiredFleetResult } from '../../lib/wire/desired.ts'
import type { Context } from '../../runtime/context.ts'
import { type Actor, defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { refuseReach, unlessRefused } from '../../runtime/reach.ts'
import { json, problemOf, type Reply } from '../../runtime/reply.ts'
import { cutToScopes, replyToDecision } from '../campaigns/_campaign-of.ts'
import { refuseSelection } from '../fleet-configs/_fleet-config-path.ts'
import {
  FLEET_CONFIG_ERRORS,
  type FleetConfigFields,
  readFleetConfig,
} from '../fleet-configs/_fleet-config-request.ts'
import { readDraft } from '../fleet-configs/_version-request.ts'
import { tellUnknownAuthors } from './_unknown-authors.ts'

const CAMPAIGN_NAME_MAX = 128

/** The reply where a fleet config, as it is or as Git holds it, reaches beyond where the caller has both rights. */
function refuseDefinition(
  ctx: Context,
  actor: Actor,
  { name, selector, priority }: FleetConfigFields,
): Reply | null {
  const known = ctx.fleetConfigs.configs.find((config) => config.name === name) ?? null
  for (const permission of ['config:create', 'config:request'] as const) {
    const outside =
      (known === null ? null : refuseReach(actor, permission, known)) ??
      refuseSelection(ctx, actor, permission, { id: known?.id ?? null, selector, priority })
    if (outside !== null) return outside
  }
  return null
}

/**
 * Bring a fleet config in line with what Git holds: a version, and a campaign that waits to be planned and approved.
 */
export default defineHttp({
  route: 'POST /api/fleet-configs/desired',
  summary: 'Propose what Git holds for a fleet config, where it differs, as a version and a campaign.',
  access: signedIn('config:request', 'handler'),
  gate: 'config_safety.campaigns',
  params: noParams,
  query: noQuery,
  // The version is a text that somebody wrote, and the campaign requests it: both rights are needed.
  body: jsonBody(DesiredFleetRequest, {
    bytesMax: 4_194_304,
    valuesMax: 110_000,
    also: [{ when: null, permission: 'config:create', credential: 'any' }],
  }),
  replies: [{ status: 200, description: 'What is done about it.', json: DesiredFleetResult }],
  errors: [
    ...FLEET_CONFIG_ERRORS,
    ...VERSION_ERRORS,
    ...CAMPAIGN_ERRORS,
    'out-of-scope',
    'auto-apply-in-force',
    'fleet-config-not-found',
    'fleet-config-outranks',
    'fleet-config-taken',
    'owner-invalid',
    'owner-taken',
    'managed-elsewhere',
    'fleet-configs-too-many',
    'fleet-configs-too-wide',
    'campaign-not-found',
    'campaign-not-ready',
    'campaign-plan-changed',
    'text-not-storable',
    'text-too-long',
    'audit-unavailable',
  ],
  async handle({ body, actor }, ctx) {
    const definition = readFleetConfig(body)
    if (!definition.ok) return problemOf(definition)
    const asking = await unlessRefused(ctx, actor, (caller) =>
      refuseDefinition(ctx, caller, definition.fields),
    )
    if (!asking.ok) return asking.reply
    const { takeover, ...rules } = body.campaign ?? {}
    const ask = (fleetConfigId: string, number: number) =>
      readCampaign({
        name: `${definition.fields.name}: ${number} (git/${body.owner})`.slice(0, CAMPAIGN_NAME_MAX),
        description: '',
        change: { kind: 'version', fleet_config_id: fleetConfigId, number, takeover },
        scope: {},
        ...rules,
      })
    // Before anything is stored: the fleet config may have no id yet, and none of the rules hangs on it.
    const tried = ask(uuidv7(ctx.clock.now(), ctx.random), 1)
    if (!tried.ok) return problemOf(tried)
    const outcome = await applyDesiredFleet(
      { ...ctx.campaigns.parts, fleetConfigs: ctx.fleetConfigs },
      {
        actor: asking.actor,
        owner: body.owner,
        definition: definition.fields,
        version: readDraft({ ...body, comment: '' }),
        commitSha: body.commit_sha,
        commitAuthor: body.commit_author,
        commitAuthors: body.commit_authors,
        again: body.again,
        isDryRun: body.dry_run,
        mayStillChange: async (tx, reach) =>
          (await stillCovers(tx, actor, 'config:create', reach)) &&
          (await stillCovers(tx, actor, 'config:request', reach)),
        draftCampaign: (id, number) => {
          const read = ask(id, number)
          if (!read.ok) throw new Error(`Cannot draft a campaign of version ${number}: ${read.code}`)
          return cutToScopes(read.value, actor)
        },
      },
    )
    if (!outcome.ok) {
      if (outcome.code === 'audit-unavailable' || outcome.code === 'campaign-not-ready')
        return replyToDecision(ctx, actor, outcome)
      return problemOf(outcome)
    }
    for (const campaign of outcome.changed) ctx.campaigns.decided(campaign)
    return json({
      ...(await toResult(ctx, definition.fields.name, outcome)),
      ...(await tellUnknownAuthors(ctx, outcome.verdict.action, body)),
    })
  },
})

/** What is done, or would be, as the wire says it. */
async function toResult(
  { fleetConfigs }: Context,
  name: string,
  outcome: Extract<DesiredFleetOutcome, { ok: true }>,
): Promise<DesiredFleetResult> {
  const { verdict, fleetConfigId, version, campaign, definitionChanges, joining, leaving } = outcome
  const counts = fleetConfigId === null ? undefined : (await fleetConfigs.counts()).get(fleetConfigId)
  const isAnotherFleet = joining > 0 || leaving > 0 || definitionChanges.length > 0
  return {
    name,
    action: verdict.action,
    workload_count: counts?.under ?? 0,
    ...('reason' in verdict && verdict.reason !== null ? { reason: verdict.reason } : {}),
    ...('campaignRules' in verdict ? { campaign_rules: verdict.campaignRules } : {}),
    ...(isAnotherFleet ? { joining_count: joining, leaving_count: leaving } : {}),
    ...(definitionChanges.length === 0 ? {} : { definition_changes: [...definitionChanges] }),
    ...(fleetConfigId === null ? {} : { fleet_config_id: fleetConfigId }),
    ...(version === null ? {} : { version }),
    ...(campaign === null ? {} : { campaign_id: campaign.id, campaign_status: campaign.status }),
  }
}
