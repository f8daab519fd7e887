import type { CampaignFigures, CampaignMiss, CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { describeState, describeTarget, nameMissed } from '../i18n/campaign-sentences.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { formatDuration, formatNumber } from '../i18n/format.ts'
import { shapeOfTarget, toneOfTarget } from '../logic/campaigns.ts'
import { Loaded } from '../parts/failure.tsx'
import { Pairs } from '../parts/page.tsx'
import { Mark } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { lineOf } from '../state/names.ts'
import { hrefWith } from '../state/router.ts'
import { type Resource, useReread, useResource } from '../state/use-resource.ts'

/** How long it took until so many of a hundred ran the change. */
function Reached({
  of: reached,
  isOver,
  isInPart,
}: {
  of: CampaignFigures['reached']
  isOver: boolean
  isInPart: boolean
}) {
  const words = say(campaignTexts)
  const open = isOver ? words.never : words.notYet
  return (
    <Pairs
      of={reached.map(({ percentage, after_seconds: seconds }) => [
        percentage === 100 && isInPart ? words.reachedPart : words.reached(percentage),
        seconds === undefined ? open : words.after(formatDuration(Math.round(seconds) * 1000)),
      ])}
    />
  )
}

/** Workloads that were missed for one cause, with a way to the list of all that stand so. */
function Missed({ of }: { of: CampaignMiss }) {
  const why = describeTarget(of)
  return (
    <li>
      <a class="link" href={hrefWith({ state: of.state })}>
        <Mark tone={toneOfTarget(of)} shape={shapeOfTarget(of)}>
          {`${formatNumber(of.count)} ${describeState(of)}`}
        </Mark>
      </a>
      {why !== '' && <div>{why}</div>}
      <div class="muted">{nameMissed(of, lineOf)}</div>
    </li>
  )
}

function Figures({
  of: { reached, missed },
  isOver,
  isInPart,
}: {
  of: CampaignFigures
  isOver: boolean
  isInPart: boolean
}) {
  const words = say(campaignTexts)
  if (reached.length === 0 && missed.length === 0) return null
  return (
    <section class="pane stack" aria-label={words.went}>
      <h2>{words.went}</h2>
      {reached.length > 0 && <Reached of={reached} isOver={isOver} isInPart={isInPart} />}
      {missed.length > 0 && (
        <>
          <h3>{words.missed}</h3>
          <ul class="versions">
            {missed.map((miss) => (
              <Missed key={`${miss.state} ${miss.reason} ${miss.cause}`} of={miss} />
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

/** The figures of a campaign, kept up to date; nothing of one that was not started. */
export function useCampaignFigures(of: CampaignRecord): Resource<CampaignFigures> {
  const figures = useResource(
    of.started_at === undefined ? null : `campaign-figures:${of.id}`,
    (abort) => api.campaignFigures(of.id, abort),
    (frame) => frame.type === 'campaign_update' && frame.campaign.id === of.id,
  )
  useReread(figures, of.updated_at)
  return figures
}

/** How fast a campaign that was started has reached its workloads, and why it has not reached others. */
export function CampaignWent({ of, figures }: { of: CampaignRecord; figures: Resource<CampaignFigures> }) {
  if (of.started_at === undefined) return null
  const isOver = of.status === 'done' || of.status === 'aborted'
  const isInPart = of.in_part?.['applied'] !== undefined
  return <Loaded of={figures}>{(all) => <Figures of={all} isOver={isOver} isInPart={isInPart} />}</Loaded>
}
