import type { ComponentChildren } from 'preact'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { isNarrow } from '../state/viewport.ts'

/**
 * The fields that a page is filtered by. On a phone they would be all that is seen: there the first one stands alone, and
 * the others open below it; `isSet` says that one of these is in use, which is shown.
 */
export function Filters({
  first,
  isSet,
  children,
}: {
  first: ComponentChildren
  isSet: boolean
  children: ComponentChildren
}) {
  return (
    <div class="tools filters">
      {first}
      {isNarrow.value ? (
        <details open={isSet}>
          <summary>{say(commonTexts).moreFilters}</summary>
          <div class="tools filters">{children}</div>
        </details>
      ) : (
        children
      )}
    </div>
  )
}
