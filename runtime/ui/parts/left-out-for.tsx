import type { Permission } from '../../../lib/model/permissions.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { nameRight } from '../i18n/rights.ts'

/** One line in the place of what the reader may not see: what right it takes, and who gives it. The service is not asked. */
export function LeftOutFor({ permission }: { permission: Permission }) {
  return <p class="muted">{say(commonTexts).shownTo(nameRight(permission), permission)}</p>
}
