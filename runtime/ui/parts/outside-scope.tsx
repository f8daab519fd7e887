import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'

/** How many rows of a list, or of what was counted, lie outside of the reader's scope; nothing where none does. */
export function OutsideScope({ count = 0 }: { count: number | undefined }) {
  return count > 0 ? <p class="muted">{say(commonTexts).outsideScope(count)}</p> : null
}
