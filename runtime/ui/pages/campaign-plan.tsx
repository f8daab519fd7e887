import { countLeftOut } from '../../../lib/model/left-out.ts'
import type { CampaignPlan, CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { describeFailingThere, describeLeftOut, describeUnwellNow } from '../i18n/campaign-sentences.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { formatDuration, formatLeft, formatList, formatNumber } from '../i18n/format.ts'
import { rolloutTexts } from '../i18n/rollout.ts'
import { listFailingThere, lookOfWave, toBar, waveStateOf } from '../logic/campaigns.ts'
import { Pairs } from '../parts/page.tsx'
import { Ago, Mark, Track } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { holds } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

/** How many it changes in production, and how many are approved as if they were. */
function sayProduction({ approval_rule: rule }: CampaignRecord, plan: CampaignPlan): string {
  const { production_count: production } = plan
  const like = rule?.because.find(({ like_production: isLike }) => isLike)?.count ?? 0
  return like > 0 ? say(campaignTexts).likeProduction(production, like) : formatNumber(production)
}

/** Before a campaign is begun: where it would send to what others cannot reach; '' for nowhere, or where nobody may know. */
function useFailingThere(of: CampaignRecord): string {
  const asks = of.started_at === undefined && of.change.kind !== 'version' && holds('config:read_content')
  const destinations = useResource(asks ? 'destinations' : null, (abort) => api.destinations(abort))
  return describeFailingThere(listFailingThere(of, destinations.data ?? []))
}

/** What to mind before it is begun, in sentences: beside a label they would stand in a column of a few words. */
const Minded = ({ label, text }: { label: string; text: string }) =>
  text === '' ? null : (
    <p class="minded">
      <Mark tone="warn" shape="triangle">
        {label}
      </Mark>
      <br />
      {text}
    </p>
  )

/** The plan in numbers. */
export function PlanNumbers({ of, plan }: { of: CampaignRecord; plan: CampaignPlan }) {
  const words = say(campaignTexts)
  const unwell = describeUnwellNow(of)
  const failing = useFailingThere(of)
  const { numbers } = words
  const leftOut = describeLeftOut(plan.left_out ?? countLeftOut(plan))
  const missing = plan.missing_components ?? []
  const away = plan.verdicts['offline'] ?? 0
  return (
    <div class="pane">
      <h2>{words.column.verdict}</h2>
      <Minded label={numbers.unwell} text={unwell} />
      <Minded label={numbers.failingThere} text={failing} />
      <Pairs
        of={[
          [numbers.targets, formatNumber(plan.target_count)],
          [numbers.instances, formatNumber(plan.instance_count)],
          [numbers.production, sayProduction(of, plan)],
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
          ...(missing.length > 0
            ? ([
                [
                  numbers.componentsMissing,
                  missing.map(({ component, count }) => `${component} (${formatNumber(count)})`).join(', '),
                ],
              ] as const)
            : []),
          [words.plannedAt, <Ago at={plan.planned_at} />],
        ]}
      />
    </div>
  )
}

/** How far it is with a wave, and for how long one that is done is still watched. */
function WaveMark({ of, wave, now }: { of: CampaignRecord; wave: number; now: number }) {
  const state = waveStateOf(of, wave)
  if (state === null) return null
  const [tone, shape] = lookOfWave(state, of.wave_counts[wave] ?? {})
  const leftMs = state === 'dwelling' ? Date.parse(of.wave_ends_at ?? '') - now : 0
  return (
    <Mark tone={tone} shape={shape}>
      {say(rolloutTexts).stageStatus[state]}
      {leftMs > 0 ? ` · ${formatLeft(leftMs)}` : ''}
    </Mark>
  )
}

/** The waves as bars, each with its state. */
export function Waves({ of, plan, now }: { of: CampaignRecord; plan: CampaignPlan; now: number }) {
  const words = say(campaignTexts)
  const total = plan.target_count
  return (
    <ol class="stages" aria-label={words.waves}>
      {plan.waves.map(
        ({ target_count, production_count, dwell_seconds }, index) =>
          // The last wave takes whoever is left, which may be nobody.
          target_count > 0 && (
            <li key={index} style={{ flexGrow: Math.max(target_count, total * 0.2) }}>
              <Track parts={toBar(of.wave_counts[index] ?? {})} total={target_count} />
              <div class="stage-name">
                <b>{words.wave(index + 1)}</b> <WaveMark of={of} wave={index} now={now} />
              </div>
              <div class="muted">
                {words.waveSize(target_count, production_count)}
                {dwell_seconds > 0 && `, ${words.watchedFor(formatDuration(dwell_seconds * 1000))}`}
              </div>
            </li>
          ),
      )}
    </ol>
  )
}
