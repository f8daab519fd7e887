import type { LabelRuleChange, LabelRulePreview } from '../../../lib/wire/label-rules.ts'
import { say } from '../i18n/define.ts'
import { labelRuleTexts } from '../i18n/label-rules.ts'
import { Table } from '../parts/table.tsx'
import { lineOf } from '../state/names.ts'

/** What becomes of the labels, as a diff of words. */
const changeOf = ({ set, removed }: LabelRuleChange): string =>
  [
    ...Object.entries(set).map(([key, value]) => `+ ${key}=${value}`),
    ...removed.map((key) => `− ${key}`),
  ].join('  ')

function ClassCell({ of }: { of: LabelRuleChange }) {
  const words = say(labelRuleTexts)
  if (of.class_before === of.class_after) return <>{words.classes[of.class_after]}</>
  return (
    <>
      {words.classes[of.class_before]} → {words.classes[of.class_after]}
      {of.is_lowered && <b class="warn"> {words.lower}</b>}
    </>
  )
}

/** What a change of the rules would do: in numbers, and the first workloads by name. */
export function RulePreview({ of }: { of: LabelRulePreview }) {
  const words = say(labelRuleTexts)
  const isLower = of.lowered_count > 0 || of.lowers_newcomers
  return (
    <div class="stack" role="status">
      <p>
        {words.means(of.workload_count)} {words.changes(of.changed_count)}
      </p>
      {isLower && (
        <div class="notice t-warn">
          <div>
            {of.lowered_count > 0 && <>{words.lowered(of.lowered_count)} </>}
            {of.lowers_newcomers && words.lowersNewcomers}
          </div>
        </div>
      )}
      <ul>
        {of.absent_count > 0 && <li>{words.absent(of.absent_count)}</li>}
        {of.moved_count > 0 && <li>{words.moved(of.moved_count)}</li>}
        {of.by_hand_count > 0 && <li>{words.handWins(of.by_hand_count)}</li>}
        {of.conflicts.map(({ rule_id, rule_name, key, workload_count, wins }) => (
          <li key={rule_id + key}>{words.conflict(rule_name, key, workload_count, wins)}</li>
        ))}
      </ul>
      {of.changes.length > 0 && (
        <>
          {of.changes.length < of.changed_count && <p class="muted">{words.first(of.changes.length)}</p>}
          <Table
            label={words.change}
            rows={of.changes}
            keyOf={({ workload_id }) => workload_id}
            columns={[
              {
                title: words.workload,
                look: 'text',
                cell: ({ workload_id, display_name, place }) => (
                  <a class="name" href={`/workloads/${workload_id}`}>
                    {lineOf(display_name, place)}
                  </a>
                ),
              },
              { title: words.change, look: 'text mono', cell: changeOf },
              { title: words.approval, look: 'text', cell: (change) => <ClassCell of={change} /> },
            ]}
          />
        </>
      )}
    </div>
  )
}
