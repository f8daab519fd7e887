import type { CampaignGroup, CampaignPlan, CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { changeTexts, translated } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { formatDuration, formatList, formatNumber } from '../i18n/format.ts'
import { toBar } from '../logic/campaigns.ts'
import { reachOf } from '../logic/scopes.ts'
import { namedAt } from '../logic/workloads.ts'
import { DiffText } from '../parts/diff-text.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Icon } from '../parts/icons.tsx'
import { OutsideScope } from '../parts/outside-scope.tsx'
import { Pairs } from '../parts/page.tsx'
import { Ago, Track } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { may } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'
import { RiskMark } from './diff-summary.tsx'

/** The workloads that the plan leaves out, counted by reason. */
function listLeftOut({ verdicts, refused }: CampaignPlan): string[] {
  const words = say(campaignTexts)
  const left = Object.entries(verdicts).flatMap(([verdict, count]) =>
    verdict === 'changes' || verdict === 'offline' || verdict === 'refused' || verdict === 'held'
      ? []
      : `${formatNumber(count)} ${words.verdict[verdict as keyof typeof words.verdict]}`,
  )
  const why = Object.entries(refused).map(
    ([reason, count]) =>
      `${formatNumber(count)} ${words.verdict.refused} (${words.reason[reason as keyof typeof words.reason]})`,
  )
  return [...left, ...why]
}

/** The plan in numbers. */
export function PlanNumbers({ plan }: { plan: CampaignPlan }) {
  const words = say(campaignTexts)
  const { numbers } = words
  const leftOut = listLeftOut(plan)
  const away = plan.verdicts['offline'] ?? 0
  return (
    <div class="pane">
      <h2>{words.column.verdict}</h2>
      <Pairs
        of={[
          [numbers.targets, formatNumber(plan.target_count)],
          [numbers.instances, formatNumber(plan.instance_count)],
          [numbers.production, formatNumber(plan.production_count)],
          ...(away > 0 ? ([[numbers.away, formatNumber(away)]] as const) : []),
          ...(plan.outside_scope_count === undefined
            ? []
            : ([[numbers.outside, formatNumber(plan.outside_scope_count)]] as const)),
          ...(plan.no_way_back_count > 0
            ? ([[numbers.noWayBack, <b class="warn">{formatNumber(plan.no_way_back_count)}</b>]] as const)
            : []),
          ...((plan.components_unknown_count ?? 0) > 0
            ? ([
                [
                  numbers.componentsUnknown,
                  <b class="warn">{formatNumber(plan.components_unknown_count ?? 0)}</b>,
                ],
              ] as const)
            : []),
          ...(plan.environments.length > 0
            ? ([[numbers.environments, formatList(plan.environments)]] as const)
            : []),
          ...(plan.clusters.length > 0 ? ([[numbers.clusters, formatList(plan.clusters)]] as const) : []),
          [numbers.leftOut, leftOut.length === 0 ? '–' : leftOut.join(' · ')],
          [words.plannedAt, <Ago at={plan.planned_at} />],
        ]}
      />
    </div>
  )
}

/** The waves as bars. */
export function Waves({ of, plan }: { of: CampaignRecord; plan: CampaignPlan }) {
  const words = say(campaignTexts)
  const total = plan.target_count
  return (
    <ol class="stages" aria-label={words.waves}>
      {plan.waves.map(({ target_count, production_count, dwell_seconds }, index) => (
        <li key={index} style={{ flexGrow: Math.max(target_count, total * 0.2) }}>
          <Track parts={toBar(of.wave_counts[index] ?? {})} total={target_count} />
          <div class="stage-name">
            <b>{words.wave(index + 1)}</b>
          </div>
          <div class="muted">
            {words.waveSize(target_count, production_count)}
            {dwell_seconds > 0 && `, ${words.watchedFor(formatDuration(dwell_seconds * 1000))}`}
          </div>
        </li>
      ))}
    </ol>
  )
}

/** The workloads of a plan that the reader sees, and that are in none of the groups that are shown. */
const countUngrouped = (plan: CampaignPlan, shown: readonly CampaignGroup[], outside: number): number =>
  plan.target_count - outside - shown.reduce((sum, { count }) => sum + count, 0)

function MoreGroups({ count }: { count: number }) {
  return count > 0 ? <p class="muted">{say(campaignTexts).moreGroups(count)}</p> : null
}

/** How risky a change is, and what makes it so. */
function GroupRisk({ of: { risk, risks } }: { of: CampaignGroup }) {
  const words = say(changeTexts)
  return (
    <>
      <p>{risk === undefined ? <span class="muted">{words.riskUnknown}</span> : <RiskMark risk={risk} />}</p>
      {risks.length > 0 && (
        <ul class="list">
          {risks.map(({ rule, title, risk: level }) => (
            <li key={`${rule}${title}`} class={level === 'high' ? 'bad' : 'warn'}>
              <Icon shape="triangle" />
              <div>{translated(words.rule, rule, title)}</div>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** The values of each variable with how many workloads have them, the rarest first: a wrong one is rare. */
function GroupVariables({ of: { variables } }: { of: CampaignGroup }) {
  const all = Object.entries(variables)
  if (all.length === 0) return null
  return (
    <Pairs
      of={all.map(([name, values]) => [
        name,
        values.map(({ value, count }) => `${value} (${formatNumber(count)})`).join(', '),
      ])}
    />
  )
}

/** Places that are called like a renamed component, and stay: somebody has to look at them. */
function OtherMatches({ of: { other_matches: places = [] } }: { of: CampaignGroup }) {
  if (places.length === 0) return null
  return (
    <p class="warn">
      {say(campaignTexts).otherMatches} <code>{places.join(', ')}</code>
    </p>
  )
}

/** What changes: one diff for all workloads that change in the same way. */
export function PlanGroups({ of, plan }: { of: CampaignRecord; plan: CampaignPlan }) {
  const words = say(campaignTexts)
  const isShown = may('config:read_content', reachOf(of))
  const groups = useResource(isShown ? `campaign-groups:${of.id}:${of.plan_hash}` : null, (abort) =>
    api.campaignGroups(of.id, abort),
  )
  if (!isShown) return null
  return (
    <section class="stack" aria-label={words.groups}>
      <h2>{words.groups}</h2>
      <Loaded of={groups}>
        {(all) => (
          <>
            {all.map((group) => (
              <div class="pane" key={group.key}>
                <p>
                  {words.group(group.count, plan.target_count)}{' '}
                  <a class="link" href={`/workloads/${group.sample_workload_id}`}>
                    {namedAt(group.sample_workload_name, group.sample_workload_place)}
                  </a>
                </p>
                <GroupRisk of={group} />
                <GroupVariables of={group} />
                <OtherMatches of={group} />
                <DiffText of={group.diff} />
              </div>
            ))}
            <MoreGroups count={countUngrouped(plan, all, groups.outside)} />
            <OutsideScope count={groups.outside} />
          </>
        )}
      </Loaded>
    </section>
  )
}
