import { useSignal } from '@preact/signals'
import type { CampaignGroup, CampaignVariable } from '../../../lib/wire/campaigns.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { changeTexts } from '../i18n/change.ts'
import { translated } from '../i18n/check-findings.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatNumber } from '../i18n/format.ts'
import { Action } from '../parts/controls.tsx'
import { DiffText } from '../parts/diff-text.tsx'
import { FailureNotice, Waiting } from '../parts/failure.tsx'
import { Icon } from '../parts/icons.tsx'
import { OutsideScope } from '../parts/outside-scope.tsx'
import { Pairs } from '../parts/page.tsx'
import type { Failure } from '../state/api.ts'
import { api } from '../state/endpoints.ts'
import { lineOf } from '../state/names.ts'
import { type Pages, usePages } from '../state/use-pages.ts'
import { Does, RiskMark } from './diff-summary.tsx'

/** Which groups: the address of their list, and what they change with. */
interface Of {
  path: string
  /** Another plan has another key. */
  planKey: string
}

/** How risky a change is, and what makes it so. */
function GroupRisk({ of: { risk, risks } }: { of: CampaignGroup }) {
  const words = say(changeTexts)
  return (
    <>
      <p>{risk === undefined ? <span class="muted">{words.riskUnknown}</span> : <RiskMark risk={risk} />}</p>
      {risks.length > 0 && (
        <ul class="list">
          {risks.map(({ rule, title, risk: level }) => (
            <li key={`${rule}${title}`} class={level === 'high' ? 'bad' : 'warn'}>
              <Icon shape="triangle" />
              <div>{translated(words.rule, rule, title)}</div>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** What is not shown yet, how much of it there is, and a button that shows more. */
function NotShown({ says, label, onMore }: { says: string; label: string; onMore: () => void }) {
  return (
    <div class="actions">
      <span class="warn">{says}</span>
      <Action kind="plain" label={`${say(commonTexts).more}: ${label}`} onClick={onMore}>
        {say(commonTexts).more}
      </Action>
    </div>
  )
}

/** How many workloads have a value, and which label of theirs chose it where one did. */
function describeChoice({ count, chosen_by, more_choices = 0 }: CampaignVariable, isEach: boolean): string {
  const words = say(campaignTexts)
  const by = chosen_by.map(({ kind, label = '', label_value }) => {
    if (kind === 'own') return words.ownValue
    return label_value === undefined ? label : `${label}=${label_value}`
  })
  return [
    isEach ? words.each(count) : formatNumber(count),
    ...(by.length === 0 ? [] : [words.chosenBy(by.join(' · '))]),
    ...(more_choices > 0 ? [words.moreChoices(more_choices)] : []),
  ].join(', ')
}

/** Values in their order; what holds of several that follow each other is said once. */
function describeValues(values: readonly CampaignVariable[]): string {
  const runs: CampaignVariable[][] = []
  for (const one of values) {
    const run = runs.at(-1)
    if (run?.[0] !== undefined && describeChoice(run[0], false) === describeChoice(one, false)) run.push(one)
    else runs.push([one])
  }
  return runs
    .map((run) => `${run.map(({ value }) => value).join(', ')} (${describeChoice(run[0]!, run.length > 1)})`)
    .join(', ')
}

/** The values of one variable, the rarest first: the first ones, and all others page by page. */
function Values({ of, group, name }: { of: Of; group: CampaignGroup; name: string }) {
  const isOpen = useSignal(false)
  const first = group.variables[name] ?? []
  const pages = usePages<CampaignVariable>(
    isOpen.value ? `group-values:${of.path}:${of.planKey}:${group.key}:${name}` : null,
    {
      idOf: ({ value }) => value,
      load: (address, abort) => api.groupValues(of.path, { key: group.key, name }, address, abort),
      touches: () => false,
    },
  )
  const shown = pages.rows.length > first.length ? pages.rows : first
  const left = first.length + (group.more_values[name] ?? 0) - shown.length
  const more = () => {
    if (isOpen.value) pages.older()
    else isOpen.value = true
  }
  return (
    <>
      {describeValues(shown)}
      {pages.failure !== null && <FailureNotice failure={pages.failure} retry={pages.reload} />}
      {left > 0 && <NotShown says={say(campaignTexts).moreValues(left)} label={name} onMore={more} />}
    </>
  )
}

/** The values of each variable with how many workloads have them, the rarest first: a wrong one is rare. */
function GroupVariables({ of, group }: { of: Of; group: CampaignGroup }) {
  const names = Object.keys(group.variables)
  if (names.length === 0) return null
  return <Pairs of={names.map((name) => [name, <Values of={of} group={group} name={name} />])} />
}

/** Places that are called like a renamed component, and stay: somebody has to look at them. */
function OtherMatches({ of: { other_matches: places = [] } }: { of: CampaignGroup }) {
  if (places.length === 0) return null
  return (
    <p class="warn">
      {say(campaignTexts).otherMatches} <code>{places.join(', ')}</code>
    </p>
  )
}

/** The diff of a group: its first lines, and all others when they are asked for. */
function GroupDiff({ of, group }: { of: Of; group: CampaignGroup }) {
  const words = say(campaignTexts)
  const read = useSignal({ text: group.diff, left: group.diff_lines_left })
  const failure = useSignal<Failure | null>(null)
  if (group.diff_missing) return <p class="warn">{words.noDiff}</p>
  if (group.diff === '') return <p class="muted">{words.sameText}</p>
  const more = async () => {
    const { text, left } = read.value
    const result = await api.groupDiff(of.path, { key: group.key, from: text.split('\n').length - 1 })
    // Pressed twice: the first answer counts.
    if (read.value.left !== left) return
    failure.value = result.ok ? null : result
    if (result.ok) read.value = { text: text + result.value.diff, left: result.value.lines_left }
  }
  return (
    <>
      <DiffText of={read.value.text} />
      {failure.value !== null && <FailureNotice failure={failure.value} />}
      {read.value.left > 0 && (
        <NotShown
          says={words.moreLines(read.value.left)}
          label={words.linesOf(group.sample_workload_name)}
          onMore={() => void more()}
        />
      )}
    </>
  )
}

/** The groups of a plan, page by page; none are asked for where there is no plan. */
export const usePlanGroups = (of: Of | null): Pages<CampaignGroup> =>
  usePages<CampaignGroup>(of === null ? null : `plan-groups:${of.path}:${of.planKey}`, {
    idOf: ({ key }) => key,
    load: (address, abort) => api.planGroups(of?.path ?? '', address, abort),
    touches: () => false,
  })

/**
 * What changes: one diff for all workloads that change in the same way, those with production first, then the rarest.
 * `total` is how many workloads change in all.
 */
export function PlanGroups({
  path,
  planKey,
  total,
  groups,
}: Of & { total: number; groups: Pages<CampaignGroup> }) {
  const words = say(campaignTexts)
  const { rows, outside, failure, isLoading, hasOlder, older, reload } = groups
  const left = total - outside - rows.reduce((sum, { count }) => sum + count, 0)
  const of = { path, planKey }
  return (
    <section class="stack" aria-label={words.groups}>
      <h2>{words.groups}</h2>
      {failure !== null && <FailureNotice failure={failure} retry={reload} />}
      {rows.length === 0 && isLoading && <Waiting />}
      {rows.map((group) => (
        <div class="pane" key={`${planKey}${group.key}`}>
          <p>
            {words.group(group.count, total)}{' '}
            <a class="link" href={`/workloads/${group.sample_workload_id}`}>
              {lineOf(group.sample_workload_name, group.sample_workload_place)}
            </a>
            {group.production_count > 0 && (
              <b class="warn"> · {words.groupProduction(group.production_count)}</b>
            )}
          </p>
          {group.compared_with === 'reported' && <p class="muted">{words.againstReported}</p>}
          {group.compared_with === 'nothing' && <p class="warn">{words.againstNothing}</p>}
          <GroupRisk of={group} />
          <Does lines={group.does ?? []} />
          <GroupVariables of={of} group={group} />
          <OtherMatches of={group} />
          <GroupDiff of={of} group={group} />
        </div>
      ))}
      {hasOlder && (
        <NotShown says={words.moreGroups(Math.max(left, 1))} label={words.groups} onMore={older} />
      )}
      <OutsideScope count={outside} />
    </section>
  )
}
