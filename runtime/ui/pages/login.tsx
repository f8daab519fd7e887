import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { AuthMethod, AuthMethods, SignInRefusal } from '../../../lib/wire/identity.ts'
import { language, say } from '../i18n/define.ts'
import { loginTexts } from '../i18n/login.ts'
import { Action, bind, TextField } from '../parts/controls.tsx'
import { describeFailure, FailureNotice } from '../parts/failure.tsx'
import { useTitle } from '../parts/page.tsx'
import { call, type Failure } from '../state/api.ts'
import { query } from '../state/router.ts'
import { chooseLanguage, expectSession, signIn } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

/** Why signing in failed, in the reader's words. */
function describe(failure: Failure): string {
  const words = say(loginTexts)
  if (failure.code === 'invalid_credentials') return words.wrong
  if (failure.code === 'login_limited') return words.limited(failure.retryAfterSeconds ?? null)
  if (failure.status === 0) return words.away
  return failure.status >= 500 ? words.unavailable : describeFailure(failure)
}

function PasswordForm({ method }: { method: AuthMethod }) {
  const words = say(loginTexts)
  const email = useSignal('')
  const password = useSignal('')
  const isBusy = useSignal(false)
  const failure = useSignal<Failure | null>(null)
  const isMissing = useSignal(false)
  // The wait counts down, so that nobody has to guess.
  useEffect(() => {
    const seconds = failure.value?.retryAfterSeconds
    if (seconds === undefined || seconds <= 1) return
    const timer = setTimeout(() => {
      const now = failure.peek()
      if (now) failure.value = { ...now, retryAfterSeconds: seconds - 1 }
    }, 1000)
    return () => clearTimeout(timer)
  }, [failure.value, failure])
  const submit = async () => {
    isMissing.value = email.value.trim() === '' || password.value === ''
    if (isMissing.value || isBusy.value) return
    isBusy.value = true
    const result = await signIn(method.login_url, email.value.trim(), password.value)
    isBusy.value = false
    // App leads on to the page that was wanted once somebody is signed in.
    if (result.ok) return
    failure.value = result
    password.value = ''
  }
  const error = isMissing.value ? words.required : failure.value ? describe(failure.value) : null
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      {error && (
        <div class="notice" role="alert">
          <div>{error}</div>
        </div>
      )}
      <TextField label={words.email} type="email" autoComplete="username" autofocus {...bind(email)} />
      <TextField label={words.password} type="password" autoComplete="current-password" {...bind(password)} />
      <Action kind="primary" isSubmit>
        {isBusy.value ? words.busy : words.submit}
      </Action>
    </form>
  )
}

/** Why the identity provider did not sign this browser in; the server knows, an address could say anything. */
function Refused() {
  const words = say(loginTexts)
  const refusal = useResource('sign-in refusal', (abort) =>
    call<SignInRefusal>('GET', '/api/auth/oidc/refusal', { signal: abort, keepsSession: true }),
  )
  const { reason, groups, mapped_to_missing: isMissing } = refusal.data ?? {}
  if (reason === undefined) return null
  return (
    <div class="notice" role="alert">
      <div>
        {words.refused[reason]}
        {isMissing && <p>{words.mappedToMissing}</p>}
        {groups !== undefined && (
          <p class="muted">
            {words.groupsCame}: <span class="mono">{groups.join(', ') || '–'}</span>
          </p>
        )}
      </div>
    </div>
  )
}

/** A link to another place to sign in, which leads back to the page that was wanted. */
function MethodLink({ method }: { method: AuthMethod }) {
  const next = query.value.get('next')
  const address = next === null ? method.login_url : `${method.login_url}?next=${encodeURIComponent(next)}`
  return (
    <a class="btn" href={address} target="_self" onClick={expectSession}>
      {say(loginTexts).with(method.display_name)}
    </a>
  )
}

/** The sign-in page: the ways to sign in, and why the last attempt failed. */
export function LoginPage() {
  const words = say(loginTexts)
  useTitle(words.title)
  const methods = useResource('methods', (abort) =>
    call<AuthMethods>('GET', '/api/auth/methods', { signal: abort, keepsSession: true }),
  )
  const list = methods.data?.methods ?? []
  const password = list.find(({ type }) => type === 'password')
  return (
    <main class="login" id="main">
      <div class="stack" style={{ width: 'min(340px, 100%)' }}>
        <div>
          <p class="brand">
            muster<i>.</i>
          </p>
          <p class="muted">{words.lead}</p>
          <h1 class="sr">{words.title}</h1>
        </div>
        {query.value.get('expired') === '1' && (
          <div class="notice t-warn" role="status">
            <div>{words.expired}</div>
          </div>
        )}
        {query.value.get('sso') === 'refused' && <Refused />}
        {query.value.get('sso') === 'unanswered' && (
          <div class="notice t-warn" role="status">
            <div>{words.unanswered}</div>
          </div>
        )}
        {methods.failure && <FailureNotice failure={methods.failure} retry={methods.reload} />}
        {password && <PasswordForm method={password} />}
        {list
          .filter(({ type }) => type !== 'password')
          .map((method) => (
            <MethodLink key={method.id} method={method} />
          ))}
        {methods.data && list.length === 0 && <p class="muted">{words.noMethods}</p>}
        <p>
          <button
            type="button"
            class="btn plain"
            lang={language.value === 'en' ? 'fr' : 'en'}
            onClick={() => chooseLanguage(language.value === 'en' ? 'fr' : 'en')}
          >
            {words.language}
          </button>
        </p>
      </div>
    </main>
  )
}
