import type { RevisionErrorGroup } from '../../../lib/wire/revisions.ts'
import { nameGroup } from '../i18n/causes.ts'
import { say } from '../i18n/define.ts'
import { formatNumber } from '../i18n/format.ts'
import { pushTexts } from '../i18n/push.ts'
import { Icon } from './icons.tsx'

/** Why instances could not apply a config, and which of them each cause stopped. */
export function Causes({
  groups,
  workloadId,
  nameOf,
}: {
  groups: readonly RevisionErrorGroup[] | undefined
  workloadId: string
  /** What people call an instance, by its uid. */
  nameOf: (uid: string) => string
}) {
  const words = say(pushTexts)
  if (!groups?.length) return null
  return (
    <section class="pane" style={{ marginTop: '0' }}>
      <h2>{words.causes}</h2>
      <ul class="list">
        {groups.map((group) => (
          <li key={group.cause} class="bad">
            <Icon shape="cross" />
            <div>
              <b>{nameGroup(group)}</b> · {formatNumber(group.count)}
              {group.affected_instances && (
                <div class="who">
                  {group.affected_instances.map((uid) => (
                    <a key={uid} class="mono" href={`/workloads/${workloadId}/health?instance=${uid}`}>
                      {nameOf(uid)}
                    </a>
                  ))}
                  {group.count > group.affected_instances.length && (
                    <span class="muted">{words.others(group.count - group.affected_instances.length)}</span>
                  )}
                </div>
              )}
              {group.sample_message && <div class="muted">{group.sample_message}</div>}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
