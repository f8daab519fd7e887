import { useSignal } from '@preact/signals'
import { useEffect, useId } from 'preact/hooks'
import { nameOf } from '../../../lib/model/workload-names.ts'
import type { AgentAddress } from '../../../lib/wire/connect.ts'
import { commonTexts } from '../i18n/common.ts'
import { connectTexts } from '../i18n/connect.ts'
import { say } from '../i18n/define.ts'
import { instanceName } from '../logic/instances.ts'
import { type Newcomer, NewcomerWatch } from '../logic/newcomers.ts'
import { connectText, type Reached, WAYS, type Way } from '../logic/snippets.ts'
import { api } from '../state/endpoints.ts'
import { fleetLoaded, fleetVersion, workloads } from '../state/fleet.ts'
import { onFrame } from '../state/hub.ts'
import { namedOf, useNames } from '../state/names.ts'
import { may } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'
import { Action, bind, TextField } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import { FailureNotice } from './failure.tsx'
import { Mark } from './state.tsx'
import { toast, toastFailure } from './toast.tsx'

/**
 * The first instance that connects from now on and was not there. Where frames may have been missed, a workload that
 * was not in the list tells the same, on a page that has the list.
 */
function useNewcomer() {
  const came = useSignal<Newcomer | null>(null)
  const round = useSignal(0)
  const known = useSignal<ReadonlySet<string> | null>(null)
  useEffect(() => {
    const watch = new NewcomerWatch()
    return onFrame((frame) => {
      const found = watch.read(frame)
      if (found === null) return
      // A new workload may be told of before the instance that made it.
      const isSame = came.value?.instance === null && came.value.workloadId === found.workloadId
      if (came.value === null || isSame) came.value = found
    })
  }, [round.value])
  const version = fleetVersion.value
  useEffect(() => {
    if (!fleetLoaded.peek()) return
    const before = known.value
    known.value = new Set(workloads.keys())
    if (before === null) return
    const isFresh = (id: string) => !before.has(id) && workloads.get(id)?.connected_instance_count
    const fresh = [...known.value].find(isFresh)
    if (fresh !== undefined) came.value ??= { workloadId: fresh, instance: null }
  }, [version])
  const again = () => {
    came.value = null
    round.value++
  }
  return { came: came.value, again }
}

function Waiting({ onFollow }: { onFollow?: (() => void) | undefined }) {
  const words = say(connectTexts)
  const { came, again } = useNewcomer()
  useNames(came === null ? [] : [came.workloadId])
  const workload = came === null ? undefined : namedOf(came.workloadId)
  return (
    <div role="status" class="waiting">
      {came === null ? (
        <Mark tone="busy" shape="clock">
          {words.waiting}
        </Mark>
      ) : (
        <>
          <Mark tone="ok" shape="full">
            {words.came(came.instance === null ? '' : instanceName(came.instance, workload ?? {}))}
          </Mark>
          <a class="link" href={`/workloads/${came.workloadId}/instances`} onClick={onFollow}>
            {workload === undefined ? came.workloadId : nameOf(workload)}
          </a>
          <Action kind="plain" onClick={again}>
            {words.again}
          </Action>
        </>
      )}
    </div>
  )
}

function Credential({ isNeeded, secret, onFill }: { isNeeded: boolean; secret: string; onFill: () => void }) {
  const words = say(connectTexts)
  if (!isNeeded) return <p class="muted">{words.open}</p>
  if (!may('settings:manage')) return <p class="muted">{words.ask}</p>
  if (secret !== '') return <p class="muted">{words.filled}</p>
  return (
    <p class="muted">
      <Action onClick={onFill}>{words.fill}</Action> {words.fillMore}
    </p>
  )
}

function credentialOf(isNeeded: boolean, secret: string): Reached['credential'] {
  if (!isNeeded) return null
  return secret === '' ? 'env' : secret
}

function File({ text }: { text: string }) {
  const words = say(commonTexts)
  return (
    <div class="file">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section class="snippet" tabIndex={0} aria-label={say(connectTexts).file}>
        <pre>{text}</pre>
      </section>
      <Action
        onClick={() => {
          void navigator.clipboard.writeText(text).then(() => toast(words.copied))
        }}
      >
        {words.copy}
      </Action>
    </div>
  )
}

function Ways({ chosen, onChoose }: { chosen: Way; onChoose: (way: Way) => void }) {
  const words = say(connectTexts)
  const name = useId()
  return (
    <fieldset class="ways">
      <legend class="sr">{words.way}</legend>
      {WAYS.map((way) => (
        <label key={way} class="btn">
          <input type="radio" name={name} checked={way === chosen} onChange={() => onChoose(way)} />
          {words.ways[way]}
        </label>
      ))}
    </fieldset>
  )
}

function Steps({ known }: { known: AgentAddress }) {
  const words = say(connectTexts)
  const way = useSignal<Way>('supervisor')
  const url = useSignal(known.url)
  const secret = useSignal('')
  const fill = async () => {
    const result = await api.agentCredential()
    if (result.ok) secret.value = result.value.secret
    else toastFailure(result)
  }
  const credential = credentialOf(known.needs_secret, secret.value)
  return (
    <>
      <Ways
        chosen={way.value}
        onChoose={(chosen) => {
          way.value = chosen
        }}
      />
      <p>{words.about[way.value]}</p>
      <TextField label={words.address} hint={words.addressFrom[known.host_from]} {...bind(url)} />
      <File text={connectText(way.value, { url: url.value.trim(), credential })} />
      <Credential isNeeded={known.needs_secret} secret={secret.value} onFill={() => void fill()} />
    </>
  )
}

/** How to connect a collector, and the first one that comes. */
export function ConnectGuide({ onFollow }: { onFollow?: () => void }) {
  const address = useResource('agent-address', (abort) => api.agentAddress(abort))
  return (
    <div class="stack connect">
      <Waiting onFollow={onFollow} />
      {address.failure && <FailureNotice failure={address.failure} retry={address.reload} />}
      {address.data && <Steps known={address.data} />}
    </div>
  )
}

/** The same as a dialog. */
export function ConnectDialog({ onClose }: { onClose: () => void }) {
  const words = say(connectTexts)
  return (
    <Dialog title={words.title} onClose={onClose}>
      <ConnectGuide onFollow={onClose} />
      <div class="actions">
        <Action onClick={onClose}>{say(commonTexts).close}</Action>
      </div>
    </Dialog>
  )
}
