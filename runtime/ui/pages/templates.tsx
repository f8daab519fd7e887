import type { TemplateRecord } from '../../../lib/wire/templates.ts'
import { say } from '../i18n/define.ts'
import { libraryTexts } from '../i18n/library.ts'
import { ActionLink, unless, unlessEverywhere } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Head } from '../parts/page.tsx'
import { Ago } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { api } from '../state/endpoints.ts'
import { callOf, namedOf, useNames } from '../state/names.ts'
import { query, setQuery } from '../state/router.ts'
import { useResource } from '../state/use-resource.ts'

/** A template's name leads to it, or to a change of the workload that it is chosen for. */
function Name({ template, target }: { template: TemplateRecord; target: string | null }) {
  const words = say(libraryTexts)
  const { id } = template
  return (
    <>
      <a class="name" href={target ? `/workloads/${target}/change?template=${id}` : `/templates/${id}`}>
        {template.name}
      </a>{' '}
      {template.built_in && <span class="sub">{words.builtIn}</span>}{' '}
      {template.status === 'draft' && <span class="sub">{words.draft}</span>}
    </>
  )
}

function columnsOf(target: string | null): TableColumn<TemplateRecord>[] {
  const { column } = say(libraryTexts)
  const look = 'muted'
  return [
    { title: column.name, cell: (template) => <Name template={template} target={target} /> },
    {
      title: column.category,
      narrowTitle: column.category,
      look,
      cell: (template) => template.category ?? '–',
    },
    { title: column.stack, narrowTitle: column.stack, look, cell: (template) => template.stack ?? '–' },
    { title: column.tags, look, cell: (template) => template.tags?.join(', ') ?? '' },
    {
      title: column.created,
      narrowTitle: column.created,
      look,
      cell: (template) => (template.built_in ? '–' : <Ago at={template.created_at} />),
    },
  ]
}

/** Whether what was typed is in a template's name, category, stack or tags. */
const isMeant = ({ name, category, stack, tags = [] }: TemplateRecord, typed: string): boolean =>
  [name, category, stack, ...tags].join(' ').toLowerCase().includes(typed.toLowerCase())

function Tools() {
  const words = say(libraryTexts)
  return (
    <div class="tools" style={{ marginTop: '20px' }}>
      <input
        class="input grow"
        type="search"
        aria-label={words.filter}
        placeholder={words.filter}
        value={query.value.get('q') ?? ''}
        onInput={(event) => setQuery({ q: event.currentTarget.value })}
      />
    </div>
  )
}

/** The library: built-in templates and those that people saved. */
export function TemplatesPage() {
  const words = say(libraryTexts)
  const target = query.value.get('for')
  useNames(target ? [target] : [])
  const targetWorkload = target ? namedOf(target) : undefined
  const templates = useResource('templates', (abort) => api.templates(abort))
  return (
    <>
      <Head title={words.title}>
        <ActionLink href="/templates/migrate" reason={unless('workload:validate_config')}>
          {words.migrate}
        </ActionLink>
        <ActionLink href="/templates/new" kind="primary" reason={unlessEverywhere('config:create')}>
          {words.create}
        </ActionLink>
      </Head>
      {targetWorkload && (
        <div class="say t-busy">
          <p>{words.chooseFor(callOf(targetWorkload))}</p>
        </div>
      )}
      <Tools />
      <Loaded of={templates}>
        {(all) => {
          const shown = all.filter((template) => isMeant(template, query.value.get('q') ?? ''))
          if (shown.length === 0) return <p class="empty">{words.none}</p>
          return <Table label={words.title} columns={columnsOf(target)} rows={shown} keyOf={({ id }) => id} />
        }}
      </Loaded>
    </>
  )
}
