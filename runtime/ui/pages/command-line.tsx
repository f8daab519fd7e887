import { useSignal } from '@preact/signals'
import {
  answerAddress,
  type CommandLineLogin,
  compareCode,
  isCommandLineLogin,
} from '../../../lib/model/command-line-login.ts'
import { commandLineTexts } from '../i18n/command-line.ts'
import { say } from '../i18n/define.ts'
import { Action } from '../parts/controls.tsx'
import { FailureNotice } from '../parts/failure.tsx'
import { Head, Pairs } from '../parts/page.tsx'
import type { Failure } from '../state/api.ts'
import { api } from '../state/endpoints.ts'
import { query } from '../state/router.ts'
import { me } from '../state/session.ts'

/** What the command line put into the address. */
function readLogin(): CommandLineLogin {
  const text = (name: string) => query.value.get(name) ?? ''
  return {
    challenge: text('challenge'),
    state: text('state'),
    machine: text('machine'),
    port: /^\d{4,5}$/.test(text('port')) ? Number(text('port')) : 0,
  }
}

function Question({ login }: { login: CommandLineLogin }) {
  const words = say(commandLineTexts)
  const isBusy = useSignal(false)
  const failure = useSignal<Failure | null>(null)
  const { challenge, state, port, machine } = login
  const confirm = async () => {
    if (isBusy.value) return
    isBusy.value = true
    const result = await api.confirmCommandLine({ challenge, state, port, machine })
    isBusy.value = false
    if (!result.ok) failure.value = result
    else window.location.assign(result.value.redirect_to)
  }
  return (
    <div class="stack">
      <p>{words.lead}</p>
      <p class="compare-code mono">
        <span class="sr">{words.code}: </span>
        {compareCode(challenge)}
      </p>
      <Pairs
        of={[
          [words.who, me.value?.email ?? ''],
          [words.machine, machine],
          [words.place, words.placeOf(port)],
          [words.rights, words.rightsOf],
          [words.lasts, words.lastsOf],
        ]}
      />
      {failure.value && <FailureNotice failure={failure.value} />}
      <div class="actions">
        <Action kind="primary" onClick={() => void confirm()}>
          {words.confirm}
        </Action>
        <a class="btn" href={answerAddress(port, { error: 'denied', state })} target="_self">
          {words.cancel}
        </a>
      </div>
    </div>
  )
}

/** Whether a command line of this machine may act as whoever is signed in; afterwards, how that ended. */
export function CommandLinePage() {
  const words = say(commandLineTexts)
  const end = query.value.get('end')
  const login = readLogin()
  const ended = end !== null && Object.hasOwn(words.end, end) ? words.end[end] : undefined
  const isQuestion = ended === undefined && isCommandLineLogin(login)
  return (
    <>
      <Head title={ended === undefined ? words.title : 'muster login'} />
      {isQuestion ? <Question login={login} /> : <p role="status">{ended ?? words.wrong}</p>}
    </>
  )
}
