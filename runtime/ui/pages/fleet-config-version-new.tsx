import { type Signal, useSignal } from '@preact/signals'
import type { FleetConfigVersion, ValueTable, VersionVariable } from '../../../lib/wire/fleet-configs.ts'
import { VARIABLE_KINDS } from '../../../lib/wire/values.ts'
import { say } from '../i18n/define.ts'
import { fleetConfigTexts } from '../i18n/fleet-configs.ts'
import { CodeEditor } from '../parts/code.tsx'
import { Action, ActionLink, bind, Select, TextArea, TextField, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Form } from '../parts/form.tsx'
import { keptElsewhere } from '../parts/git-notice.tsx'
import { LeftOutFor } from '../parts/left-out-for.tsx'
import { Head, Sheet } from '../parts/page.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { navigate } from '../state/router.ts'
import { may } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

const TEXTS = ['name', 'default', 'pattern', 'label', 'description'] as const

/** One declared variable as it is being written. */
type Row = Record<(typeof TEXTS)[number], string> & { type: VersionVariable['type']; required: boolean }

const EMPTY: Row = {
  name: '',
  type: 'string',
  required: false,
  default: '',
  pattern: '',
  label: '',
  description: '',
}

const toRow = (variable: VersionVariable): Row => ({
  ...EMPTY,
  ...variable,
})

const toVariable = ({ name, type, required, ...texts }: Row): VersionVariable => ({
  name: name.trim(),
  type,
  required,
  ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
})

/** The table of values as written; undefined where there is none, null where it is no object. */
function readTable(text: string): ValueTable | undefined | null {
  if (text.trim() === '') return undefined
  try {
    const found: unknown = JSON.parse(text)
    return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as ValueTable) : null
  } catch {
    return null
  }
}

function VariableRow({ row, at, onRow }: { row: Row; at: number; onRow: (row: Row | null) => void }) {
  const words = say(fleetConfigTexts)
  const { variable, cell } = words
  const text = (key: (typeof TEXTS)[number]) => (
    <td key={key}>
      <input
        class="input"
        aria-label={cell(variable[key], at + 1)}
        value={row[key]}
        onInput={(event) => onRow({ ...row, [key]: event.currentTarget.value })}
      />
    </td>
  )
  return (
    <tr>
      {text('name')}
      <td>
        <Select
          isBare
          label={cell(variable.type, at + 1)}
          value={row.type}
          options={VARIABLE_KINDS.map((kind) => [kind, kind] as const)}
          onValue={(type) => onRow({ ...row, type })}
        />
      </td>
      <td>
        <input
          type="checkbox"
          aria-label={cell(variable.required, at + 1)}
          checked={row.required}
          onChange={(event) => onRow({ ...row, required: event.currentTarget.checked })}
        />
      </td>
      {TEXTS.slice(1).map(text)}
      <td>
        <Action kind="plain" label={words.removeVariable(at + 1)} onClick={() => onRow(null)}>
          ×
        </Action>
      </td>
    </tr>
  )
}

function Variables({ of }: { of: Signal<Row[]> }) {
  const words = say(fleetConfigTexts)
  const { variable, variables, addVariable } = words
  const keys = ['name', 'type', 'required', ...TEXTS.slice(1)] as (keyof typeof variable)[]
  return (
    <section class="pane stack" aria-label={variables}>
      <h2>{variables}</h2>
      {of.value.length > 0 && (
        <Sheet
          label={variables}
          head={
            <>
              {keys.map((key) => (
                <th key={key} scope="col">
                  {variable[key]}
                </th>
              ))}
              <td />
            </>
          }
        >
          {of.value.map((row, at) => (
            <VariableRow
              key={at}
              row={row}
              at={at}
              onRow={(changed) => {
                of.value = of.value.flatMap((other, index) =>
                  index !== at ? [other] : changed === null ? [] : [changed],
                )
              }}
            />
          ))}
        </Sheet>
      )}
      <div class="actions">
        <Action
          onClick={() => {
            of.value = [...of.value, EMPTY]
          }}
        >
          {addVariable}
        </Action>
      </div>
    </section>
  )
}

function VersionForm({
  id,
  before,
  kept,
}: {
  id: string
  before: FleetConfigVersion | null
  /** Why no version is added from here; null where one is. */
  kept: string | null
}) {
  const words = say(fleetConfigTexts)
  const content = useSignal(before?.content ?? '')
  const rows = useSignal<Row[]>((before?.variables ?? []).map(toRow))
  const table = useSignal(before?.table === undefined ? '' : JSON.stringify(before.table, null, 2))
  const comment = useSignal('')
  const reason = unless('config:create') ?? kept ?? (content.value.trim() === '' ? words.needsContent : null)
  const save = async () => {
    const values = readTable(table.value)
    if (values === null) return toast(words.tableInvalid, 'bad')
    const made = await api.addFleetConfigVersion(id, {
      content: content.value,
      variables: rows.value.map(toVariable),
      comment: comment.value.trim(),
      ...(values === undefined ? {} : { table: values }),
    })
    if (!made.ok) return toastFailure(made)
    navigate(`/fleet-configs/${id}?version=${made.value.number}`)
  }
  return (
    <div class="stack">
      <div class="pane flush">
        <CodeEditor
          text={before?.content ?? ''}
          label={words.content}
          onText={(text) => {
            content.value = text
          }}
        />
      </div>
      <p class="muted">{words.contentHint}</p>
      <Variables of={rows} />
      <Form class="pane stack" onSend={save} send={words.save} reason={reason}>
        <TextArea label={words.table} hint={words.tableHint} isMono {...bind(table)} />
        <TextField label={words.comment} {...bind(comment)} />
      </Form>
    </div>
  )
}

/** Write the next version of a fleet config, beginning with the newest one. */
export function NewFleetConfigVersionPage({ params }: { params: Record<string, string> }) {
  const words = say(fleetConfigTexts)
  const id = params['id'] ?? ''
  const config = useResource(`fleet-config-once:${id}`, (abort) => api.fleetConfig(id, abort))
  const newest = config.data?.newest_version ?? 0
  const kept = config.data === null ? null : keptElsewhere(config.data)
  const isRead = may('config:read_content')
  const before = useResource(isRead && newest > 0 ? `fleet-config-version:${id}:${newest}` : null, (abort) =>
    api.fleetConfigVersion(id, newest, abort),
  )
  return (
    <>
      <Head title={words.newVersion} beside={<span class="muted">{config.data?.name}</span>}>
        <ActionLink href={`/fleet-configs/${id}`}>←</ActionLink>
      </Head>
      {!isRead && <LeftOutFor permission="config:read_content" />}
      {isRead && (
        <Loaded of={config}>
          {({ newest_version }) =>
            newest_version === 0 ? (
              <VersionForm id={id} before={null} kept={kept} />
            ) : (
              <Loaded of={before}>{(version) => <VersionForm id={id} before={version} kept={kept} />}</Loaded>
            )
          }
        </Loaded>
      )}
    </>
  )
}
