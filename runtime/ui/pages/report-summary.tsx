import type { ComponentChildren } from 'preact'
import type { EvidenceItem, EvidencePack } from '../../../lib/wire/reports.ts'
import { say } from '../i18n/define.ts'
import { formatExact, formatNumber, shortHash } from '../i18n/format.ts'
import { describeItem } from '../i18n/report-items.ts'
import { reportSummaryTexts } from '../i18n/report-summary.ts'
import { NamedPeople } from '../parts/fact-value.tsx'
import { Pairs } from '../parts/page.tsx'
import { Mark } from '../parts/state.tsx'
import { WorkloadLink } from '../parts/workload-link.tsx'

/** So many workloads are named with what they run; the section below has all. */
const RUNS_SHOWN = 6
/** What drift there is, by its status. */
const DIFFERS: ReadonlySet<unknown> = new Set(['drifted', 'altered'])

type People = ReadonlyMap<string, string>

const itemsOf = ({ sections }: EvidencePack, id: string): readonly EvidenceItem[] | undefined =>
  sections.find((section) => section.id === id)?.items

/** How often each value of a fact is there, the most frequent first; items without it do not count. */
function countBy(items: readonly EvidenceItem[], read: (item: EvidenceItem) => unknown): [string, number][] {
  const counts = new Map<string, number>()
  for (const item of items) {
    const value = read(item)
    if (typeof value === 'string' && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a)
}

/** Who did how many of them, by name. */
function Who({ items, fact, people }: { items: readonly EvidenceItem[]; fact: string; people: People }) {
  const words = say(reportSummaryTexts)
  const text = countBy(items, ({ facts }) => facts[fact])
    .map(([who, count]) => words.by(who, count))
    .join(', ')
  return <NamedPeople text={text === '' ? words.nobody : text} people={people} isShort />
}

/** What was asked for, who allowed it, and where nobody else did. */
function planLines(plans: readonly EvidenceItem[], people: People): [string, ComponentChildren][] {
  const words = say(reportSummaryTexts)
  const self = plans.filter(({ facts }) => facts['self_approved'] === true).length
  const glass = plans.filter(({ facts }) => facts['break_glass'] === true)
  return [
    [
      words.asked,
      <>
        {words.changes(plans.length)}: <Who items={plans} fact="requested_by" people={people} />
      </>,
    ],
    [
      words.approved,
      <>
        <Who items={plans} fact="approved_by" people={people} />
        {self > 0 && (
          <div>
            <Mark tone="warn" shape="triangle">
              {words.self(self)}
            </Mark>
          </div>
        )}
      </>,
    ],
    [words.glass, <Who items={glass} fact="requested_by" people={people} />],
  ]
}

/** What became of what was pushed. */
function sayPushed(pushes: readonly EvidenceItem[]): string {
  const words = say(reportSummaryTexts)
  const byHand = pushes.filter(({ facts }) => facts['kind'] !== 'auto-rollback')
  const outcomes = countBy(byHand, ({ facts }) => facts['outcome'] ?? facts['status'])
  const back = pushes.length - byHand.length
  return [
    ...outcomes.map(([outcome, count]) => `${formatNumber(count)} ${words.outcomes[outcome] ?? outcome}`),
    ...(back > 0 ? [words.wentBack(back)] : []),
  ].join(', ')
}

/** What each workload runs, and since when. */
function Runs({ configs }: { configs: readonly EvidenceItem[] }) {
  const words = say(reportSummaryTexts)
  return (
    <ul class="lines">
      {configs.slice(0, RUNS_SHOWN).map(({ id, facts }) => (
        <li key={id}>
          <WorkloadLink id={String(facts['workload_id'] ?? '')} />{' '}
          <span class="mono">{shortHash(String(facts['config_hash'] ?? ''))}</span>{' '}
          {typeof facts['applied_at'] === 'string' && (
            <span class="muted">{words.since(formatExact(facts['applied_at']))}</span>
          )}
        </li>
      ))}
      {configs.length > RUNS_SHOWN && <li class="muted">{words.more(configs.length - RUNS_SHOWN)}</li>}
    </ul>
  )
}

/** What the report comes to: who asked for and allowed what, what became of it, what runs, and whether the record is whole. */
export function ReportSummary({ pack, people }: { pack: EvidencePack; people: People }) {
  const words = say(reportSummaryTexts)
  const { since, until, workload_count: count = 0 } = pack.scope
  const plans = itemsOf(pack, 'config_plan')
  const pushes = itemsOf(pack, 'config_history')
  const applied = itemsOf(pack, 'current_config')?.filter(({ facts }) => facts['status'] === 'applied')
  const drift = itemsOf(pack, 'drift')
  const record = itemsOf(pack, 'audit_verification')?.[0]
  const differing = drift?.filter(({ facts }) => DIFFERS.has(facts['drift_status'])).length ?? 0
  const span = words.span(
    count,
    since === undefined ? null : formatExact(since),
    formatExact(until ?? pack.generated_at),
  )
  const lines: [string, ComponentChildren][] = [
    [words.covers, span],
    ...(plans ? planLines(plans, people) : []),
    ...(pushes ? [[words.pushed, sayPushed(pushes) || words.nobody] as [string, string]] : []),
    ...(applied?.length ? [[words.runs, <Runs configs={applied} />] as [string, ComponentChildren]] : []),
    ...(drift ? [[words.differs, words.differing(differing, drift.length)] as [string, string]] : []),
    ...(record
      ? [[words.record, describeItem('audit_verification', record)] as [string, ComponentChildren]]
      : []),
  ]
  return (
    <section class="pane" aria-label={words.title}>
      <h2>{words.title}</h2>
      <Pairs of={lines} />
    </section>
  )
}
