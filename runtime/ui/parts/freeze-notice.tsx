import { say } from '../i18n/define.ts'
import { formatExact, tick } from '../i18n/format.ts'
import { freezeNoticeTexts } from '../i18n/freeze-notice.ts'
import { api } from '../state/endpoints.ts'
import { can } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

/** That workloads are frozen, how many, until when and why: whoever wonders why nothing goes on is to see it at once. */
export function FreezeNotice() {
  const words = say(freezeNoticeTexts)
  const { data } = useResource(can('config_safety.campaigns') ? 'freeze' : null, (abort) => api.freeze(abort))
  const freeze = data?.freeze ?? null
  if (freeze === null || Date.parse(freeze.until) <= tick.value) return null
  const { selector, workload_count: count, until, reason } = freeze
  return (
    <p class="warn" role="note">
      {selector === undefined
        ? words.allFrozen(formatExact(until))
        : words.someFrozen(count, formatExact(until))}{' '}
      “{reason}”
    </p>
  )
}
