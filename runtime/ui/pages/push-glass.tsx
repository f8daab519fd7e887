import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import { say } from '../i18n/define.ts'
import { formatAgo } from '../i18n/format.ts'
import { pushTexts } from '../i18n/push.ts'
import { api } from '../state/endpoints.ts'
import { useReviews } from '../state/reviews.ts'
import { useResource } from '../state/use-resource.ts'

/** That the glass was broken for a push: by whom and why, what was noted, and whether somebody else has looked at it. */
export function BrokenGlass({ push, asked }: { push: RevisionRecord; asked: ApprovalRecord }) {
  const words = say(pushTexts).glass
  const isOfThis = ({ kind, approval_id: id }: ReviewRecord) => kind === 'break_glass' && id === asked.id
  const waits = useReviews(true).data?.some(isOfThis) === true
  const done = useResource('reviews:done', (abort) => api.reviews('done', abort)).data?.find(isOfThis)
  const { break_glass_reason: reason = '', push_comment: comment = '' } = asked
  return (
    <div class="notice t-bad" role="note">
      <div>
        <b>{words.broken(push.pushed_by ?? '', reason)}</b>{' '}
        {comment !== '' && comment !== reason && words.noted(comment)}{' '}
        {waits && (
          <>
            {words.unseen}{' '}
            <a class="link" href="/approvals?status=reviews">
              {words.see}
            </a>
          </>
        )}
        {!waits &&
          done?.reviewed_by !== undefined &&
          words.seen(done.reviewed_by, formatAgo(done.reviewed_at ?? done.done_at), done.accepted === true)}
        {!waits && done?.comment && ` ${words.noted(done.comment)}`}
      </div>
    </div>
  )
}
