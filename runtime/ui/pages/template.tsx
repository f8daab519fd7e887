import { say } from '../i18n/define.ts'
import { libraryTexts } from '../i18n/library.ts'
import { describeTemplate, describeVariable } from '../i18n/library-words.ts'
import { CodeView } from '../parts/code.tsx'
import { ActionLink, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Head } from '../parts/page.tsx'
import { Pipelines } from '../parts/pipelines.tsx'
import { WorkloadPicker } from '../parts/workload-picker.tsx'
import { api } from '../state/endpoints.ts'
import { navigate } from '../state/router.ts'
import { can, may } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

/** One template: its text, its picture, and a change that starts from it. */
export function TemplatePage({ params }: { params: Record<string, string> }) {
  const words = say(libraryTexts)
  const id = params['id'] ?? ''
  const template = useResource(may('config:read_content') ? `template:${id}` : null, (abort) =>
    api.template(id, abort),
  )
  if (!may('config:read_content'))
    return (
      <>
        <Head title={words.title} />
        <p class="empty">{words.hidden}</p>
      </>
    )
  return (
    <Loaded of={template}>
      {(data) => (
        <>
          <Head
            title={data.name}
            beside={
              <span class="muted">
                {[data.category, data.stack, data.built_in ? words.builtIn : ''].filter(Boolean).join(' · ')}
              </span>
            }
          >
            <ActionLink href="/templates">← {words.title}</ActionLink>
          </Head>
          {data.description && <p class="muted">{describeTemplate(data.id, data.description)}</p>}
          <div class="two" style={{ marginTop: '24px' }}>
            <div class="stack">
              <div class="pane">
                <Pipelines yaml={data.content ?? ''} failing={new Map()} />
              </div>
              <div class="pane flush">
                <CodeView text={data.content ?? ''} label={data.name} />
              </div>
            </div>
            <div>
              {can('config_safety.approvals') && (
                <section class="pane">
                  <h2>{words.use}</h2>
                  <WorkloadPicker
                    reason={unless('workload:push_config')}
                    onChoose={(workload) => navigate(`/workloads/${workload}/change?template=${id}`)}
                  />
                </section>
              )}
              {data.variables && data.variables.length > 0 && (
                <section class="pane">
                  <h2>{words.variables}</h2>
                  <ul class="list">
                    {data.variables.map((variable) => {
                      const [label, about] = describeVariable(variable)
                      return (
                        <li key={variable.name}>
                          <div>
                            <b>{label}</b>
                            {variable.required && <span class="muted"> · {words.required}</span>}
                            {about && <div class="muted">{about}</div>}
                            {variable.placeholder && <code>{variable.placeholder}</code>}
                          </div>
                        </li>
                      )
                    })}
                  </ul>
                </section>
              )}
            </div>
          </div>
        </>
      )}
    </Loaded>
  )
}
