import { useSignal } from '@preact/signals'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { type CampaignStep, listSteps, needsComment } from '../logic/campaigns.ts'
import { Action, Checkbox, TextArea, unless } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'

function StepDialog({
  of,
  step,
  onClose,
  onDone,
}: {
  of: CampaignRecord
  step: CampaignStep
  onClose: () => void
  onDone: () => void
}) {
  const words = say(campaignTexts)
  const comment = useSignal('')
  const isConfirmed = useSignal(false)
  const isBusy = useSignal(false)
  const production = step === 'request' ? (of.plan?.production_count ?? 0) : 0
  const isMissing =
    (needsComment(step) && comment.value.trim() === '') || (production > 0 && !isConfirmed.value)
  const go = async () => {
    if (isBusy.value || isMissing) return
    isBusy.value = true
    const result = await api.decideCampaign(of.id, step, {
      comment: comment.value,
      plan_hash: of.plan_hash ?? '',
      prod_confirmation: isConfirmed.value,
    })
    isBusy.value = false
    if (!result.ok) return toastFailure(result)
    toast(words.told[step])
    onDone()
  }
  return (
    <Dialog title={words.step[step]} onClose={onClose}>
      <div class="stack">
        <p>{words.hint[step]}</p>
        <TextArea
          label={words.comment}
          value={comment.value}
          onValue={(text) => {
            comment.value = text
          }}
        />
        {production > 0 && (
          <Checkbox
            value={isConfirmed.value}
            onValue={(isOn) => {
              isConfirmed.value = isOn
            }}
          >
            {words.confirmProduction(production)}
          </Checkbox>
        )}
        <div class="actions">
          <Action onClick={onClose}>{say(commonTexts).cancel}</Action>
          <Action
            kind={step === 'abort' || step === 'roll-back' ? 'danger primary' : 'primary'}
            reason={isMissing ? words.comment : null}
            onClick={() => void go()}
          >
            {words.step[step]}
          </Action>
        </div>
      </div>
    </Dialog>
  )
}

/** What can be decided about a campaign now. */
export function CampaignSteps({ of, reload }: { of: CampaignRecord; reload: () => void }) {
  const words = say(campaignTexts)
  const asking = useSignal<CampaignStep | null>(null)
  return (
    <>
      {listSteps(of).map((step, index) => (
        <Action
          key={step}
          kind={index === 0 ? 'primary' : ''}
          reason={unless('workload:push_config')}
          onClick={() => {
            asking.value = step
          }}
        >
          {words.step[step]}
        </Action>
      ))}
      {asking.value !== null && (
        <StepDialog
          of={of}
          step={asking.value}
          onClose={() => {
            asking.value = null
          }}
          onDone={() => {
            asking.value = null
            reload()
          }}
        />
      )}
    </>
  )
}
