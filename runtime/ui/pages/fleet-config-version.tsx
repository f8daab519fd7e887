import { useSignal } from '@preact/signals'
import type { FleetConfigVersion, FleetConfigVersionSummary } from '../../../lib/wire/fleet-configs.ts'
import { say } from '../i18n/define.ts'
import { fleetConfigTexts } from '../i18n/fleet-configs.ts'
import { CodeView } from '../parts/code.tsx'
import { Select } from '../parts/controls.tsx'
import { DiffText } from '../parts/diff-text.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Table } from '../parts/table.tsx'
import { WorkloadSearch } from '../parts/workload-search.tsx'
import { api } from '../state/endpoints.ts'
import { useResource } from '../state/use-resource.ts'

function Variables({ of }: { of: FleetConfigVersion['variables'] }) {
  const words = say(fleetConfigTexts)
  const { variable } = words
  if (of.length === 0) return <p class="muted">{words.noVariables}</p>
  return (
    <section class="stack tight">
      <h3>{words.variables}</h3>
      <Table
        label={words.variables}
        rows={of}
        keyOf={({ name }) => name}
        columns={[
          { title: variable.name, look: 'mono', cell: ({ name }) => name },
          { title: variable.type, cell: ({ type }) => type },
          {
            title: variable.required,
            narrowTitle: variable.required,
            cell: ({ required }) => (required ? words.yes : words.no),
          },
          {
            title: variable.default,
            narrowTitle: variable.default,
            look: 'mono',
            cell: (row) => row.default ?? '',
          },
          {
            title: variable.pattern,
            narrowTitle: variable.pattern,
            look: 'mono',
            cell: ({ pattern }) => pattern ?? '',
          },
          {
            title: variable.label,
            narrowTitle: variable.label,
            look: 'mono',
            cell: ({ label }) => label ?? '',
          },
          { title: variable.description, look: 'text', cell: ({ description }) => description ?? '' },
        ]}
      />
    </section>
  )
}

/** What this version says that another one does not. */
function Comparison({ id, number, other }: { id: string; number: number; other: number }) {
  const words = say(fleetConfigTexts)
  const comparison = useResource(`fleet-config-compare:${id}:${number}:${other}`, (abort) =>
    api.compareFleetConfigVersions(id, number, other, abort),
  )
  return (
    <Loaded of={comparison}>
      {({ from, to, diff, truncated }) => (
        <div class="pane">
          <p>{words.comparison(from, to)}</p>
          {diff === '' ? <p class="muted">{words.same}</p> : <DiffText of={diff} />}
          {truncated && <p class="muted">{words.truncated}</p>}
        </div>
      )}
    </Loaded>
  )
}

/** The version with the values of one workload in it. */
function Rendered({ id, number }: { id: string; number: number }) {
  const words = say(fleetConfigTexts)
  const chosen = useSignal('')
  const workload = chosen.value
  const rendered = useResource(
    workload === '' ? null : `fleet-config-render:${id}:${number}:${workload}`,
    (abort) => api.renderFleetConfigVersion(id, number, workload, abort),
  )
  return (
    <section class="stack tight" aria-label={words.render}>
      <h3>{words.render}</h3>
      <div class="narrow-select">
        <WorkloadSearch
          label={words.renderFor}
          onPick={(picked) => {
            chosen.value = picked.id
          }}
        />
      </div>
      {workload !== '' && (
        <Loaded of={rendered}>
          {({ content, hash }) => (
            <div class="pane flush" key={`${workload}:${hash}`}>
              <CodeView text={content} label={words.render} />
            </div>
          )}
        </Loaded>
      )}
    </section>
  )
}

/** One version: its text and variables, compared with another one and as one workload gets it. */
export function VersionView({
  id,
  number,
  versions,
}: {
  id: string
  number: number
  versions: readonly FleetConfigVersionSummary[]
}) {
  const words = say(fleetConfigTexts)
  const other = useSignal('')
  const version = useResource(`fleet-config-version:${id}:${number}`, (abort) =>
    api.fleetConfigVersion(id, number, abort),
  )
  const others = versions.filter((one) => one.number !== number).map((one) => String(one.number))
  return (
    <section class="ground stack" aria-label={words.version(number)}>
      <h2>{words.version(number)}</h2>
      <Loaded of={version}>
        {({ content, variables }) => (
          <>
            <div class="pane flush">
              <CodeView text={content} label={words.text} />
            </div>
            <Variables of={variables} />
          </>
        )}
      </Loaded>
      {others.length > 0 && (
        <div class="narrow-select">
          <Select
            label={words.compareWith}
            value={other.value}
            options={[
              ['', words.compareNone],
              ...others.map((one) => [one, words.version(Number(one))] as const),
            ]}
            onValue={(value) => {
              other.value = value
            }}
          />
        </div>
      )}
      {other.value !== '' && <Comparison id={id} number={number} other={Number(other.value)} />}
      <Rendered id={id} number={number} />
    </section>
  )
}
