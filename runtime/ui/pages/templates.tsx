import { useEffect } from 'preact/hooks'
import { say } from '../i18n/define.ts'
import { libraryTexts } from '../i18n/library.ts'
import { nameOf } from '../logic/workloads.ts'
import { ActionLink, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Head, Sheet } from '../parts/page.tsx'
import { Ago } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { fleetLoaded, fleetLoading, fleetVersion, loadFleet, workloads } from '../state/fleet.ts'
import { query, setQuery } from '../state/router.ts'
import { useResource } from '../state/use-resource.ts'

/** The library: built-in starters and what was saved. */
export function TemplatesPage() {
  const words = say(libraryTexts)
  const { column } = words
  const wanted = (query.value.get('q') ?? '').toLowerCase()
  const target = query.value.get('for')
  void fleetVersion.value
  const targetWorkload = target ? workloads.get(target) : undefined
  const templates = useResource('templates', (abort) => api.templates(abort))
  useEffect(() => {
    if (target && !fleetLoaded.peek() && !fleetLoading.peek()) void loadFleet()
  }, [target])
  return (
    <>
      <Head title={words.title}>
        <ActionLink href="/templates/migrate" reason={unless('workload:validate_config')}>
          {words.migrate}
        </ActionLink>
        <ActionLink href="/templates/new" kind="primary" reason={unless('config:create')}>
          {words.create}
        </ActionLink>
      </Head>
      {targetWorkload && (
        <div class="say t-busy">
          <p>{words.chooseFor(nameOf(targetWorkload))}</p>
        </div>
      )}
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
      <Loaded of={templates}>
        {(all) => {
          const shown = all.filter((template) =>
            [template.name, template.category, template.stack, ...(template.tags ?? [])]
              .join(' ')
              .toLowerCase()
              .includes(wanted),
          )
          if (shown.length === 0) return <p class="empty">{words.none}</p>
          return (
            <Sheet
              label={words.title}
              head={
                <>
                  <th scope="col">{column.name}</th>
                  <th scope="col">{column.category}</th>
                  <th scope="col">{column.stack}</th>
                  <th scope="col">{column.tags}</th>
                  <th scope="col">{column.created}</th>
                </>
              }
            >
              {shown.map((template) => (
                <tr key={template.id}>
                  <td>
                    <a
                      class="name"
                      href={
                        target
                          ? `/workloads/${target}/change?template=${template.id}`
                          : `/templates/${template.id}`
                      }
                    >
                      {template.name}
                    </a>
                    {template.built_in && <span class="sub">{words.builtIn}</span>}
                    {template.status === 'draft' && <span class="sub">{words.draft}</span>}
                  </td>
                  <td class="muted">{template.category ?? '–'}</td>
                  <td class="muted">{template.stack ?? '–'}</td>
                  <td class="muted">{template.tags?.join(', ') ?? ''}</td>
                  <td class="muted">{template.built_in ? '–' : <Ago at={template.created_at} />}</td>
                </tr>
              ))}
            </Sheet>
          )
        }}
      </Loaded>
    </>
  )
}
