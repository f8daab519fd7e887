import { type Signal, useSignal } from '@preact/signals'
import { LIMITED, type Limited, limitOf } from '../../../lib/model/campaign-rules.ts'
import {
  CAMPAIGN_STEPS,
  type CampaignStep,
  hasToBeChanged,
  listSteps,
  needsComment,
  waitsForApproval,
} from '../../../lib/model/campaign-steps.ts'
import type { CampaignLimits, CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { describeRule } from '../i18n/approval-rule.ts'
import { campaignFormTexts } from '../i18n/campaign-form.ts'
import { describeDeadEnd, describeScale, describeUndone } from '../i18n/campaign-sentences.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { type Faults, NO_LIMITS, readTypedLimits, type TypedLimits } from '../logic/campaign-form.ts'
import { haltsAgainOver, isUrged, passedBy, rolledBackToo, saidSince } from '../logic/campaigns.ts'
import { reachOf } from '../logic/scopes.ts'
import { UnknownAuthors } from '../parts/approval-help.tsx'
import { Action, bind, Checkbox, TextArea, TextField, unless } from '../parts/controls.tsx'
import { FormDialog } from '../parts/form.tsx'
import { SaidSince } from '../parts/said-since.tsx'
import { refuseOwn, Tally } from '../parts/tally.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { describeFault } from '../state/use-campaign-form.ts'
import { useDialog } from '../state/use-dialog.ts'

/** How many a limit allows in the wave that the campaign is in; null where that is the standard and nobody said it. */
function limitSaid({ limits: asked, raised = {}, wave, plan }: CampaignRecord, key: Limited): number | null {
  const facts = { asked, raised, wave, targetCount: plan?.target_count ?? 0 }
  return asked[key] === undefined && raised[key] === undefined ? null : limitOf(key, facts)
}

/** How many may be in a bad way from now on: a campaign that halted over a limit would only halt again. */
function RaisedLimits({
  of,
  typed,
  faults,
}: {
  of: CampaignRecord
  typed: Signal<TypedLimits>
  faults: Faults
}) {
  const words = say(campaignTexts)
  const { limit } = say(campaignFormTexts)
  return (
    <>
      {LIMITED.map((key) => {
        const fault = faults[`limits.${key}`]
        const now = passedBy(of).find(({ gate }) => gate === key)?.limit ?? limitSaid(of, key)
        return (
          <TextField
            key={key}
            label={limit[key]}
            type="number"
            value={typed.value[key]}
            onValue={(text) => {
              typed.value = { ...typed.value, [key]: text }
            }}
            hint={words.limitNow(now)}
            error={fault === undefined ? null : describeFault(fault)}
          />
        )
      })}
    </>
  )
}

/** What a step does and to whom, before somebody takes it. */
function StepFacts({ of, step }: { of: CampaignRecord; step: CampaignStep }) {
  const words = say(campaignTexts)
  const back = rolledBackToo(of)
  return (
    <>
      {(step === 'request' || step === 'approve' || step === 'start') && (
        <p>
          <b>{of.name}</b>: {describeScale(of)}
        </p>
      )}
      <p>{words.hint[step]}</p>
      {(step === 'abort' || step === 'roll-back') && <p>{describeUndone(step, of)}</p>}
      {step === 'roll-back' && back !== null && (
        <p class="warn">{words.byItselfBack(back.count, back.without_base)}</p>
      )}
      {(step === 'request' || step === 'approve') && of.approval_rule && (
        <p>{describeRule(of.approval_rule)}</p>
      )}
      {step === 'approve' && of.tally && <Tally of={of.tally} help={of.help} />}
      {step === 'approve' && <UnknownAuthors of={of.help} />}
      {step === 'start' && <SaidSince said={saidSince(of)} />}
      {step === 'continue' && !hasToBeChanged(of.counts) && <p class="warn">{words.comesToEnd}</p>}
      {step === 'continue' && of.stages_halted !== undefined && <p>{words.stagesWait}</p>}
    </>
  )
}

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
  const typed = useSignal(NO_LIMITS)
  const { limits, faults } = readTypedLimits(typed.value)
  const production = step === 'request' || step === 'start' ? (of.plan?.production_count ?? 0) : 0
  const missing =
    needsComment(step, limits) && comment.value.trim() === ''
      ? words.comment
      : production > 0 && !isConfirmed.value
        ? words.tickProduction
        : null
  const [fault] = Object.values(faults)
  const tooLow = step === 'continue' ? describeTooLow(of, limits) : null
  const decide = async () => {
    const result = await api.decideCampaign(of.id, step, {
      comment: comment.value,
      plan_hash: of.plan_hash ?? '',
      prod_confirmation: isConfirmed.value,
      limits,
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
      reason={fault !== undefined ? describeFault(fault) : (tooLow ?? missing)}
    >
      <StepFacts of={of} step={step} />
      {step === 'continue' && <RaisedLimits of={of} typed={typed} faults={faults} />}
      <TextArea label={words.comment} {...bind(comment)} />
      {production > 0 && <Checkbox {...bind(isConfirmed)}>{words.confirmProduction(production)}</Checkbox>}
    </FormDialog>
  )
}

/** Say something about a campaign without deciding it. */
function CommentDialog({
  of,
  onClose,
  onDone,
}: {
  of: CampaignRecord
  onClose: () => void
  onDone: () => void
}) {
  const words = say(campaignTexts)
  const comment = useSignal('')
  const send = async () => {
    const result = await api.commentCampaign(of.id, comment.value.trim())
    if (!result.ok) return toastFailure(result)
    toast(waitsForApproval(of) ? words.commentTold : words.commentToldApproved)
    onDone()
  }
  return (
    <FormDialog
      title={words.commentStep}
      send={words.commentStep}
      onSend={send}
      onClose={onClose}
      kind="primary"
      reason={comment.value.trim() === '' ? words.comment : null}
    >
      <p>{words.commentHint}</p>
      <TextArea label={words.comment} {...bind(comment)} />
    </FormDialog>
  )
}

/** Why a campaign would halt again at once with these limits; null where it would not, or nobody knows. */
function describeTooLow(of: CampaignRecord, limits: CampaignLimits): string | null {
  const low = haltsAgainOver(of, limits)
  return low && say(campaignTexts).raiseNeeded(say(campaignFormTexts).limit[low.gate as Limited], low.value)
}

/** Why the reader may not take this step, or why it leads nowhere; for an approval also why hers would not count. */
const refuseStep = (of: CampaignRecord, step: CampaignStep): string | null =>
  unless(CAMPAIGN_STEPS[step].permission, reachOf(of)) ??
  describeDeadEnd(step, of) ??
  (step === 'approve' ? refuseOwn(of.tally, of.help) : null)

/** What can be decided about a campaign now. */
export function CampaignSteps({ of, reload }: { of: CampaignRecord; reload: () => void }) {
  const words = say(campaignTexts)
  const { about, open, close, done } = useDialog<CampaignStep | 'comment'>(reload)
  return (
    <>
      {listSteps(of).map((step, index) => (
        <Action
          key={step}
          kind={index === 0 && isUrged(step, of) ? 'primary' : ''}
          reason={refuseStep(of, step)}
          onClick={() => open(step)}
        >
          {words.step[step]}
        </Action>
      ))}
      {(of.status === 'requested' || of.status === 'approved') && (
        <Action reason={unless('config:request', reachOf(of))} onClick={() => open('comment')}>
          {words.commentStep}
        </Action>
      )}
      {about === 'comment' ? (
        <CommentDialog of={of} onClose={close} onDone={done} />
      ) : (
        about !== null && <StepDialog of={of} step={about} onClose={close} onDone={done} />
      )}
    </>
  )
}
