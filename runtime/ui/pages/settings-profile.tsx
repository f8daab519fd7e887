import { type Signal, useSignal } from '@preact/signals'
import type { ApiTokenRecord } from '../../../lib/wire/identity.ts'
import { LANGUAGES, THEMES } from '../../../lib/wire/values.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { nameRights, rightsTexts } from '../i18n/rights.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { describeScopes } from '../i18n/user-groups.ts'
import { Action, bind, Checkbox, Select, TextField } from '../parts/controls.tsx'
import { describeFailure } from '../parts/failure.tsx'
import { Form } from '../parts/form.tsx'
import { Pairs } from '../parts/page.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { DENSITIES, density, setDensity } from '../state/density.ts'
import { api } from '../state/endpoints.ts'
import { me, savePreferences } from '../state/session.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'
import { RightsDialog } from './rights-dialog.tsx'

interface PasswordFault {
  field: 'current' | 'next' | 'again'
  text: string
}

/** The tokens that end with the old password, and whether to keep them. */
function EndingTokens({ tokens, keep }: { tokens: readonly ApiTokenRecord[]; keep: Signal<boolean> }) {
  const words = say(settingsTexts)
  const ending = tokens.filter((token) => !token.is_login && Date.parse(token.expires_at) > Date.now())
  if (ending.length === 0) return null
  return (
    <div class="stack">
      <p class="muted">{words.tokensEnd(ending.map(({ name }) => name).join(', '))}</p>
      <Checkbox {...bind(keep)}>{words.keepTokens}</Checkbox>
    </div>
  )
}

function PasswordForm() {
  const words = say(settingsTexts)
  const current = useSignal('')
  const next = useSignal('')
  const again = useSignal('')
  const keepTokens = useSignal(false)
  const tokens = useResource('tokens', (abort) => api.tokens(abort))
  const error = useSignal<PasswordFault | null>(null)
  const findFault = (): PasswordFault | null => {
    if ([...next.value].length < 12) return { field: 'next', text: words.tooShort }
    if (next.value === current.value) return { field: 'next', text: words.mustDiffer }
    return next.value === again.value ? null : { field: 'again', text: words.notEqual }
  }
  const submit = async () => {
    error.value = findFault()
    if (error.value !== null) return
    const result = await api.changePassword({
      current_password: current.value,
      new_password: next.value,
      ...(keepTokens.value ? { keep_tokens: true } : {}),
    })
    if (result.ok) {
      keepTokens.value = false
      tokens.reload()
      current.value = next.value = again.value = ''
      return toast(words.changed)
    }
    if (result.code === 'password_mismatch') error.value = { field: 'current', text: words.wrongCurrent }
    else if (result.status === 400) error.value = { field: 'next', text: describeFailure(result) }
    else toastFailure(result)
  }
  const errorOf = (field: string) => (error.value?.field === field ? error.value.text : null)
  return (
    <Form class="form" onSend={submit} send={words.change}>
      <TextField
        label={words.current}
        type="password"
        autoComplete="current-password"
        error={errorOf('current')}
        {...bind(current)}
      />
      <TextField
        label={words.next}
        type="password"
        autoComplete="new-password"
        hint={words.nextHint}
        error={errorOf('next')}
        {...bind(next)}
      />
      <TextField
        label={words.again}
        type="password"
        autoComplete="new-password"
        error={errorOf('again')}
        {...bind(again)}
      />
      <EndingTokens tokens={tokens.data ?? []} keep={keepTokens} />
    </Form>
  )
}

/** What the reader may do, and why. */
function OwnRights({ email }: { email: string }) {
  const { about, open, close } = useDialog<'rights'>()
  return (
    <div class="actions">
      <Action onClick={() => open('rights')}>{say(rightsTexts).open}</Action>
      {about === 'rights' && <RightsDialog id={null} name={email} onClose={close} />}
    </div>
  )
}

/** What one may do: everywhere, and within scopes. */
function OwnPermissions() {
  const { permissions = [], scoped } = me.value ?? {}
  if (permissions.length === 0 && scoped === undefined) return <>{say(settingsTexts).nothing}</>
  return (
    <>
      {nameRights(permissions)}
      {scoped?.map((part) => (
        <span class="sub" key={JSON.stringify(part.scope)}>
          {say(rightsTexts).within(describeScopes([part.scope]))}: {nameRights(part.permissions)}
        </span>
      ))}
    </>
  )
}

/** Who one is, how it looks, which language, and the password. */
export function ProfileSection() {
  const words = say(settingsTexts)
  const user = me.value
  if (!user) return null
  const { theme, language } = user.preferences
  const save = async (change: Partial<{ theme: typeof theme; language: typeof language }>) => {
    const result = await savePreferences(change)
    if (result.ok) toast(say(commonTexts).saved)
    else toastFailure(result)
  }
  return (
    <>
      <section class="pane">
        <Pairs
          of={[
            [words.email, user.email],
            [words.roles, user.groups.map(({ name }) => words.role[name] ?? name).join(', ') || '–'],
            [words.permissions, <OwnPermissions />],
          ]}
        />
        <OwnRights email={user.email} />
      </section>
      <section class="pane">
        <h2>{words.appearance}</h2>
        <div class="form">
          <Select
            label={words.appearance}
            value={theme}
            options={THEMES.map((id) => [id, words.themes[id]])}
            onValue={(value) => void save({ theme: value })}
          />
          <Select
            label={words.density}
            value={density.value}
            options={DENSITIES.map((id) => [id, words.densities[id]])}
            onValue={setDensity}
          />
          <Select
            label={words.language}
            value={language}
            options={LANGUAGES.map((id) => [id, words.languages[id]])}
            onValue={(value) => void save({ language: value })}
          />
        </div>
      </section>
      <section class="pane">
        <h2>{words.password}</h2>
        {user.has_password === false ? <p class="muted">{words.elsewhere}</p> : <PasswordForm />}
      </section>
    </>
  )
}
