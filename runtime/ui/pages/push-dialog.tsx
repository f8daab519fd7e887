import { useSignal } from '@preact/signals'
import { environmentOf } from '../../../lib/model/workload-states.ts'
import type { ApprovalPushRequest, ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { FleetStanding } from '../../../lib/wire/fleet-configs.ts'
import type { ConfigPlan } from '../../../lib/wire/plan.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { changeTexts } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { isWaiting, saidSinceApproval } from '../logic/requests.ts'
import { areStagesSuggested, listStageSizes } from '../logic/stages.ts'
import { bind, TextArea, TextField } from '../parts/controls.tsx'
import { EditionLine } from '../parts/edition.tsx'
import { FleetStandingNote } from '../parts/fleet-standing.tsx'
import { FormDialog } from '../parts/form.tsx'
import { SaidSince } from '../parts/said-since.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { callOf } from '../state/names.ts'
import { navigate } from '../state/router.ts'
import { can } from '../state/session.ts'
import type { Resource } from '../state/use-resource.ts'
import { Stages, useStages } from './push-stages.tsx'
import { FailedBefore } from './review-notices.tsx'

interface PushDialogProps {
  workload: WorkloadRecord
  approval: ApprovalRecord
  isProduction: boolean
  plan: ConfigPlan | null
  standing: Resource<FleetStanding>
  isBreakGlass: boolean
  onClose: () => void
  reload: () => void
}

/** What is filled in before a push, and why it cannot be pushed yet. */
function usePushForm({ workload, isProduction, plan, isBreakGlass }: PushDialogProps) {
  const words = say(changeTexts)
  const comment = useSignal('')
  const typed = useSignal('')
  const asksProduction = useSignal(isProduction)
  const connected = workload.connected_instance_count
  const isStaged = areStagesSuggested(plan, { isProduction, connected })
  const stages = useStages(isStaged && can('config_safety.canary_rollout'), connected)
  const name = callOf(workload)
  const isTyped = typed.value.trim() === name
  const lacksComment = comment.value.trim() === ''
  const findReason = () => {
    if (lacksComment && isBreakGlass) return words.breakGlassNeeds
    if (asksProduction.value && lacksComment) return words.pushNeedsComment
    if (asksProduction.value && !isTyped) return words.pushTyped(name)
    return stages.fault
  }
  const said = comment.value.trim()
  const request: ApprovalPushRequest = {
    comment: said,
    prod_double_confirmed: asksProduction.value && isTyped,
    // Why the glass is broken is all that there is to note of it.
    ...(isBreakGlass ? { break_glass: true, break_glass_reason: said } : {}),
    ...(stages.wanted ? { stages: stages.wanted } : {}),
  }
  return { comment, typed, asksProduction, stages, request, reason: findReason() }
}

/** Show the rollout of a push that was just made, or the push where it has none. */
async function showPush(
  workload: WorkloadRecord,
  hash: string,
  pushId: string | undefined,
  isStaged: boolean,
) {
  const rollouts = isStaged ? await api.rollouts(workload.id) : null
  const rollout = rollouts?.ok ? rollouts.value.find((one) => one.push_id === pushId) : undefined
  if (rollout) return navigate(`/workloads/${workload.id}/rollouts/${rollout.id}`)
  navigate(`/workloads/${workload.id}/pushes/${hash}${pushId ? `?push=${pushId}` : ''}`)
}

/** Ask what a push needs, more of it in production and where the glass is broken, and push. */
export function PushDialog(props: PushDialogProps) {
  const { workload, approval, standing, isBreakGlass, onClose, reload } = props
  const words = say(changeTexts)
  const form = usePushForm(props)
  const { stages, asksProduction } = form
  const { wanted } = stages
  const name = callOf(workload)
  // What is approved lacks no approval: it is a freeze that is broken.
  const isApproved = !isWaiting(approval)
  const connected = workload.connected_instance_count
  const push = async () => {
    const result = await api.push(workload.id, approval.id, form.request)
    if (!result.ok) {
      if (result.code === 'production_double_confirmation_required') asksProduction.value = true
      return toastFailure(result)
    }
    toast(words.pushed)
    reload()
    const { config_hash: hash, push_id: pushId } = result.value
    await showPush(workload, hash ?? approval.draft_hash, pushId, wanted !== null)
  }
  return (
    <FormDialog
      title={isBreakGlass ? words.breakGlass : words.push}
      send={isBreakGlass ? (isApproved ? words.breakFreezeGo : words.breakGlassGo) : words.pushNow}
      onSend={push}
      onClose={onClose}
      kind={isBreakGlass ? 'danger primary' : 'primary'}
      reason={form.reason}
      isAlarm={isBreakGlass}
    >
      <p>
        {words.pushReach(
          name,
          approval.target_env || environmentOf(workload),
          connected,
          wanted && listStageSizes(wanted, connected),
        )}
      </p>
      <SaidSince said={saidSinceApproval(approval)} />
      <FailedBefore workloadId={workload.id} hash={approval.draft_hash} />
      <FleetStandingNote workloadId={workload.id} standing={standing} isPush />
      {isBreakGlass && <p class="bad">{isApproved ? words.breakFreezeLead : words.breakGlassLead}</p>}
      <TextArea
        label={isBreakGlass ? words.breakGlassReason : words.pushComment(asksProduction.value)}
        {...bind(form.comment)}
      />
      {can('config_safety.canary_rollout') && connected > 1 && <Stages of={stages} connected={connected} />}
      <EditionLine parts={['canary_rollout']} />
      {asksProduction.value && (
        <TextField label={words.pushTyped(name)} autoComplete="off" {...bind(form.typed)} />
      )}
    </FormDialog>
  )
}
