import { useSignal } from '@preact/signals'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { type CampaignStep, listSteps, needsComment, rolledBackToo } from '../logic/campaigns.ts'
import { reachOf } from '../logic/scopes.ts'
import { Action, bind, Checkbox, TextArea, unless } from '../parts/controls.tsx'
import { FormDialog } from '../parts/form.tsx'
import { refuseOwn, Tally } from '../parts/tally.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { useDialog } from '../state/use-dialog.ts'

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
  const production = step === 'request' ? (of.plan?.production_count ?? 0) : 0
  const back = rolledBackToo(of)
  const isMissing =
    (needsComment(step) && comment.value.trim() === '') || (production > 0 && !isConfirmed.value)
  const decide = async () => {
    const result = await api.decideCampaign(of.id, step, {
      comment: comment.value,
      plan_hash: of.plan_hash ?? '',
      prod_confirmation: isConfirmed.value,
    })
    if (!result.ok) return toastFailure(result)
    toast(words.told[step])
    onDone()
  }
  return (
    <FormDialog
      title={words.step[step]}
      send={words.step[step]}
      onSend={decide}
      onClose={onClose}
      kind={step === 'abort' || step === 'roll-back' ? 'danger primary' : 'primary'}
      reason={isMissing ? words.comment : null}
    >
      <p>{words.hint[step]}</p>
      {step === 'roll-back' && back !== null && (
        <p class="warn">{words.byItselfBack(back.count, back.without_base)}</p>
      )}
      {step === 'approve' && of.tally && <Tally of={of.tally} />}
      <TextArea label={words.comment} {...bind(comment)} />
      {production > 0 && <Checkbox {...bind(isConfirmed)}>{words.confirmProduction(production)}</Checkbox>}
    </FormDialog>
  )
}

/** Why the reader may not take this step; for an approval also why hers would not count. */
function refuseStep(of: CampaignRecord, step: CampaignStep): string | null {
  if (step !== 'approve' && step !== 'reject') return unless('workload:push_config', reachOf(of))
  return unless('config:approve', reachOf(of)) ?? (step === 'approve' ? refuseOwn(of.tally) : null)
}

/** What can be decided about a campaign now. */
export function CampaignSteps({ of, reload }: { of: CampaignRecord; reload: () => void }) {
  const words = say(campaignTexts)
  const { about, open, close, done } = useDialog<CampaignStep>(reload)
  return (
    <>
      {listSteps(of).map((step, index) => (
        <Action
          key={step}
          kind={index === 0 ? 'primary' : ''}
          reason={refuseStep(of, step)}
          onClick={() => open(step)}
        >
          {words.step[step]}
        </Action>
      ))}
      {about !== null && <StepDialog of={of} step={about} onClose={close} onDone={done} />}
    </>
  )
}
