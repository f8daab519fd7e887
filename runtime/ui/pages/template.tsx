import type { TemplateRecord } from '../../../lib/wire/templates.ts'
import { say } from '../i18n/define.ts'
import { libraryTexts } from '../i18n/library.ts'
import { describeTemplate, describeVariable } from '../i18n/library-words.ts'
import { CodeView } from '../parts/code.tsx'
import { ActionLink, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { LeftOutFor } from '../parts/left-out-for.tsx'
import { Head } from '../parts/page.tsx'
import { Pipelines } from '../parts/pipelines.tsx'
import { WorkloadPicker } from '../parts/workload-picker.tsx'
import { api } from '../state/endpoints.ts'
import { navigate } from '../state/router.ts'
import { can, may } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

type TemplateVariable = NonNullable<TemplateRecord['variables']>[number]

function Variables({ of }: { of: readonly TemplateVariable[] }) {
  const words = say(libraryTexts)
  if (of.length === 0) return null
  return (
    <section class="pane">
      <h2>{words.variables}</h2>
      <ul class="list">
        {of.map((variable) => {
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
  )
}

function Template({ of }: { of: TemplateRecord }) {
  const words = say(libraryTexts)
  const content = of.content ?? ''
  const about = [of.category, of.stack, of.built_in ? words.builtIn : ''].filter(Boolean).join(' · ')
  return (
    <>
      <Head title={of.name} beside={<span class="muted">{about}</span>}>
        <ActionLink href="/templates">← {words.title}</ActionLink>
      </Head>
      {of.description && <p class="muted">{describeTemplate(of.id, of.description)}</p>}
      <div class="two" style={{ marginTop: '24px' }}>
        <div class="stack">
          <div class="pane">
            <Pipelines yaml={content} failing={new Map()} isPart={false} />
          </div>
          <div class="pane flush">
            <CodeView text={content} label={of.name} />
          </div>
        </div>
        <div>
          {can('config_safety.approvals') && (
            <section class="pane">
              <h2>{words.use}</h2>
              <WorkloadPicker
                reason={unless('config:request')}
                onChoose={(workload) => navigate(`/workloads/${workload}/change?template=${of.id}`)}
              />
            </section>
          )}
          <Variables of={of.variables ?? []} />
        </div>
      </div>
    </>
  )
}

/** One template: its text, its picture, and a change that starts from it. */
export function TemplatePage({ params }: { params: Record<string, string> }) {
  const words = say(libraryTexts)
  const id = params['id'] ?? ''
  const template = useResource(may('config:read_content') ? `template:${id}` : null, (abort) =>
    api.template(id, abort),
  )
  if (may('config:read_content'))
    return (
      <Loaded of={template} title={words.title}>
        {(data) => <Template of={data} />}
      </Loaded>
    )
  return (
    <>
      <Head title={words.title} />
      <LeftOutFor permission="config:read_content" />
    </>
  )
}
