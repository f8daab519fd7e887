import { say } from '../i18n/define.ts'
import { formatExact, quoted, tick } from '../i18n/format.ts'
import { freezeNoticeTexts } from '../i18n/freeze-notice.ts'
import { api } from '../state/endpoints.ts'
import { can } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

/**
 * A freeze, if it holds now: it ends by itself, and no frame tells of that. Whoever shows what a freeze does asks here,
 * as what was read may be from before its end.
 */
export const inForce = <F extends { until: string }>(freeze: F | null | undefined): F | null =>
  freeze && Date.parse(freeze.until) > tick.value ? freeze : null

/** The freeze that is set, read once for all who show it. */
export const useFreeze = () =>
  useResource(can('config_safety.campaigns') ? 'freeze' : null, (abort) => api.freeze(abort))

/** That workloads are frozen, how many, until when and why: whoever wonders why nothing goes on is to see it at once. */
export function FreezeNotice() {
  const words = say(freezeNoticeTexts)
  const { data } = useFreeze()
  const freeze = inForce(data?.freeze)
  if (freeze === null) return null
  const { selector, workload_count: count, until, reason } = freeze
  return (
    <p class="warn" role="note">
      {selector === undefined
        ? words.allFrozen(formatExact(until))
        : words.someFrozen(count, formatExact(until))}{' '}
      {quoted(reason)}
    </p>
  )
}
