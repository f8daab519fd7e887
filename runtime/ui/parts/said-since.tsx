import { say } from '../i18n/define.ts'
import { reviewNoticeTexts } from '../i18n/review-notices.ts'
import { nameSayer } from '../i18n/sayer.ts'

/** What was said of a change after it was approved: whoever pushes or starts it reads that first. */
export function SaidSince({
  said,
}: {
  said: readonly (Parameters<typeof nameSayer>[0] & { at: string; comment?: string | undefined })[]
}) {
  const words = say(reviewNoticeTexts)
  return (
    <>
      {said.map((one) => (
        <div key={one.at} class="notice t-warn" role="note">
          <div>
            <b>{words.saidSince(nameSayer(one))}</b> {one.comment}
          </div>
        </div>
      ))}
    </>
  )
}
