import type { RevisionErrorGroup } from '../../../lib/wire/revisions.ts'
import { describeCause } from '../i18n/causes.ts'
import { say } from '../i18n/define.ts'
import { formatNumber } from '../i18n/format.ts'
import { pushTexts } from '../i18n/push.ts'
import { Icon } from './icons.tsx'

/** Why instances could not apply a config, and how many each cause stopped. */
export function Causes({ groups }: { groups: readonly RevisionErrorGroup[] | undefined }) {
  if (!groups?.length) return null
  return (
    <section class="pane" style={{ marginTop: '0' }}>
      <h2>{say(pushTexts).causes}</h2>
      <ul class="list">
        {groups.map((group) => (
          <li key={group.cause} class="bad">
            <Icon shape="cross" />
            <div>
              <b>{describeCause(group.cause, group.title)}</b> · {formatNumber(group.count)}
              {group.sample_message && <div class="muted">{group.sample_message}</div>}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
