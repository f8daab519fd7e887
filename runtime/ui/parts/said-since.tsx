import { say } from '../i18n/define.ts'
import { reviewNoticeTexts } from '../i18n/review-notices.ts'

/** What was said of a change after it was approved: whoever pushes or starts it reads that first. */
export function SaidSince({
  said,
}: {
  said: readonly { at: string; who?: string | undefined; comment?: string | undefined }[]
}) {
  const words = say(reviewNoticeTexts)
  return (
    <>
      {said.map(({ at, who, comment }) => (
        <div key={at} class="notice t-warn" role="note">
          <div>
            <b>{words.saidSince(who ?? '')}</b> {comment}
          </div>
        </div>
      ))}
    </>
  )
}
