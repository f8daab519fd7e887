import { useSignal } from '@preact/signals'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import { say } from '../i18n/define.ts'
import { describeDiscount } from '../i18n/discounts.ts'
import { formatExact, shortHash } from '../i18n/format.ts'
import { describeReason, reviewTexts } from '../i18n/reviews.ts'
import { LISTED_MAX } from '../logic/pages.ts'
import { Action, bind, TextArea, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { FormDialog } from '../parts/form.tsx'
import { OutsideScope } from '../parts/outside-scope.tsx'
import { Ago } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { WorkloadLink } from '../parts/workload-link.tsx'
import { api } from '../state/endpoints.ts'
import { isForMe } from '../state/reviews.ts'
import type { Resource } from '../state/use-resource.ts'

/** The address of the page that shows what was done: the request, else the push, else the workload. */
function addressOf({
  kind,
  workload_id: id,
  campaign_id: campaign,
  approval_id: approval,
  config_hash: hash,
  push_id: push,
}: ReviewRecord) {
  if (campaign) return `/campaigns/${campaign}`
  if (kind === 'label_rule') return '/settings/label-rules'
  if (approval) return `/workloads/${id}/changes/${approval}`
  if (hash && push) return `/workloads/${id}/pushes/${hash}?push=${push}`
  return hash ? `/workloads/${id}/history` : `/workloads/${id}`
}

function columnsOf(onLook: (review: ReviewRecord) => void): TableColumn<ReviewRecord>[] {
  const words = say(reviewTexts)
  const { column } = words
  return [
    {
      title: column.what,
      look: 'text',
      cell: (review) => (
        <a class="name" href={addressOf(review)}>
          {words.kind[review.kind]} {review.config_hash && shortHash(review.config_hash)}
        </a>
      ),
    },
    {
      title: column.workload,
      cell: ({ workload_id: id }) => (id === '' ? '–' : <WorkloadLink id={id} />),
    },
    { title: column.by, cell: ({ done_by: by }) => by },
    { title: column.age, look: 'muted', cell: ({ done_at: at }) => <Ago at={at} /> },
    {
      title: column.why,
      look: 'text',
      cell: (review) => (
        <>
          {describeReason(review) || '–'}
          {review.kept_until && <div class="beneath">{words.holds(formatExact(review.kept_until))}</div>}
        </>
      ),
    },
    {
      title: column.look,
      isTitleHidden: true,
      cell: (review) => {
        const permission =
          review.kind === 'labels' || review.kind === 'label_rule' ? 'settings:manage' : 'config:approve'
        const reason =
          unless(permission, review.workload_id || undefined) ??
          (isForMe(review)
            ? null
            : review.own === undefined || review.own === 'author'
              ? words.own
              : words.ownNot(describeDiscount(review.own)))
        return (
          <Action reason={reason} isReasonShown onClick={() => onLook(review)}>
            {words.look}
          </Action>
        )
      },
    },
  ]
}

/** Ask for the finding of the person who looked at what was done. */
function LookDialog({
  review,
  reload,
  onClose,
}: {
  review: ReviewRecord
  reload: () => void
  onClose: () => void
}) {
  const words = say(reviewTexts)
  const comment = useSignal('')
  const answer = async (accepted: boolean) => {
    const result = await api.review(review.id, { comment: comment.value.trim(), accepted })
    if (!result.ok) return toastFailure(result)
    toast(words.done)
    onClose()
    reload()
  }
  const reason = comment.value.trim() === '' ? words.needsComment : null
  return (
    <FormDialog
      title={words.title}
      send={words.accept}
      onSend={() => answer(true)}
      onClose={onClose}
      reason={reason}
      beside={
        <Action reason={reason} onClick={() => void answer(false)}>
          {words.refuse}
        </Action>
      }
    >
      <p>{words.explain[review.kind]}</p>
      <TextArea label={words.comment} {...bind(comment)} />
    </FormDialog>
  )
}

/** What was done without an approval, the oldest first. */
export function Reviews({ of: reviews, only }: { of: Resource<ReviewRecord[]>; only: string | null }) {
  const words = say(reviewTexts)
  const looking = useSignal<ReviewRecord | null>(null)
  return (
    <>
      <p class="muted">{words.lead}</p>
      <Loaded of={reviews}>
        {(all) => {
          const shown = all.filter(({ workload_id: id }) => only === null || id === only)
          // Those outside are not told apart by workload, so they are counted where all workloads are shown.
          const outside = only === null ? reviews.outside : 0
          if (shown.length + outside === 0) return <p class="empty">{words.none}</p>
          const columns = columnsOf((review) => {
            looking.value = review
          })
          return (
            <>
              {shown.length > 0 && (
                <Table label={words.tab} columns={columns} rows={shown} keyOf={({ id }) => id} />
              )}
              {all.length >= LISTED_MAX && <p class="muted">{words.more(LISTED_MAX)}</p>}
              <OutsideScope count={outside} />
            </>
          )
        }}
      </Loaded>
      {looking.value && (
        <LookDialog
          review={looking.value}
          reload={reviews.reload}
          onClose={() => {
            looking.value = null
          }}
        />
      )}
    </>
  )
}
