import { useSignal } from '@preact/signals'
import type { CampaignMatch } from '../../../lib/wire/campaigns.ts'
import { campaignFormTexts } from '../i18n/campaign-form.ts'
import { say } from '../i18n/define.ts'
import { type CampaignValues, type Fault, fieldOf, readScope, readValues } from '../logic/campaign-form.ts'
import type { Failure } from './api.ts'
import { api } from './endpoints.ts'
import { textKey, useDebounced } from './use-debounced.ts'
import { useResource } from './use-resource.ts'

const COUNT_DELAY_MS = 300

/** A campaign that is being written down, with what is wrong with it and whom it means. */
export interface CampaignForm {
  values: CampaignValues
  set(change: Partial<CampaignValues>): void
  /** What is wrong with a field, in the reader's words; null when nothing is, or nothing was tried yet. */
  errorOf(field: string): string | null
  /** Whom it means; null while that is not known. */
  match: CampaignMatch | null
  isCounting: boolean
  /** What is asked for; null where something is wrong with it, which is shown from then on. */
  read(): ReturnType<typeof readValues>['request'] | null
  /** Show a refusal beside the field that it is about. Answers whether there is such a field. */
  refuse(failure: Failure, sentence: string): boolean
}

/** A fault in the reader's words. */
export function describeFault(fault: Fault): string {
  const words = say(campaignFormTexts)
  if (fault.kind === 'line') return words.faultLine(fault.about)
  return fault.kind === 'number' ? words.faultNumber(fault.min, fault.max) : words.fault[fault.kind]
}

/** Count whom the typed scope means, once it has rested for a moment; nobody is asked while it cannot be read. */
function useMatch(values: CampaignValues) {
  const { scope, faults } = readScope(values)
  const fleetConfigId = values.version?.fleetConfigId ?? ''
  const isReadable = Object.keys(faults).length === 0
  const asked = useDebounced(isReadable ? JSON.stringify({ scope, fleetConfigId }) : '', COUNT_DELAY_MS)
  return useResource(asked === '' || !isReadable ? null : `campaign-match:${textKey(asked)}`, (abort) => {
    const { scope, fleetConfigId } = JSON.parse(asked)
    return api.matchCampaign(
      { scope, ...(fleetConfigId === '' ? {} : { fleet_config_id: fleetConfigId }) },
      abort,
    )
  })
}

/** The state of the form of a campaign, which begins with these values. */
export function useCampaignForm(
  begin: CampaignValues,
  sayFailure: (failure: Failure) => string,
): CampaignForm {
  const values = useSignal(begin)
  const isTried = useSignal(false)
  const refused = useSignal<{ field: string; text: string } | null>(null)
  const match = useMatch(values.value)
  const { faults } = readValues(values.value)
  const errorOf = (field: string): string | null => {
    const fault = faults[field]
    // What is not filled in yet is no fault before somebody tries to send it.
    if (fault !== undefined && (isTried.value || fault.kind !== 'missing')) return describeFault(fault)
    if (refused.value?.field === field) return refused.value.text
    return match.failure !== null && fieldOf(match.failure) === field ? sayFailure(match.failure) : null
  }
  return {
    values: values.value,
    set(change) {
      refused.value = null
      values.value = { ...values.value, ...change }
    },
    errorOf,
    match: match.data,
    isCounting: match.isLoading,
    read() {
      isTried.value = true
      const { request, faults } = readValues(values.value)
      return Object.keys(faults).length === 0 ? request : null
    },
    refuse(failure, text) {
      const field = fieldOf(failure)
      refused.value = field === null ? null : { field, text }
      return field !== null
    },
  }
}
