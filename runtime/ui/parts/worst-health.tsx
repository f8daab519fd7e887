import type { WorstHealth as Worst } from '../../../lib/wire/revisions.ts'
import { say } from '../i18n/define.ts'
import { formatExact } from '../i18n/format.ts'
import { historyTexts } from '../i18n/history.ts'

/** How a config did at its worst: how many instances were unhealthy under it; nothing where none was. */
export function WorstHealth({ of }: { of: Worst | undefined }) {
  if (of === undefined) return null
  return (
    <span class="warn" title={formatExact(of.at)}>
      {' · ▲ '}
      {say(historyTexts).unhealthyUnder(of.unhealthy_count, of.instance_count)}
    </span>
  )
}
