import { useSignal } from '@preact/signals'
import { campaignIs } from '../../../lib/model/campaign-states.ts'
import { waitsForApproval } from '../../../lib/model/campaign-steps.ts'
import type { CampaignPlan, CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { adoptTexts } from '../i18n/adopt.ts'
import { describeRule } from '../i18n/approval-rule.ts'
import { campaignFormTexts } from '../i18n/campaign-form.ts'
import { describeCampaign, needsAdoption } from '../i18n/campaign-sentences.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { formatNumber } from '../i18n/format.ts'
import { nameSayer } from '../i18n/sayer.ts'
import { inOrder, lookOf, saidSince } from '../logic/campaigns.ts'
import { reachOf } from '../logic/scopes.ts'
import { ApprovalHelp, UnknownAuthors } from '../parts/approval-help.tsx'
import { Action, ActionLink, unless } from '../parts/controls.tsx'
import { Loaded, Waiting } from '../parts/failure.tsx'
import { FormDialog } from '../parts/form.tsx'
import { FreezeNotice } from '../parts/freeze-notice.tsx'
import { KeptFromCampaign } from '../parts/kept-by.tsx'
import { LeftOutFor } from '../parts/left-out-for.tsx'
import { Head, Pairs } from '../parts/page.tsx'
import { SaidSince } from '../parts/said-since.tsx'
import { Ago } from '../parts/state.tsx'
import { Tally } from '../parts/tally.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { useVersionNames } from '../parts/version-name.tsx'
import { TakenBack } from '../parts/version-taken-back.tsx'
import { api } from '../state/endpoints.ts'
import { lineOf } from '../state/names.ts'
import { navigate } from '../state/router.ts'
import { addressWith } from '../state/selection.ts'
import { heldSomewhere, holds, me } from '../state/session.ts'
import { useNow } from '../state/use-now.ts'
import { usePolling } from '../state/use-polling.ts'
import { isSettled, useOnce, useResource } from '../state/use-resource.ts'
import { isNarrow } from '../state/viewport.ts'
import { CampaignDraft } from './campaign-draft.tsx'
import { CampaignWent, useCampaignFigures } from './campaign-figures.tsx'
import { PlanNumbers, Waves } from './campaign-plan.tsx'
import { CampaignRules } from './campaign-rules.tsx'
import { CampaignSteps } from './campaign-steps.tsx'
import { Targets, useTargets } from './campaign-targets.tsx'
import { CampaignMark } from './campaigns.tsx'
import { PlanGroups, usePlanGroups } from './plan-groups.tsx'

const POLL_MS = 1_000

/** Nothing more comes of it by itself: whoever wants it again asks anew. */
const OVER: ReadonlySet<CampaignRecord['status']> = new Set([
  'rejected',
  'withdrawn',
  'expired',
  'aborted',
  'rolled_back',
])
const isOver = ({ status }: CampaignRecord): boolean => OVER.has(status)
/** A freeze keeps such a campaign from its workloads, or will. */
const WAITS_IN_FREEZE: ReadonlySet<CampaignRecord['status']> = new Set([
  'requested',
  'approved',
  'running',
  'paused',
  'halted',
])
/** What it carried is not kept any more; asked of who may read it. */
const isForgotten = ({ change }: CampaignRecord): boolean =>
  (change.kind === 'text' && change.yaml === undefined) ||
  (change.kind === 'patch' && change.patch === undefined)

function People({ of }: { of: CampaignRecord }) {
  const words = say(campaignTexts)
  const rows: [string, string][] = []
  if (of.requested_by) rows.push([words.requestedBy, withComment(of.requested_by, of.request_comment)])
  for (const { by, comment } of of.approvals) rows.push([words.approvedBy, withComment(by, comment)])
  for (const { by: who, by_token, comment } of of.comments ?? [])
    rows.push([words.commentBy, withComment(nameSayer({ who, by_token }), comment)])
  if (of.started_by) rows.push([words.startedBy, of.started_by])
  if (of.closed_by) rows.push([words.closedBy, withComment(of.closed_by, of.close_comment)])
  if (rows.length === 0) return null
  return (
    <div class="pane">
      <h2>{words.who}</h2>
      <Pairs of={rows} />
    </div>
  )
}

/** Where the groups of a plan are read, and by what another plan is told from it. */
const groupsOf = ({ id, plan_hash: hash = '' }: CampaignRecord) => ({
  path: `/api/campaigns/${encodeURIComponent(id)}/groups`,
  planKey: hash,
})

/** All that a campaign's page is made of beside the campaign; it is shown in one go, as its parts stand below each other. */
function useParts(of: CampaignRecord) {
  const figures = useCampaignFigures(of)
  const targets = useTargets(of)
  const hasGroups = (of.plan?.target_count ?? 0) > 0 && holds('config:read_content')
  const groups = usePlanGroups(hasGroups ? groupsOf(of) : null)
  // Once it was shown it stays, and what is read again takes the place of what it was.
  const isThere = useOnce(
    isSettled(figures) && isSettled(targets) && !(groups.isLoading && groups.rows.length === 0),
  )
  return { figures, targets, groups, isThere }
}

type Parts = ReturnType<typeof useParts>

/** What each group of workloads would get, for those who may read it. */
function WhatChanges({
  of,
  plan,
  groups,
}: { of: CampaignRecord; plan: CampaignPlan } & Pick<Parts, 'groups'>) {
  if (!holds('config:read_content')) return <LeftOutFor permission="config:read_content" />
  return <PlanGroups {...groupsOf(of)} total={plan.target_count} groups={groups} />
}

type Figured = Parameters<typeof CampaignWent>[0] & { plan: CampaignPlan } & Pick<Parts, 'groups'>

/** What changes and by which rules; beside it how it went, the numbers of the plan, and who had a hand in it. */
function Planned({ of, plan, figures, groups }: Figured) {
  const numbers = <PlanNumbers of={of} plan={plan} />
  const rules = <CampaignRules of={of} />
  if (plan.target_count === 0)
    return (
      <div class="two even">
        {numbers}
        {rules}
      </div>
    )
  const changes = <WhatChanges of={of} plan={plan} groups={groups} />
  const went = <CampaignWent of={of} figures={figures} />
  const people = <People of={of} />
  // Once it is started, how it went stands in the second column as well.
  const isStarted = of.started_at !== undefined
  // Where all is below each other, whom it reaches comes before its rules.
  if (isNarrow.value)
    return (
      <div class="stack">
        {changes}
        {went}
        {numbers}
        {rules}
        {people}
      </div>
    )
  return (
    <div class="two">
      <div class="stack">
        {changes}
        {rules}
        {isStarted && people}
      </div>
      <div class="stack">
        {went}
        {numbers}
        {!isStarted && people}
      </div>
    </div>
  )
}

const Byline = ({ of }: { of: CampaignRecord }) => (
  <p class="muted byline">
    {say(campaignTexts).column.created} <Ago at={of.created_at} /> · {of.created_by}
  </p>
)

/** Whether it has come to any workload, or tried to. */
const hasBegun = ({ started_at: startedAt, counts }: CampaignRecord): boolean =>
  startedAt !== undefined && Object.keys(counts).some((state) => state !== 'waiting')

const withComment = (who: string, comment: string | undefined) =>
  comment ? say(campaignTexts).saidBy(who, comment) : who

/** By which rule it is approved, how far it is, and who could; once it is approved what was said since, and after that nothing. */
function Approving({ of }: { of: CampaignRecord }) {
  const { status, approval_rule: rule, tally, help, plan } = of
  if (plan?.target_count === 0) return null
  if (status === 'approved' && !waitsForApproval(of)) return <SaidSince said={saidSince(of)} />
  if (status !== 'planned' && !waitsForApproval(of)) return null
  return (
    <>
      {rule && <p class="muted">{describeRule(rule)}</p>}
      {tally && <Tally of={tally} help={help} />}
      <UnknownAuthors of={help} />
      {tally && <ApprovalHelp of={help} tally={tally} />}
    </>
  )
}

/** The name of a campaign, and what can be done with it now. */
function CampaignHead({ of, reload }: { of: CampaignRecord; reload: () => void }) {
  const words = say(campaignTexts)
  const canPlan = campaignIs(of.status, 'unasked')
  const plan = async () => {
    const result = await api.planCampaign(of.id)
    if (!result.ok) toastFailure(result)
    reload()
  }
  return (
    <Head title={of.name} beside={<CampaignMark of={of} />}>
      <CampaignSteps of={of} reload={reload} />
      {canPlan && (
        <Action
          kind={of.plan === undefined ? 'primary' : ''}
          reason={unless('config:request', reachOf(of))}
          onClick={() => void plan()}
        >
          {of.plan === undefined ? words.plan : words.replan}
        </Action>
      )}
      {canPlan && (
        <ActionLink
          href={`/campaigns/${of.id}/edit`}
          reason={unless('config:request', reachOf(of)) ?? unless('config:read_content')}
        >
          {say(campaignFormTexts).edit}
        </ActionLink>
      )}
      {canPlan && <RemoveDraft of={of} />}
      {isOver(of) && (
        <ActionLink
          href={`/campaigns/new?from=${of.id}`}
          reason={
            unless('config:request', reachOf(of)) ??
            unless('config:read_content', reachOf(of)) ??
            (isForgotten(of) ? say(campaignFormTexts).forgotten : null)
          }
        >
          {say(campaignFormTexts).again}
        </ActionLink>
      )}
      <ActionLink href="/campaigns">← {words.title}</ActionLink>
    </Head>
  )
}

/** The way to be rid of a draft: for whoever made it, and for those who manage the settings. */
function RemoveDraft({ of }: { of: CampaignRecord }) {
  const words = say(campaignFormTexts)
  const isAsked = useSignal(false)
  const remove = async () => {
    const result = await api.removeCampaign(of.id)
    if (!result.ok) {
      isAsked.value = false
      return toastFailure(result)
    }
    toast(words.removed)
    navigate('/campaigns')
  }
  const isOwn = me.value?.id === of.created_by_id
  return (
    <>
      <Action
        kind="danger"
        reason={isOwn && heldSomewhere().includes('config:request') ? null : unless('settings:manage')}
        onClick={() => {
          isAsked.value = true
        }}
      >
        {words.remove}
      </Action>
      {isAsked.value && (
        <FormDialog
          title={words.remove}
          send={words.remove}
          onSend={remove}
          onClose={() => {
            isAsked.value = false
          }}
          kind="danger primary"
        >
          <p>{words.removeLead}</p>
        </FormDialog>
      )}
    </>
  )
}

/**
 * What came of taking back those that got the version by itself, and who is to run it still: a way to bring them
 * something else.
 */
function ByItself({ of: { by_itself: kept, by_itself_counts: counts = {} } }: { of: CampaignRecord }) {
  const words = say(campaignTexts)
  const states = inOrder(counts)
  if (kept === undefined && states.length === 0) return null
  return (
    <section class="pane stack" aria-label={words.byItself}>
      <h2>{words.byItself}</h2>
      {states.length > 0 && (
        <p>{states.map(([state, count]) => `${words.state[state]}: ${formatNumber(count)}`).join(' · ')}</p>
      )}
      {kept !== undefined && <Kept of={kept} />}
    </section>
  )
}

function Kept({ of: { count, workloads } }: { of: NonNullable<CampaignRecord['by_itself']> }) {
  const words = say(campaignTexts)
  const ids = workloads.map(({ workload_id }) => workload_id)
  return (
    <>
      <p class="warn">{words.keptLead(count)}</p>
      <ul class="versions">
        {workloads.map(({ workload_id, workload_name, workload_place, is_newcomer, has_base, state }) => (
          <li key={workload_id}>
            <a class="name" href={`/workloads/${workload_id}`}>
              {lineOf(workload_name, workload_place)}
            </a>
            <span class="muted">
              {is_newcomer ? words.keptNewcomer : words.keptOlder}
              {has_base ? state !== undefined && `, ${words.state[state]}` : `, ${words.keptNoBase}`}
            </span>
          </li>
        ))}
      </ul>
      <div class="actions">
        <ActionLink href={addressWith('/campaigns/new', ids)} reason={unless('config:request')}>
          {words.keptChange(ids.length)}
        </ActionLink>
      </div>
    </>
  )
}

const mayChangeByItself = ({ planning, status, failed_since: failed }: CampaignRecord): boolean =>
  planning !== undefined ||
  status === 'running' ||
  status === 'rolling_back' ||
  (failed?.['going_back'] ?? 0) > 0

function Campaign({ of, reload }: { of: CampaignRecord; reload: () => void }) {
  const isBusy = mayChangeByItself(of)
  usePolling(isBusy, reload, POLL_MS)
  const now = useNow(of.wave_ends_at !== undefined)
  const [tone] = lookOf(of)
  const isStarted = of.started_at !== undefined
  const isBegun = hasBegun(of)
  const versionOf = useVersionNames([of])
  const { figures, targets, groups, isThere } = useParts(of)
  const [what, ...next] = describeCampaign(of, now, figures.data?.missed, lineOf)
  if (!isThere || versionOf === null)
    return (
      <>
        <CampaignHead of={of} reload={reload} />
        <Waiting />
      </>
    )
  const version = versionOf(of.change)
  return (
    <>
      <CampaignHead of={of} reload={reload} />
      {of.version_rolled_back && of.change.kind === 'version' && (
        <TakenBack number={of.change.number} by={of.version_rolled_back_by} />
      )}
      {version !== null && of.change.kind === 'version' && (
        <p>
          <a class="link" href={`/fleet-configs/${of.change.fleet_config_id}?version=${of.change.number}`}>
            {version}
          </a>
        </p>
      )}
      {of.description !== '' && <p class="muted">{of.description}</p>}
      {/* Where the sentence below says the same of the campaign itself, it is not said twice. */}
      {WAITS_IN_FREEZE.has(of.status) && of.held_up?.reason !== 'frozen' && <FreezeNotice />}
      <div class={`say t-${tone}`} role={of.status === 'halted' ? 'alert' : 'status'}>
        <p>
          <b>{what}</b> {next.join(' ')}
        </p>
        <Approving of={of} />
        {of.status === 'planned' && of.plan !== undefined && needsAdoption(of.plan) && (
          <ActionLink href="/adopt">{say(adoptTexts).open}</ActionLink>
        )}
      </div>
      {campaignIs(of.status, 'goes-back') && <ByItself of={of} />}
      {!isStarted && <KeptFromCampaign of={of} />}
      {of.plan === undefined ? (
        <CampaignDraft of={of} />
      ) : (
        <div class="stack">
          <Waves of={of} plan={of.plan} now={now} />
          {/* Once it goes, what became of the workloads is what matters; before, what would change. */}
          {isBegun && <Targets of={of} targets={targets} />}
          <Planned of={of} plan={of.plan} figures={figures} groups={groups} />
          <Byline of={of} />
          {!isBegun && <Targets of={of} targets={targets} />}
        </div>
      )}
    </>
  )
}

/** One campaign: read like a pull request over a fleet, then watched as it goes. */
export function CampaignPage({ params }: { params: Record<string, string> }) {
  const id = params['id'] ?? ''
  const isShown = holds('config:request')
  const campaign = useResource(
    isShown ? `campaign:${id}` : null,
    (abort) => api.campaign(id, abort),
    (frame) => frame.type === 'campaign_update' && frame.campaign.id === id,
  )
  if (!isShown)
    return (
      <>
        <Head title={say(campaignTexts).title} />
        <LeftOutFor permission="config:request" />
      </>
    )
  return (
    <Loaded of={campaign} title={say(campaignTexts).title}>
      {(of) => <Campaign of={of} reload={campaign.reload} />}
    </Loaded>
  )
}
