import type { ComponentChildren } from 'preact'
import { ruleRisk } from '../../../lib/configs/diff/rules.ts'
import { listDiffWords } from '../../../lib/configs/diff/words.ts'
import { riskOfTakeOver, TAKES_OVER } from '../../../lib/configs/take-over.ts'
import type { ConfigDiff, DiffWord } from '../../../lib/wire/diff.ts'
import type { ComparedWith, ConfigPlan, RiskLevel, RiskScore } from '../../../lib/wire/plan.ts'
import { changeTexts } from '../i18n/change.ts'
import { findingTexts, translated } from '../i18n/check-findings.ts'
import { say } from '../i18n/define.ts'
import { formatList } from '../i18n/format.ts'
import type { Tone } from '../logic/diagnosis.ts'
import { breakable } from '../parts/breakable.tsx'
import { FailureNotice } from '../parts/failure.tsx'
import { Icon } from '../parts/icons.tsx'
import { Mark } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { textKey } from '../state/use-debounced.ts'
import { isSettled, type Resource, useResource } from '../state/use-resource.ts'

const TONES: Record<RiskLevel, Tone> = { none: 'ok', low: 'ok', medium: 'warn', high: 'bad' }

/** How risky a change is, as a shape and a word. */
export function RiskMark({ risk }: { risk: RiskLevel }) {
  const shape = risk === 'high' || risk === 'medium' ? 'triangle' : 'tick'
  return (
    <Mark tone={TONES[risk] ?? 'idle'} shape={shape}>
      {say(changeTexts).risk[risk] ?? risk}
    </Mark>
  )
}

/** How risky a change is; where it could be compared with nothing, nobody knows. `isAway`: nothing is connected. */
export function RiskOf({
  of: { severity },
  comparedWith,
  isAway,
}: {
  of: Pick<RiskScore, 'severity'>
  comparedWith: ComparedWith | undefined
  isAway: boolean
}) {
  const words = say(changeTexts)
  // One that failed here is risky whatever it is compared with.
  if (comparedWith !== 'nothing' || severity !== 'none') return <RiskMark risk={severity} />
  return (
    <Mark tone="idle" shape="ring">
      {isAway ? words.notComparedAway : words.notCompared}
    </Mark>
  )
}

/** Whether a push would find nobody. */
export const findsNobody = ({ summary }: Pick<ConfigPlan, 'summary'>): boolean =>
  (summary.reached_instance_count ?? 0) + (summary.excluded_instance_count ?? 0) === 0

function toText(word: DiffWord): string {
  const words = say(changeTexts).summary
  switch (word.kind) {
    case 'changesField':
      return words.changesField(word.path, word.before, word.after)
    case 'renames':
      return words.renames(word.name, word.to)
    case 'addsDestination':
      return words.addsDestination(word.name, word.addresses.join(', '))
    case 'addsSampler':
      return words.addsSampler(word.name, word.percent, formatList([...word.signals]))
    case 'keeps':
    case 'losesSignal':
      return words[word.kind](word.signal)
    case 'routes':
    case 'unroutes':
      return words[word.kind](word.signal, word.name)
    default:
      return words[word.kind](word.name)
  }
}

function Risks({ diff, mended }: { diff: ConfigDiff; mended: readonly string[] }) {
  const words = say(changeTexts)
  const items = diff.risk_items.filter(({ risk }) => risk === 'high' || risk === 'medium')
  if (items.length === 0) return null
  return (
    <ul class="list">
      {items.map((item) => (
        <li key={item.id} class={item.risk === 'high' && !mended.includes(item.id) ? 'bad' : 'warn'}>
          <Icon shape="triangle" />
          <div>
            {translated(words.rule, item.rule, item.title)}
            <div class="muted mono">{breakable(item.affected_paths.join(' '))}</div>
          </div>
        </li>
      ))}
    </ul>
  )
}

/** Why it is as risky as it is, beside what it does: as it failed here, or mends what no instance can reach. */
function Reasons({ of: { reasons, reason_codes: codes = [] }, diff }: { of: Risk; diff: ConfigDiff }) {
  const told = new Set([...diff.risk_items.map(({ rule }) => rule), TAKES_OVER.rule])
  const said = codes.flatMap((code, at) => (told.has(code) ? [] : [[code, reasons[at] ?? ''] as const]))
  return said.map(([code, reason]) => (
    <p key={code} class="risk-reason">
      <Mark tone={toneOfRule(code)} shape="triangle">
        {translated(say(changeTexts).rule, code, reason)}
      </Mark>
    </p>
  ))
}

