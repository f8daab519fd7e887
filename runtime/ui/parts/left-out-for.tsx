import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'

/** One line in the place of what the reader may not see: what right it takes. Nothing is asked of the service. */
export function LeftOutFor({ permission }: { permission: string }) {
  return <p class="muted">{say(commonTexts).shownTo(permission)}</p>
}
