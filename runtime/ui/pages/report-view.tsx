import type { EvidenceItem, EvidencePack } from '../../../lib/wire/reports.ts'
import { language, say } from '../i18n/define.ts'
import { formatExact } from '../i18n/format.ts'
import {
  describeFact,
  describeItem,
  describeSection,
  describeSeverity,
  describeValue,
  describeWarning,
} from '../i18n/report-items.ts'
import { reportTexts } from '../i18n/reports.ts'
import { Pairs } from '../parts/page.tsx'
import { Mark } from '../parts/state.tsx'

const ITEMS_SHOWN = 100

function Item({ item, sectionId }: { item: EvidenceItem; sectionId: string }) {
  const words = say(reportTexts)
  const severity = describeSeverity(item.severity)
  const tone = item.severity === 'warning' ? 'warn' : 'bad'
  return (
    <article class="pane" style={{ marginTop: '8px' }}>
      <p>
        {severity !== null ? (
          <>
            <Mark tone={tone} shape="triangle">
              {severity}
            </Mark>{' '}
            <b>{describeItem(sectionId, item)}</b>
          </>
        ) : (
          <b>{describeItem(sectionId, item)}</b>
        )}{' '}
        {item.observed_at && <span class="muted">{formatExact(item.observed_at)}</span>}
        {item.redacted && <span class="faint"> · {words.redacted}</span>}
      </p>
      <Pairs
        of={Object.entries(item.facts).map(
          ([key, value]) => [describeFact(key), <span class="mono">{describeValue(value)}</span>] as const,
        )}
      />
    </article>
  )
}

/** An evidence pack as a readable page. */
export function ReportView({ pack }: { pack: EvidencePack }) {
  const words = say(reportTexts)
  const signature = pack.signatures?.[0]
  return (
    <div class="report">
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
          {section.items.length === 0 && <p class="muted">{words.noItems}</p>}
          {section.items.slice(0, ITEMS_SHOWN).map((item) => (
            <Item key={item.id} item={item} sectionId={section.id} />
          ))}
          {section.items.length > ITEMS_SHOWN && <p class="muted">{words.first(ITEMS_SHOWN)}</p>}
        </section>
      ))}
    </div>
  )
}