const toneOfRule = (rule: string): Tone => (ruleRisk(rule) === 'high' ? 'bad' : 'warn')

/** Why a text cannot be read, of either side. */
function Unreadable({ diff }: { diff: ConfigDiff }) {
  if (diff.diagnostics.length === 0) return null
  return (
    <ul class="list">
      {diff.diagnostics.map((item) => (
        <li key={`${item.side}${item.code}`} class="bad">
          <div>{translated(say(findingTexts), item.code, item.message)}</div>
        </li>
      ))}
    </ul>
  )
}

const SIGNS: Partial<Record<DiffWord['kind'], string>> = {
  addsComponent: '+',
  addsDestination: '+',
  addsPipeline: '+',
  addsSampler: '+',
  removesComponent: '−',
  removesPipeline: '−',
  unroutes: '−',
  losesSignal: '−',
  routes: '→',
  keeps: '=',
}

/** Lines that are shown before the others are asked for. */
const LINES_SHOWN = 12

/** One line for each thing that a change does. */
export function Does({ lines }: { lines: readonly DiffWord[] }) {
  const list = (some: readonly DiffWord[]) => (
    <ul class="does">
      {some.map((line, at) => (
        <li key={at}>
          <span class="mono faint" aria-hidden="true">
            {SIGNS[line.kind] ?? '~'}
          </span>
          <p class="wrap sentence">{toText(line)}</p>
        </li>
      ))}
    </ul>
  )
  const more = lines.slice(LINES_SHOWN)
  if (lines.length === 0) return null
  return (
    <>
      {list(lines.slice(0, LINES_SHOWN))}
      {more.length > 0 && (
        <details>
          <summary>{say(changeTexts).reachMore(more.length)}</summary>
          {list(more)}
        </details>
      )}
    </>
  )
}

/** What stands above what a change does: how risky it is. */
function SummaryHead({ risk }: { risk: ComponentChildren }) {
  return (
    <div class="head" style={{ marginBottom: '8px' }}>
      <h2 style={{ margin: '0' }}>{say(changeTexts).what}</h2>
      {risk}
    </div>
  )
}

const RiskUnknown = () => (
  <Mark tone="idle" shape="ring">
    {say(changeTexts).riskUnknown}
  </Mark>
)

/** A risk as far as it is told here. */
type Risk = Pick<RiskScore, 'severity' | 'reasons' | 'reason_codes' | 'mended_risk_ids'>

/** A plan, or what was kept of one. */
type Planned = Pick<ConfigPlan, 'compared_with'> & Partial<Pick<ConfigPlan, 'summary'>> & { risk_score: Risk }

const PlannedRisk = ({ of: { risk_score: risk, compared_with: comparedWith, summary } }: { of: Planned }) => (
  <RiskOf of={risk} comparedWith={comparedWith} isAway={summary !== undefined && findsNobody({ summary })} />
)

/** That a push replaces what instances report to run, with no way back to that. */
const TakesOver = () => (
  <p>
    <Mark tone="warn" shape="triangle">
      {say(changeTexts).takesOver}
    </Mark>
  </p>
)

/** Why there is nothing to compare, below how risky it is where somebody is to decide. */
function NothingBefore({ risk, children }: { risk: ComponentChildren; children: ComponentChildren }) {
  if (risk === null) return <>{children}</>
  return (
    <section class="pane" aria-label={say(changeTexts).what}>
      <SummaryHead risk={risk} />
      {children}
    </section>
  )
}

/** That a draft changes nothing; where it is what the instances report to run, that it takes that over. */
const Unchanged = ({ reported, risk }: { reported: string | null; risk: ComponentChildren }) =>
  reported === null ? (
    <p class="muted">{say(changeTexts).nothingChanged}</p>
  ) : (
    <NothingBefore risk={risk}>
      <p class="muted">
        {reported} {say(changeTexts).sameAsReported}
      </p>
      <TakesOver />
    </NothingBefore>
  )

