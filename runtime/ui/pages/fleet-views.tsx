import { useSignal } from '@preact/signals'
import type { FleetView } from '../../../lib/wire/fleet-views.ts'
import { VIEW_NAME_LENGTH_MAX } from '../../../lib/wire/values.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { Action, bind, TextField } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { FormDialog } from '../parts/form.tsx'
import { Menu } from '../parts/menu.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { location } from '../state/router.ts'
import { type Resource, useResource } from '../state/use-resource.ts'

/** The present view as it is saved: the query of the address, its keys in one order. */
function presentQuery(): string {
  const query = new URLSearchParams(location.value.search)
  query.sort()
  return query.toString().replaceAll('%3A', ':').replaceAll('%2C', ',')
}

function SaveDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const words = say(fleetTexts)
  const name = useSignal('')
  const save = async () => {
    const result = await api.saveView({ name: name.value.trim(), query: presentQuery() })
    if (!result.ok) return toastFailure(result)
    toast(words.viewSaved(result.value.name))
    onDone()
  }
  return (
    <FormDialog
      title={words.saveView}
      onClose={onClose}
      onSend={save}
      send={say(commonTexts).save}
      reason={name.value.trim() === '' ? words.viewNeedsName : null}
    >
      <TextField
        label={words.viewName}
        hint={words.viewHint}
        maxLength={VIEW_NAME_LENGTH_MAX}
        autofocus
        {...bind(name)}
      />
    </FormDialog>
  )
}

/** The saved views as links, each with a way to remove it. */
function SavedViews({ views }: { views: Resource<FleetView[]> }) {
  const words = say(fleetTexts)
  const present = presentQuery()
  const remove = async (id: string, button: HTMLElement) => {
    // The button goes with its view: the focus goes to the menu that it is in.
    button.closest('details')?.querySelector('summary')?.focus()
    const result = await api.removeView(id)
    if (!result.ok) toastFailure(result)
    views.reload()
  }
  return (
    <Loaded of={views}>
      {(data) =>
        data.length === 0 ? (
          <p class="muted">{words.noViews}</p>
        ) : (
          <ul>
            {data.map(({ id, name, query }) => (
              <li key={id}>
                <a
                  href={query === '' ? '/' : `/?${query}`}
                  aria-current={query === present ? 'true' : undefined}
                  onClick={(event) => event.currentTarget.closest('details')?.removeAttribute('open')}
                >
                  {name}
                </a>
                <button
                  type="button"
                  class="btn plain"
                  aria-label={words.removeView(name)}
                  onClick={(event) => void remove(id, event.currentTarget)}
                >
                  ×
                </button>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}

/** The views of the fleet that somebody saved: each is a link, and the present one can be saved. */
export function FleetViews() {
  const words = say(fleetTexts)
  const isOpen = useSignal(false)
  const isSaving = useSignal(false)
  const views = useResource(isOpen.value ? 'fleet-views' : null, (abort) => api.views(abort))
  const ask = (isAsked: boolean) => {
    isSaving.value = isAsked
  }
  return (
    <>
      <Menu
        label={words.views}
        look="views"
        onOpen={(open) => {
          isOpen.value = open
        }}
      >
        <SavedViews views={views} />
        <Action onClick={() => ask(true)}>{words.saveView}</Action>
      </Menu>
      {isSaving.value && (
        <SaveDialog
          onClose={() => ask(false)}
          onDone={() => {
            ask(false)
            views.reload()
          }}
        />
      )}
    </>
  )
}
