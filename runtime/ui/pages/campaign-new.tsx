import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { campaignIs } from '../../../lib/model/campaign-states.ts'
import type { CampaignCreateRequest, CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { campaignFormTexts } from '../i18n/campaign-form.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { type CampaignValues, canBeTyped, emptyValues, toValues } from '../logic/campaign-form.ts'
import { Action, ActionLink, unless } from '../parts/controls.tsx'
import { describeFailure, Loaded } from '../parts/failure.tsx'
import { Head } from '../parts/page.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import type { Result } from '../state/api.ts'
import { api } from '../state/endpoints.ts'
import { navigate, query } from '../state/router.ts'
import { carriedIds } from '../state/selection.ts'
import { useCampaignForm } from '../state/use-campaign-form.ts'
import { useResource } from '../state/use-resource.ts'
import { ChangeField, WhatFields, WhoFields } from './campaign-form.tsx'
import { LimitFields, PaceFields, WaveFields } from './campaign-form-rules.tsx'

type Send = (request: CampaignCreateRequest) => Promise<Result<CampaignRecord>>

/** Sends what is asked for, plans it, and goes to its page; what is wrong is shown beside its field. */
function useSaving(form: ReturnType<typeof useCampaignForm>, send: Send) {
  const isBusy = useSignal(false)
  const top = useRef<HTMLFormElement>(null)
  /** Bring the first field with an error into view, once it is drawn. */
  const showError = () =>
    requestAnimationFrame(() => top.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
  const save = async () => {
    if (isBusy.value) return
    const request = form.read()
    if (request === null) {
      toast(say(campaignFormTexts).faults, 'bad')
      return showError()
    }
    isBusy.value = true
    const stored = await send(request)
    isBusy.value = false
    if (!stored.ok) {
      if (!form.refuse(stored, describeFailure(stored))) return toastFailure(stored)
      return showError()
    }
    const planned = await api.planCampaign(stored.value.id)
    if (!planned.ok) toastFailure(planned)
    navigate(`/campaigns/${stored.value.id}`)
  }
  return { top, save }
}

/** The form; `send` stores what is asked for, which is planned then. */
function CampaignForm({ begin, send }: { begin: CampaignValues; send: Send }) {
  const form = useCampaignForm(begin, describeFailure)
  const { top, save } = useSaving(form, send)
  const reason = unless('config:request')
  return (
    <form
      ref={top}
      class="stack"
      style={{ marginTop: '24px' }}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (reason === null) void save()
      }}
    >
      <div class="two">
        <div class="stack">
          <WhatFields of={form} />
          <ChangeField of={form} />
          <WhoFields of={form} />
        </div>
        <div class="stack">
          <WaveFields of={form} />
          <LimitFields of={form} />
          <PaceFields of={form} />
        </div>
      </div>
      <div class="actions">
        <Action kind="primary" isSubmit reason={reason}>
          {say(campaignTexts).save}
        </Action>
      </div>
    </form>
  )
}

/** The version that the address names, for a campaign that carries it. */
function versionOfAddress(): Partial<CampaignValues> {
  const fleetConfigId = query.value.get('fleet_config') ?? ''
  const number = Number(query.value.get('version') ?? '')
  if (fleetConfigId === '' || !Number.isInteger(number) || number < 1) return {}
  const words = say(campaignFormTexts)
  return { kind: 'version', version: { fleetConfigId, number }, name: words.version(number) }
}

/** The form, filled in with what another campaign asked for. */
function Copy({ id }: { id: string }) {
  const campaign = useResource(`campaign-copy:${id}`, (abort) => api.campaign(id, abort))
  return (
    <Loaded of={campaign}>
      {(of) =>
        canBeTyped(of) ? (
          <CampaignForm begin={toValues(of)} send={api.createCampaign} />
        ) : (
          <p class="empty">{say(campaignFormTexts).cannotEdit}</p>
        )
      }
    </Loaded>
  )
}

/** Write down one change for many workloads, also what an earlier campaign asked for; its plan begins at once. */
export function NewCampaignPage() {
  const from = query.value.get('from')
  const begin = { ...emptyValues(), ids: carriedIds(), ...versionOfAddress() }
  return (
    <>
      <Head title={say(campaignFormTexts).title}>
        <ActionLink href="/campaigns">← {say(campaignTexts).title}</ActionLink>
      </Head>
      {from === null ? <CampaignForm begin={begin} send={api.createCampaign} /> : <Copy id={from} />}
    </>
  )
}

function Edit({ of }: { of: CampaignRecord }) {
  const words = say(campaignFormTexts)
  if (!campaignIs(of.status, 'unasked')) return <p class="empty">{words.gone}</p>
  if (!canBeTyped(of)) return <p class="empty">{words.cannotEdit}</p>
  return <CampaignForm begin={toValues(of)} send={(request) => api.changeCampaign(of.id, request)} />
}

/** Change a campaign that nobody was asked to approve yet; it is planned anew. */
export function EditCampaignPage({ params }: { params: Record<string, string> }) {
  const id = params['id'] ?? ''
  const words = say(campaignFormTexts)
  const campaign = useResource(`campaign-edit:${id}`, (abort) => api.campaign(id, abort))
  return (
    <>
      <Head title={words.editTitle}>
        <ActionLink href={`/campaigns/${id}`}>← {words.back}</ActionLink>
      </Head>
      <Loaded of={campaign}>{(of) => <Edit of={of} />}</Loaded>
    </>
  )
}
