import { useMemo } from 'preact/hooks'
import type { EvidenceItem, EvidencePack, EvidenceSection } from '../../../lib/wire/reports.ts'
import { language, say } from '../i18n/define.ts'
import { formatExact, shortHash } from '../i18n/format.ts'
import {
  describeFact,
  describeFactOf,
  describeItem,
  describeSection,
  describeSeverity,
  describeWarning,
} from '../i18n/report-items.ts'
import { reportTexts } from '../i18n/reports.ts'
import { type FactSubject, NamedFact, peopleIn, usePeople } from '../parts/fact-value.tsx'
import { Pairs, Sheet } from '../parts/page.tsx'
import { Mark } from '../parts/state.tsx'
import { ReportSummary } from './report-summary.tsx'

const ITEMS_SHOWN = 100

/** The facts that a section's table has columns for; the others are one click away. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  workloads: ['type', 'version', 'status'],
  config_history: ['status', 'target_count', 'applied_count', 'failed_count', 'pushed_by'],
  current_config: ['status', 'pushed_by', 'applied_at'],
  config_plan: ['status', 'requested_by', 'approved_by', 'target_env'],
  campaigns: ['status', 'requested_by', 'outcome', 'wave', 'reason'],
  drift: ['drift_status', 'expected_config_hash', 'effective_config_hash'],
  version_intelligence: ['version', 'minimum_version', 'is_outdated'],
  alerts: ['workload_id', 'rule', 'resolved_at'],
  workload_events: ['workload_id', 'pod_name', 'version'],
  rollback_readiness: ['ready', 'target_config_id', 'reason'],
  audit_verification: ['status', 'verified_records'],
}

const HASH = /^[0-9a-f]{64}$/

interface FactProps {
  sectionId: string
  item: EvidenceItem
  name: string
  people: ReadonlyMap<string, string>
}

function Fact({ sectionId, item, name, people }: FactProps) {
  const value = item.facts[name]
  if (value === undefined) return <span class="faint">–</span>
  if (typeof value === 'string' && HASH.test(value))
    return (
      <span class="mono" title={value}>
        {shortHash(value)}
      </span>
    )
  return (
    <NamedFact name={name} value={value} about={subjectOf(item)} people={people} isShort>
      {describeFactOf(sectionId, item, name)}
    </NamedFact>
  )
}

/** A fact as the heading of its column. */
const headingOf = (key: string): string => {
  const name = describeFact(key)
  return name.charAt(0).toLocaleUpperCase(language.value) + name.slice(1)
}

/** The workload and the config that an item is about. */
function subjectOf({ facts }: EvidenceItem): FactSubject {
  const text = (key: string) => {
    const value = facts[key]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  return { workloadId: text('workload_id'), configHash: text('config_hash') ?? text('config_id') }
}

function Item({
  item,
  section,
  people,
}: {
  item: EvidenceItem
  section: EvidenceSection
  people: ReadonlyMap<string, string>
}) {
  const words = say(reportTexts)
  const severity = describeSeverity(item.severity)
  const tone = item.severity === 'warning' ? 'warn' : 'bad'
  const shown = COLUMNS[section.id] ?? []
  return (
    <tr>
      <td class="text">
        {severity !== null && (
          <>
            <Mark tone={tone} shape="triangle">
              {severity}
            </Mark>{' '}
          </>
        )}
        <b>{describeItem(section.id, item)}</b>
        {item.redacted && <span class="faint"> · {words.redacted}</span>}
        <details>
          <summary class="faint">{words.allFacts}</summary>
          <Pairs
            of={Object.keys(item.facts).map(
              (key) =>
                [
                  describeFact(key),
                  <span class="mono wrap">
                    <NamedFact name={key} value={item.facts[key]} about={subjectOf(item)} people={people}>
                      {describeFactOf(section.id, item, key)}
                    </NamedFact>
                  </span>,
                ] as const,
            )}
          />
        </details>
      </td>
      <td class="muted">{item.observed_at ? formatExact(item.observed_at) : '–'}</td>
      {shown.map((key) => (
        <td key={key} data-label={describeFact(key)}>
          <Fact sectionId={section.id} item={item} name={key} people={people} />
        </td>
      ))}
    </tr>
  )
}

function SectionTable({
  section,
  people,
}: {
  section: EvidenceSection
  people: ReadonlyMap<string, string>
}) {
  return (
    <Sheet
      isStacked
      label={describeSection(section)}
      head={
        <>
          <th scope="col">{say(reportTexts).what}</th>
          <th scope="col">{say(reportTexts).when}</th>
          {(COLUMNS[section.id] ?? []).map((key) => (
            <th key={key} scope="col">
              {headingOf(key)}
            </th>
          ))}
        </>
      }
    >
      {section.items.slice(0, ITEMS_SHOWN).map((item) => (
        <Item key={item.id} item={item} section={section} people={people} />
      ))}
    </Sheet>
  )
}

/** An evidence pack as a readable page. */
export function ReportView({ pack }: { pack: EvidencePack }) {
  const words = say(reportTexts)
  const people = usePeople(useMemo(() => peopleIn(pack.sections), [pack]))
  const signature = pack.signatures?.[0]
  return (
    <div class="report">
      <ReportSummary pack={pack} people={people} />
      <div class="pane">
        <Pairs
          of={[
            [words.generated, formatExact(pack.generated_at)],
            [words.inputsHash, <span class="hash">{pack.inputs_hash}</span>],
            [words.reportHash, <span class="hash">{pack.report_hash}</span>],
            ...(signature
              ? [[words.signature, `${signature.scheme} · ${signature.verifier ?? ''}`] as const]
              : []),
          ]}
        />
        {language.value !== 'en' && <p class="muted">{words.packNote}</p>}
        {Object.values(pack.sections).some((section) => section.items.some((item) => item.redacted)) && (
          <p class="muted">{words.redactedMeans}</p>
        )}
      </div>
      {pack.warnings && pack.warnings.length > 0 && (
        <div class="notice t-warn" style={{ marginTop: '12px' }}>
          <div>
            <b>{words.warnings}</b>
            {pack.warnings.map((warning) => (
              <p key={warning.code + warning.message}>
                <code>{warning.code}</code> {describeWarning(warning)}
              </p>
            ))}
          </div>
        </div>
      )}
      {pack.sections.map((section) => (
        <section key={section.id}>
          <h2>
            {describeSection(section)} <span class="muted">{words.items(section.items.length)}</span>
          </h2>
          {section.items.length === 0 ? (
            <p class="muted">{words.noItems}</p>
          ) : (
            <SectionTable section={section} people={people} />
          )}
          {section.items.length > ITEMS_SHOWN && <p class="muted">{words.first(ITEMS_SHOWN)}</p>}
        </section>
      ))}
    </div>
  )
}
