import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { CampaignStatus } from '../../../lib/wire/campaigns.ts'
import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import { autoApplyTexts } from '../i18n/auto-apply.ts'
import { describeHalt, describeReach } from '../i18n/campaign-sentences.ts'
import { nameStatus } from '../i18n/campaign-status.ts'
import { describeCause } from '../i18n/causes.ts'
import { changeTexts } from '../i18n/change.ts'
import { changeFeedTexts, describeChange, describePeople } from '../i18n/change-feed.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatClock, formatDay, formatExact } from '../i18n/format.ts'
import { describeWithReason } from '../i18n/trouble.ts'
import { AUTO_APPLY_LOOK, lookOf } from '../logic/campaigns.ts'
import { touchesListed } from '../logic/change-frames.ts'
import { isTakenBack, stateOf } from '../logic/pushes.ts'
import { REQUEST_LOOK } from '../logic/requests.ts'
import { tellingFirst } from '../logic/workloads.ts'
import { api } from '../state/endpoints.ts'
import { isShared } from '../state/names.ts'
import { usePages } from '../state/use-pages.ts'
import { hrefOf } from './change-href.ts'
import { Action } from './controls.tsx'
import { FailureNotice, Waiting } from './failure.tsx'
import { Mark, PushMark } from './state.tsx'

/** The workloads of a campaign by their state, as far as its entry counts them. */
const countsOf = (of: ChangeRecord): Record<string, number> => ({
  applied: of.applied_count ?? 0,
  failed: of.failed_count ?? 0,
  skipped: of.skipped_count ?? 0,
  rolled_back: of.taken_back_count ?? 0,
})

/** What a change says of how the campaign stands that it is. */
const campaignOf = (of: ChangeRecord, status: CampaignStatus) => ({
  status,
  counts: countsOf(of),
  ...(of.in_part_count === undefined ? {} : { in_part: { applied: of.in_part_count } }),
  by_itself_counts: { rolled_back: of.by_itself_taken_back_count ?? 0 },
  ...(of.held_up === undefined ? {} : { held_up: { reason: of.held_up } }),
})

/** What a change says of the push that it is. */
const pushOf = ({
  status = 'pending',
  phase = 'submitted',
  outcome,
  rollout_status,
  error_cause,
}: ChangeRecord) => ({
  status,
  phase,
  ...(outcome === 'in_part' ? { outcome } : {}),
  ...(rollout_status === undefined ? {} : { rollout_status }),
  ...(error_cause === undefined ? {} : { error_cause }),
})

/** How far a change got; null where it counts nobody. */
function reachedBy(of: ChangeRecord): string | null {
  const { applied_count: applied = 0, failed_count: failed = 0, target_count: all = 0 } = of
  // Who had it before it was taken back does not have it any more.
  if (all === 0 || isTakenBack(pushOf(of))) return null
  // A rollout in stages is to reach all, not those of its stages so far.
  return of.campaign_status === undefined
    ? say(changeFeedTexts).reached(applied, failed, Math.max(all, of.instance_count ?? 0))
    : describeReach(of.campaign_status, countsOf(of), all)
}

function ChangeMark({ of }: { of: ChangeRecord }) {
  if (of.request_status !== undefined) {
    const [tone, shape] = REQUEST_LOOK[of.request_status]
    return (
      <Mark tone={tone} shape={shape}>
        {say(changeTexts).state[of.request_status]}
      </Mark>
    )
  }
  if (of.campaign_status !== undefined) {
    const campaign = campaignOf(of, of.campaign_status)
    const [tone, shape] = lookOf(campaign)
    return (
      <Mark tone={tone} shape={shape}>
        {nameStatus(campaign)}
      </Mark>
    )
  }
  if (of.auto_apply_status !== undefined) {
    const [tone, shape] = AUTO_APPLY_LOOK[of.auto_apply_status]
    return (
      <Mark tone={tone} shape={shape}>
        {say(autoApplyTexts).status[of.auto_apply_status]}
      </Mark>
    )
  }
  return <PushMark state={stateOf(pushOf(of))} />
}

function Linked({ href, children }: { href: string | null; children: ComponentChildren }) {
  return href === null ? <span>{children}</span> : <a href={href}>{children}</a>
}

/** Why a campaign halted, and of what its workloads failed. */
function sayHalt({ cause, title, ...halt }: NonNullable<ChangeRecord['halt']>): string {
  const why = describeCause(cause, title)
  return [...describeHalt(halt), ...(why === '' ? [] : [`${why}.`])].join(' ')
}

