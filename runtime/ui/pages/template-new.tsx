import { useSignal } from '@preact/signals'
import { say } from '../i18n/define.ts'
import { libraryTexts } from '../i18n/library.ts'
import { CodeEditor } from '../parts/code.tsx'
import { Action, ActionLink, TextField, unless } from '../parts/controls.tsx'
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
  const isBusy = useSignal(false)
  const reason =
    unless('config:create') ??
    (name.value.trim() === '' || content.value.trim() === '' ? words.needsBoth : null)
  const save = async () => {
    if (reason !== null || isBusy.value) return
    isBusy.value = true
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
    isBusy.value = false
    if (!result.ok) return toastFailure(result)
    toast(words.saved)
    navigate(`/templates/${result.value.id}`)
  }
  const field = (label: string, of: { value: string }) => (
    <TextField
      label={label}
      value={of.value}
      onValue={(value) => {
        of.value = value
      }}
    />
  )
  return (
    <>
      <Head title={words.create}>
        <ActionLink href="/templates">← {words.title}</ActionLink>
      </Head>
      <form
        class="two"
        style={{ marginTop: '24px' }}
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <div class="pane flush">
          <CodeEditor
            text={content.value}
            label={words.content}
            onText={(text) => {
              content.value = text
            }}
          />
        </div>
        <div class="pane stack">
          {field(words.name, name)}
          {field(words.category, category)}
          {field(words.stack, stack)}
          {field(words.tags, tags)}
          <div class="actions">
            <Action kind="primary" isSubmit reason={reason}>
              {words.save}
            </Action>
          </div>
        </div>
      </form>
    </>
  )
}
