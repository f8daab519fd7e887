import { nameOf } from '../../../lib/model/workload-names.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { changeTexts } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { formatList } from '../i18n/format.ts'
import { describeHere, describeScopes } from '../i18n/user-groups.ts'
import { ActionLink } from '../parts/controls.tsx'
import { Head } from '../parts/page.tsx'
import { boundTo, me } from '../state/session.ts'

/** Why the reader may not see the requests of this workload: where his right holds, and how this one is labelled. */
function describeReason({ labels = {} }: WorkloadRecord): string {
  const words = say(changeTexts).outside
  const scopes = boundTo('config:request')
  if (scopes.length === 0) return words.noRight
  return words.bound(describeScopes(scopes), describeHere(scopes, labels))
}

/** A request that the reader may not see: what it is, why, and whom to ask. Nothing of the request itself is known here. */
export function RequestOutside({ workload }: { workload: WorkloadRecord }) {
  const words = say(changeTexts).outside
  const name = nameOf(workload)
  const who = workload.current_config_push?.pushed_by ?? ''
  const groups = (me.value?.groups ?? []).map(({ name: group }) => group)
  return (
    <>
      <Head title={words.title(name)} />
      <div class="stack">
        <div class="notice t-warn" role="alert">
          <div class="stack tight">
            <p>{words.what(name)}</p>
            <p>{describeReason(workload)}</p>
            <p>
              {words.ask(formatList(groups))} {who.includes('@') && words.askWho(who)}
            </p>
          </div>
        </div>
        <div class="actions">
          <ActionLink href={`/workloads/${workload.id}`}>{words.toWorkload(name)}</ActionLink>
          <ActionLink href="/settings/profile">{words.toRights}</ActionLink>
        </div>
      </div>
    </>
  )
}
