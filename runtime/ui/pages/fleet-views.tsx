import { useSignal } from '@preact/signals'
import type { FleetView } from '../../../lib/wire/fleet-views.ts'
import { VIEW_NAME_LENGTH_MAX } from '../../../lib/wire/values.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { Action, bind, Checkbox, TextField } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { FormDialog } from '../parts/form.tsx'
import { Menu } from '../parts/menu.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { location } from '../state/router.ts'
import { may } from '../state/session.ts'
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
  const isShared = useSignal(false)
  const save = async () => {
    const result = await api.saveView({
      name: name.value.trim(),
      query: presentQuery(),
      shared: isShared.value,
    })
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
      {may('config:create') && <Checkbox {...bind(isShared)}>{words.viewShared}</Checkbox>}
    </FormDialog>
  )
}

/** One view as a link; one's own can be removed, and what others share by those who keep the settings. */
function ViewLink({ of: view, onRemove }: { of: FleetView; onRemove: (button: HTMLElement) => void }) {
  const words = say(fleetTexts)
  const { name, query, shared: isShared, shared_by: by } = view
  const beside = by !== undefined ? words.sharedBy(by) : isShared ? words.sharedByMe : null
  return (
    <li>
      <a
        href={query === '' ? '/' : `/?${query}`}
        aria-current={query === presentQuery() ? 'true' : undefined}
        onClick={(event) => event.currentTarget.closest('details')?.removeAttribute('open')}
      >
        {name} {beside && <span class="muted small">{beside}</span>}
      </a>
      {(by === undefined || may('settings:manage')) && (
        <button
          type="button"
          class="btn plain"
          aria-label={words.removeView(name)}
          onClick={(event) => onRemove(event.currentTarget)}
        >
          ×
        </button>
      )}
    </li>
  )
}

/** The saved views as links, and then those that others share. */
function SavedViews({ views }: { views: Resource<FleetView[]> }) {
  const words = say(fleetTexts)
  const remove = async (id: string, button: HTMLElement) => {
    // The button goes with its view: the focus goes to the menu that it is in.
    button.closest('details')?.querySelector('summary')?.focus()
    const result = await api.removeView(id)
    if (!result.ok) toastFailure(result)
    views.reload()
  }
  const list = (some: readonly FleetView[]) => (
    <ul>
      {some.map((view) => (
        <ViewLink key={view.id} of={view} onRemove={(button) => void remove(view.id, button)} />
      ))}
    </ul>
  )
  return (
    <Loaded of={views}>
      {(data) => {
        const own = data.filter(({ shared_by: by }) => by === undefined)
        const shared = data.filter(({ shared_by: by }) => by !== undefined)
        return (
          <>
            {own.length === 0 ? <p class="muted">{words.noViews}</p> : list(own)}
            {shared.length > 0 && <p class="muted small">{words.sharedViews}</p>}
            {shared.length > 0 && list(shared)}
          </>
        )
      }}
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