/** What else there is to say of a change, in small: people, how far it got, and why. */
function More({ of }: { of: ChangeRecord }) {
  const words = say(changeFeedTexts)
  const reached = reachedBy(of)
  const cause = of.halt === undefined ? describeCause(of.error_cause, of.error_title) : sayHalt(of.halt)
  const small = [
    ...describePeople(of),
    ...(of.campaign_name !== undefined && of.kind !== 'campaign' ? [words.byCampaign(of.campaign_name)] : []),
    ...(of.fleet_config_name !== undefined && of.kind !== 'auto_apply'
      ? [words.byVersion(of.fleet_config_name, of.version_number ?? 0)]
      : []),
    ...(of.is_break_glass ? [words.glass] : []),
    ...(reached === null ? [] : [reached]),
  ]
  return (
    <>
      {small.length > 0 && <div class="muted small">{small.join(' · ')}</div>}
      {cause !== '' && <div class="bad small">{cause}</div>}
      {of.unhealthy_since && <div class="bad small">▲ {describeWithReason(of.unhealthy_since)}</div>}
      {of.comment !== undefined && <blockquote class="why">{of.comment}</blockquote>}
    </>
  )
}

/**
 * The pushes of a campaign, or of a version by itself, for which its entry stands; they are read when they are asked
 * for.
 */
function Pushes({ of }: { of: ChangeRecord }) {
  const isOpen = useSignal(false)
  return (
    <details
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>
        {of.kind === 'campaign'
          ? say(changeFeedTexts).pushes(of.push_count ?? 0)
          : say(changeFeedTexts).pushesByItself(of.push_count ?? 0)}
      </summary>
      {isOpen.value && <PushList of={of} />}
    </details>
  )
}

function PushList({ of }: { of: ChangeRecord }) {
  const isCampaign = of.kind === 'campaign'
  const { rows, failure, isLoading, hasOlder, older, reload } = usePages<ChangeRecord>(
    `changes-of:${of.id}`,
    {
      idOf: ({ id }) => id,
      load: (address, abort) =>
        api.changes(isCampaign ? { campaign: of.id } : { auto_apply: of.id }, address, abort),
      touches: (frame, listed) =>
        touchesListed(frame, listed) ||
        (isCampaign
          ? frame.type === 'campaign_update' && frame.campaign.id === of.id
          : frame.type === 'auto_apply_update' && frame.auto_apply.fleet_config_id === of.fleet_config_id),
    },
  )
  return (
    <>
      {failure && <FailureNotice failure={failure} retry={reload} />}
      {rows.length === 0 && isLoading && <Waiting />}
      <ul class="changes">
        {rows.map((change) => (
          <Change key={change.id} of={change} hidesWorkload={false} />
        ))}
      </ul>
      {hasOlder && <Action onClick={older}>{say(commonTexts).older}</Action>}
    </>
  )
}

function Change({ of, hidesWorkload }: { of: ChangeRecord; hidesWorkload: boolean }) {
  const isMany = of.kind === 'campaign' || of.kind === 'auto_apply'
  const name =
    of.kind === 'campaign'
      ? of.campaign_name
      : of.kind === 'auto_apply'
        ? of.fleet_config_name
        : of.workload_name
  const [first, second] = tellingFirst(name ?? '', of.workload_place ?? '', !isMany && isShared(name ?? ''))
  const nameHref = isMany ? hrefOf(of) : `/workloads/${of.workload_id}`
  return (
    <li>
      <time class="faint" dateTime={of.at} title={formatExact(of.at)}>
        {formatClock(of.at)}
      </time>
      <ChangeMark of={of} />
      <div class="wrap">
        {!hidesWorkload && (
          <>
            <b class="name">
              <Linked href={nameHref}>{first}</Linked>
            </b>{' '}
            {second !== '' && <span class="muted">{second} </span>}
          </>
        )}
        <Linked href={hrefOf(of)}>{describeChange(of)}</Linked>
        <More of={of} />
        {isMany && (of.push_count ?? 0) > 0 && <Pushes of={of} />}
      </div>
    </li>
  )
}

/** Changes as they came, by the day. */
export function ChangeList({
  changes,
  hidesWorkload = false,
  isPart = false,
}: {
  changes: readonly ChangeRecord[]
  hidesWorkload?: boolean
  /** The days are parts of a section that has a heading. */
  isPart?: boolean
}) {
  const days = new Map<string, ChangeRecord[]>()
  for (const change of changes) {
    const day = formatDay(change.at)
    const known = days.get(day)
    if (known) known.push(change)
    else days.set(day, [change])
  }
  return (
    <>
      {[...days].map(([day, list]) => (
        <section key={day}>
          {isPart ? <h3>{day}</h3> : <h2>{day}</h2>}
          <ul class="changes pane">
            {list.map((change) => (
              <Change key={`${change.kind}${change.id}`} of={change} hidesWorkload={hidesWorkload} />
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}
