import { type Signal, useSignal } from '@preact/signals'
import { say } from '../i18n/define.ts'
import { libraryTexts } from '../i18n/library.ts'
import { CodeEditor } from '../parts/code.tsx'
import { ActionLink, bind, TextField, unlessEverywhere } from '../parts/controls.tsx'
import { Form } from '../parts/form.tsx'
import { Head } from '../parts/page.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { navigate } from '../state/router.ts'

/** Write a new template. */
export function NewTemplatePage() {
  const words = say(libraryTexts)
  const name = useSignal('')
  const content = useSignal('')
  const category = useSignal('')
  const stack = useSignal('')
  const tags = useSignal('')
  const reason =
    unlessEverywhere('config:create') ??
    (name.value.trim() === '' || content.value.trim() === '' ? words.needsBoth : null)
  const save = async () => {
    const result = await api.createTemplate({
      name: name.value.trim(),
      content: content.value,
      tags: tags.value
        .split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== ''),
      ...(category.value.trim() ? { category: category.value.trim() } : {}),
      ...(stack.value.trim() ? { stack: stack.value.trim() } : {}),
    })
    if (!result.ok) return toastFailure(result)
    toast(words.saved)
    navigate(`/templates/${result.value.id}`)
  }
  const field = (label: string, of: Signal<string>) => <TextField label={label} {...bind(of)} />
  return (
    <>
      <Head title={words.create}>
        <ActionLink href="/templates">← {words.title}</ActionLink>
      </Head>
      <div class="two" style={{ marginTop: '24px' }}>
        <div class="pane flush">
          <CodeEditor
            text={content.value}
            label={words.content}
            onText={(text) => {
              content.value = text
            }}
          />
        </div>
        <Form class="pane stack" onSend={save} send={words.save} reason={reason}>
          {field(words.name, name)}
          {field(words.category, category)}
          {field(words.stack, stack)}
          {field(words.tags, tags)}
        </Form>
      </div>
    </>
  )
}
