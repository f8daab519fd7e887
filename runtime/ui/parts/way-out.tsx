import { type Permission, rolesWith } from '../../../lib/model/permissions.ts'
import type { FleetStanding } from '../../../lib/wire/fleet-configs.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { say } from '../i18n/define.ts'
import { formatExact, formatList } from '../i18n/format.ts'
import { wayOutTexts } from '../i18n/way-out.ts'
import { can, me } from '../state/session.ts'
import { unless } from './controls.tsx'

/** Who may do what the reader may not: by role, and whoever pushed last by name. */
function sayWho(permission: Permission, last: string | undefined): string {
  const words = say(wayOutTexts)
  const named = last?.includes('@') && last !== me.value?.email ? last : ''
  return words.who(formatList(rolesWith(permission).map((role) => words.role[role])), named)
}

/**
 * What stands in the way out of a config that failed: that the reader may not go back or correct it, and who may; and a
 * freeze. Nothing where nothing does.
 */
export function WayOut({
  workload: { current_config_push: push },
  canGoBack,
  freeze,
}: {
  workload: WorkloadRecord
  /** There is an earlier config that it could go back to. */
  canGoBack: boolean
  /** The freeze that the workload is in. */
  freeze: FleetStanding['freeze'] | null
}) {
  const words = say(wayOutTexts)
  const back = canGoBack && can('config_safety.guided_rollback') ? unless('workload:push_config') : null
  const correct = back === null && can('config_safety.approvals') ? unless('config:request') : null
  const glass = freeze ? unless('config:break_glass') : null
  const lines = [
    ...(back === null ? [] : [`${words.back(back)} ${sayWho('workload:push_config', push?.pushed_by)}`]),
    ...(correct === null ? [] : [`${words.correct(correct)} ${sayWho('config:request', push?.pushed_by)}`]),
    ...(freeze ? [words.frozen(formatExact(freeze.until), freeze.reason)] : []),
    ...(glass === null ? [] : [`${words.noGlass(glass)} ${sayWho('config:break_glass', undefined)}`]),
  ]
  return lines.map((line) => (
    <div key={line} class="also">
      <p>{line}</p>
    </div>
  ))
}
