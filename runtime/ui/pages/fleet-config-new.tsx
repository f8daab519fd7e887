import { useSignal } from '@preact/signals'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { fleetConfigTexts } from '../i18n/fleet-configs.ts'
import { selectorTexts } from '../i18n/selectors.ts'
import { readSelectorLines } from '../logic/selector-lines.ts'
import { ActionLink, bind, TextArea, TextField, unless } from '../parts/controls.tsx'
import { Form } from '../parts/form.tsx'
import { Head } from '../parts/page.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { navigate } from '../state/router.ts'

/** Begin a fleet config; its first version comes next. */
export function NewFleetConfigPage() {
  const words = say(fleetConfigTexts)
  const { conditions, conditionsHint, badCondition } = say(selectorTexts)
  const name = useSignal('')
  const description = useSignal('')
  const lines = useSignal('')
  const priority = useSignal('0')
  const reason =
    unless('config:create') ?? (name.value.trim() === '' || lines.value.trim() === '' ? words.needs : null)
  const save = async () => {
    const read = readSelectorLines(lines.value)
    if (!read.ok) return toast(badCondition(read.line), 'bad')
    if (!/^-?\d{1,7}$/.test(priority.value.trim())) return toast(words.priorityInvalid, 'bad')
    const made = await api.createFleetConfig({
      name: name.value.trim(),
      description: description.value.trim(),
      selector: read.conditions,
      priority: Number(priority.value),
    })
    if (!made.ok) return toastFailure(made)
    navigate(`/fleet-configs/${made.value.id}`)
  }
  return (
    <>
      <Head title={words.create}>
        <ActionLink href="/fleet-configs">← {words.title}</ActionLink>
      </Head>
      <Form class="pane stack" onSend={save} send={say(commonTexts).create} reason={reason}>
        <TextField label={words.name} {...bind(name)} maxLength={128} />
        <TextField label={words.description} {...bind(description)} maxLength={1024} />
        <TextArea label={conditions} hint={conditionsHint} isMono {...bind(lines)} />
        <TextField label={words.priority} hint={words.priorityHint} {...bind(priority)} type="number" />
      </Form>
    </>
  )
}
