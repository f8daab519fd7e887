import { useEffect } from 'preact/hooks'
import type { CampaignRecord, CampaignTarget } from '../../../lib/wire/campaigns.ts'
import { campaignFormTexts } from '../i18n/campaign-form.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { formatDuration, formatNumber, tick } from '../i18n/format.ts'
import { CAMPAIGN_LOOK, toneOfTarget } from '../logic/campaigns.ts'
import { Capped } from '../parts/capped.tsx'
import { Action, ActionLink, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Head, Pairs, Sheet } from '../parts/page.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { Tally } from '../parts/tally.tsx'
import { toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { hrefWith, query } from '../state/router.ts'
import { useResource } from '../state/use-resource.ts'
import { PlanGroups, PlanNumbers, Waves } from './campaign-plan.tsx'
import { CampaignRules } from './campaign-rules.tsx'
import { CampaignSteps } from './campaign-steps.tsx'
import { CampaignMark } from './campaigns.tsx'

const POLL_MS = 1_000

/** What a campaign does now, in one sentence, and what comes next. */
function toSentences(of: CampaignRecord): string[] {
  const words = say(campaignTexts)
  const away = of.counts['offline'] ?? 0
  const more = away > 0 && ['running', 'done', 'paused'].includes(of.status) ? [words.away(away)] : []
  if (of.planning !== undefined) return [words.planning(of.planning.done, of.planning.total)]
  if (of.status === 'halted' && of.halt !== undefined) {
    const { gate, value, limit, wave, title } = of.halt
    const cause = title ? [words.haltCause(title)] : []
    return [words.halt[gate](value, limit, wave + 1), ...cause, words.haltNext]
  }
  if (of.status !== 'running')
    return [words.sentence[of.status as keyof typeof words.sentence] ?? '', ...more]
  if (of.wave_ends_at !== undefined) {
    const left = Math.max(0, Date.parse(of.wave_ends_at) - tick.value)
    return [words.watching(of.wave + 1, formatDuration(left)), ...more]
  }
  const total = of.plan?.target_count ?? 0
  return [words.running(of.wave + 1, of.plan?.waves.length ?? 1, of.counts['applied'] ?? 0, total), ...more]
}

function People({ of }: { of: CampaignRecord }) {
  const words = say(campaignTexts)
  const rows: [string, string][] = []
  if (of.requested_by) rows.push([words.requestedBy, withComment(of.requested_by, of.request_comment)])
  for (const { by, comment } of of.approvals) rows.push([words.approvedBy, withComment(by, comment)])
  if (of.started_by) rows.push([words.startedBy, of.started_by])
  if (of.closed_by) rows.push([words.closedBy, withComment(of.closed_by, of.close_comment)])
  if (rows.length === 0) return null
  return (
    <div class="pane">
      <h2>{words.who}</h2>
      {of.tally && <Tally of={of.tally} />}
      <Pairs of={rows} />
    </div>
  )
}

const withComment = (who: string, comment: string | undefined) => (comment ? `${who}: ${comment}` : who)

/** Why a campaign stands so with a workload. */
function whyOf({ title, reason, cause }: CampaignTarget): string {
  const words = say(campaignTexts)
  return title || (reason ? words.reason[reason] : '') || (cause ?? '').replaceAll('_', ' ')
}

function sinceOf({ started_at: startedAt, ended_at: endedAt }: CampaignTarget) {
  const since = endedAt ?? startedAt
  return since === undefined ? '' : <Ago at={since} />
}

/** How many workloads are read at once; with more, those that stand best are left to the links by state. */
const READ_MAX = 1_000

/** The workloads of a campaign, those that need somebody first. */
function Targets({ of }: { of: CampaignRecord }) {
  const words = say(campaignTexts)
  const state = query.value.get('state') ?? undefined
  const targets = useResource(
    of.plan === undefined ? null : `campaign-targets:${of.id}:${of.plan_hash}:${state}:${of.updated_at}`,
    (abort) =>
      api.campaignTargets(of.id, { order: 'worst', ...(state === undefined ? {} : { state }) }, abort),
    (frame) => frame.type === 'campaign_update' && frame.campaign.id === of.id,
  )
  if (of.plan === undefined) return null
  return (
    <section class="stack" aria-label={words.targets}>
      <h2>{words.targets}</h2>
      <p class="actions">
        <a class="link" href={hrefWith({ state: null })}>
          {words.everyone}
        </a>
        {Object.entries(of.counts).map(([name, count]) => (
          <a class="link" key={name} href={hrefWith({ state: name })}>
            {`${words.state[name as keyof typeof words.state]} ${formatNumber(count)}`}
          </a>
        ))}
      </p>
      <Loaded of={targets}>
        {(all) => (
          <>
            <Sheet
              isStacked
              label={words.targets}
              head={
                <>
                  <th scope="col">{words.column.workload}</th>
                  <th scope="col">{words.column.wave}</th>
                  <th scope="col">{words.column.verdict}</th>
                  <th scope="col">{words.column.state}</th>
                  <th scope="col">{words.column.why}</th>
                  <th scope="col">{words.column.since}</th>
                </>
              }
            >
              <Capped rows={all}>
                {(target) => (
                  <tr key={target.workload_id}>
                    <td class="text">
                      <a class="name" href={`/workloads/${target.workload_id}`}>
                        {target.workload_name}
                      </a>
                    </td>
                    <td>{target.wave === null ? '–' : formatNumber(target.wave + 1)}</td>
                    <td>{words.verdict[target.verdict]}</td>
                    <td>
                      <Mark tone={toneOfTarget(target.state)} shape="dot">
                        {words.state[target.state]}
                      </Mark>
                    </td>
                    <td class="text">{whyOf(target)}</td>
                    <td class="muted">{sinceOf(target)}</td>
                  </tr>
                )}
              </Capped>
            </Sheet>
            {all.length >= READ_MAX && <p class="muted">{words.readMax(READ_MAX)}</p>}
          </>
        )}
      </Loaded>
    </section>
  )
}

function Campaign({ of, reload }: { of: CampaignRecord; reload: () => void }) {
  const words = say(campaignTexts)
  const isBusy = of.planning !== undefined || of.status === 'running' || of.status === 'rolling_back'
  useEffect(() => {
    if (!isBusy) return
    const timer = setInterval(reload, POLL_MS)
    return () => clearInterval(timer)
  }, [isBusy, reload])
  const canPlan = of.status === 'draft' || of.status === 'planned'
  const plan = async () => {
    const result = await api.planCampaign(of.id)
    if (!result.ok) toastFailure(result)
    reload()
  }
  const [tone] = CAMPAIGN_LOOK[of.status]
  const [what, ...next] = toSentences(of)
  return (
    <>
      <Head title={of.name} beside={<CampaignMark of={of} />}>
        <CampaignSteps of={of} reload={reload} />
        {canPlan && (
          <Action
            kind={of.plan === undefined ? 'primary' : ''}
            reason={unless('workload:push_config')}
            onClick={() => void plan()}
          >
            {of.plan === undefined ? words.plan : words.replan}
          </Action>
        )}
        {canPlan && (
          <ActionLink
            href={`/campaigns/${of.id}/edit`}
            reason={unless('workload:push_config') ?? unless('config:read_content')}
          >
            {say(campaignFormTexts).edit}
          </ActionLink>
        )}
        <ActionLink href="/campaigns">← {words.title}</ActionLink>
      </Head>
      {of.description !== '' && <p class="muted">{of.description}</p>}
      <div class={`say t-${tone}`} role={of.status === 'halted' ? 'alert' : 'status'}>
        <p>
          <b>{what}</b> {next.join(' ')}
        </p>
      </div>
      {of.plan === undefined ? (
        <p class="empty">{words.noPlan}</p>
      ) : (
        <div class="stack">
          <Waves of={of} plan={of.plan} />
          <div class="two">
            <div class="stack">
              <PlanGroups of={of} plan={of.plan} />
              <Targets of={of} />
            </div>
            <div>
              <PlanNumbers plan={of.plan} />
              <CampaignRules of={of} />
              <People of={of} />
              <p class="muted">
                <Ago at={of.created_at} /> · {of.created_by}
              </p>
            </div>
          </div>
        </div>
      )}
    </>
  )
}

/** One campaign: read like a pull request over a fleet, then watched as it goes. */
export function CampaignPage({ params }: { params: Record<string, string> }) {
  const id = params['id'] ?? ''
  const campaign = useResource(
    `campaign:${id}`,
    (abort) => api.campaign(id, abort),
    (frame) => frame.type === 'campaign_update' && frame.campaign.id === id,
  )
  return <Loaded of={campaign}>{(of) => <Campaign of={of} reload={campaign.reload} />}</Loaded>
}
