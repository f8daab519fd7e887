import type { ApprovalOutlook as Outlook } from '../../../lib/wire/approvals.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { helpTexts } from '../i18n/approval-help.ts'
import { describeRuleAlone } from '../i18n/approval-rule.ts'
import { say } from '../i18n/define.ts'
import { formatList } from '../i18n/format.ts'
import { api } from '../state/endpoints.ts'
import { can, may, me } from '../state/session.ts'
import { useDebounced } from '../state/use-debounced.ts'
import { useResource } from '../state/use-resource.ts'
import { Uncounted, UnknownAuthors, WaysOut } from './approval-help.tsx'
import { WhyClass } from './why-class.tsx'

/** Who could ask, each with whose approval would count then. */
function Askers({ text, of }: { text: string; of: NonNullable<Outlook['could_ask']> }) {
  const words = say(helpTexts)
  return (
    <div>
      <p>{text}</p>
      <ul class="bullets" aria-label={text}>
        {of.map(({ who, could_approve: could }) => (
          <li key={who}>{words.couldAsk(who === me.value?.email ? words.you : who, formatList(could))}</li>
        ))}
      </ul>
    </div>
  )
}

/**
 * Who could approve a draft if the reader asked for it now, and by which rule; or that nobody could, why, and who could ask
 * instead: said before it is asked for.
 */
export function ApprovalOutlook({
  workload,
  hash,
  group,
  environment,
}: {
  workload: WorkloadRecord
  /** Of the draft; absent until the service has said it. */
  hash: string | undefined
  group: string
  environment: string
}) {
  const words = say(helpTexts)
  const { id: workloadId } = workload
  const place = useDebounced(JSON.stringify([group.trim(), environment.trim()]), 300)
  const mayAsk = can('config_safety.approvals') && may('config:request')
  const { data } = useResource(
    hash === undefined || !mayAsk ? null : `outlook:${workloadId}:${hash}:${place}`,
    (abort) => {
      const [target_group, target_env] = JSON.parse(place) as [string, string]
      return api.approvalOutlook(workloadId, { draft_hash: hash ?? '', target_group, target_env }, abort)
    },
  )
  if (data === null) return null
  const { help, could_ask: askers = [], could_ask_reworded: reworded = [] } = data
  const { could_approve: could, could_approve_count: count, do_not_count: uncounted = [] } = help
  const more = (count ?? could.length) - could.length
  return (
    <div class="stack tight" role="status">
      <p class="muted">{describeRuleAlone(data.approvals_needed, data.author_counts)}</p>
      <WhyClass
        workload={workload}
        asked={{ target_env: environment, target_group: group }}
        counted={data.approval_class}
      />
      {could.length > 0 && (
        <p>
          {words.couldThen} <b>{could.join(', ')}</b> {more > 0 && words.more(more)}
        </p>
      )}
      {count === 0 && (
        <>
          <p class="warn">{words.nobodyIfYou}</p>
          {uncounted.length > 0 && <Uncounted of={uncounted} />}
          {askers.length > 0 ? (
            <Askers text={words.insteadAsks} of={askers} />
          ) : (
            <>
              {reworded.length > 0 && <Askers text={words.rewordedAsks} of={reworded} />}
              <WaysOut />
            </>
          )}
        </>
      )}
      <UnknownAuthors of={help} />
    </div>
  )
}