interface DiffSummaryProps {
  workloadId: string
  before: string
  after: string
  /** Why `before` is what the instances report, and not a config of ours; null where it is one of ours. */
  reported: string | null
  /** Whether the checks found errors in `after`; then nobody knows what it would do. */
  isInvalid: boolean
  /** The plan of `after`, which also knows whether it failed here; null where there is none. */
  planned?: Planned | null
  /** Why there is no `before`, where it is not that no config ran before; null where it is. */
  whyNothing?: string | null
  /** What stands below it: drawn once it is known what stands above, so that it is not pushed down. */
  children?: ComponentChildren
}

/** What a change does, in words: added, removed, rerouted, risky. */
export function DiffSummary(props: DiffSummaryProps) {
  const { workloadId, before, after, children } = props
  const hasBoth = before.trim() !== '' && after.trim() !== '' && before !== after
  const diff = useResource(
    hasBoth ? `diff:${workloadId}:${textKey(before)}:${textKey(after)}` : null,
    (abort) =>
      api.diff({ base_yaml: before, target_yaml: after, context: { workload_id: workloadId } }, abort),
  )
  return (
    <>
      <Told {...props} diff={diff} />
      {isSettled(diff) && children}
    </>
  )
}

/** The same, from the answer. */
function Told({
  workloadId,
  before,
  after,
  reported,
  isInvalid,
  planned = null,
  whyNothing = null,
  diff,
}: DiffSummaryProps & { diff: Resource<ConfigDiff> }) {
  const words = say(changeTexts)
  const plannedRisk = planned && <PlannedRisk of={planned} />
  if (before.trim() === '')
    return (
      <NothingBefore risk={plannedRisk}>
        <p class="muted">{whyNothing ?? words.firstConfig}</p>
      </NothingBefore>
    )
  if (before === after) return <Unchanged reported={reported} risk={plannedRisk} />
  if (diff.failure) return <FailureNotice failure={diff.failure} retry={diff.reload} />
  if (diff.data === null) return <p class="muted">{words.checking}</p>
  const { data } = diff
  const isJudged = data.valid && !isInvalid
  const overall = data.summary.overall_risk
  return (
    <Summary
      of={data}
      workloadId={workloadId}
      reported={reported}
      risk={
        isJudged ? (
          (plannedRisk ?? <RiskMark risk={reported === null ? overall : riskOfTakeOver(overall)} />)
        ) : (
          <RiskUnknown />
        )
      }
      planned={planned?.risk_score ?? null}
    />
  )
}

/** A change in words, below how risky it is. */
function Summary({
  of: data,
  workloadId,
  reported,
  risk,
  planned,
}: {
  of: ConfigDiff
  workloadId: string
  reported: string | null
  risk: ComponentChildren
  /** What the plan says of it on this workload; null where there is none. */
  planned: Risk | null
}) {
  const words = say(changeTexts)
  const lines = listDiffWords(data)
  return (
    <section class="pane" aria-label={words.what}>
      <SummaryHead risk={risk} />
      {reported !== null && (
        <>
          <p class="muted">
            {reported} {words.againstReported}
          </p>
          <TakesOver />
        </>
      )}
      {planned !== null && <Reasons of={planned} diff={data} />}
      <Unreadable diff={data} />
      {lines.length === 0 && data.valid && <p class="muted">{words.noMeaning}</p>}
      <Does lines={lines} />
      <Risks diff={data} mended={planned?.mended_risk_ids ?? []} />
      <Reach diff={data} workloadId={workloadId} />
    </section>
  )
}

/** What a change touches, as far as the two texts and labels tell. */
function Reach({ diff, workloadId }: { diff: ConfigDiff; workloadId: string }) {
  const words = say(changeTexts)
  const {
    affected_signals: signals,
    touched_exporters: exporters,
    impacted_services: services,
  } = diff.blast_radius
  // A push reaches this workload only; the diff also names others of its cluster.
  const own = services.filter(({ workload_id: id }) => id === workloadId)
  const names = [...new Set(own.map(({ service_name: name }) => name))]
  const rows = [
    [words.signals, signals],
    [words.exporters, exporters],
    [words.services, names.slice(0, 12)],
  ] as const
  return (
    <dl class="pairs touched">
      {rows.map(([title, list]) =>
        list.length === 0 ? null : (
          <>
            <dt key={title}>{title}</dt>
            <dd key={`${title}-list`}>{list.join(', ')}</dd>
          </>
        ),
      )}
    </dl>
  )
}
