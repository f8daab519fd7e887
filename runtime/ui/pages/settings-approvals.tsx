import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ApprovalPolicyRecord, ApprovalPolicyRequest } from '../../../lib/wire/approval-policy.ts'
import { describePolicyRule, policyTexts } from '../i18n/approval-policy.ts'
import { say } from '../i18n/define.ts'
import { formatExact } from '../i18n/format.ts'
import { classesForTwo } from '../logic/approval-classes.ts'
import { Action, Checkbox, Select, TextField, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { me } from '../state/session.ts'
import { useApprovalPolicy } from '../state/use-approval-policy.ts'

const CLASSES = ['production', 'other', 'unlabelled'] as const
type Class = (typeof CLASSES)[number]
type Rule = ApprovalPolicyRequest[Class]

/** One class as it is being edited; hours are what was typed. */
interface Edited {
  approvals: string
  authorCounts: boolean
  hours: string
}

const toEdited = ({ approvals, author_counts, valid_hours }: Rule): Edited => ({
  approvals: String(approvals),
  authorCounts: author_counts,
  hours: String(valid_hours ?? ''),
})

/** What the fields of a policy show. */
const toFields = ({ production, other, unlabelled }: ApprovalPolicyRequest): Record<Class, Edited> => ({
  production: toEdited(production),
  other: toEdited(other),
  unlabelled: toEdited(unlabelled),
})

const areHours = (text: string) =>
  text === '' || (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 8_760)

const toRule = ({ approvals, authorCounts, hours }: Edited): Rule => ({
  approvals: Number(approvals),
  author_counts: authorCounts,
  ...(hours === '' ? {} : { valid_hours: Number(hours) }),
})

function RuleFields({
  name,
  edited,
  onEdited,
}: {
  name: Class
  edited: Edited
  onEdited: (edited: Edited) => void
}) {
  const words = say(policyTexts)
  return (
    <fieldset class="stack" aria-label={words.class[name]}>
      <legend class="legend">{words.class[name]}</legend>
      <span class="hint">{words.where[name]}</span>
      <div class="form">
        <Select
          label={words.approvals}
          value={edited.approvals}
          options={[
            ['1', words.one],
            ['2', words.two],
          ]}
          onValue={(approvals) => onEdited({ ...edited, approvals })}
        />
        <TextField
          label={words.hours}
          hint={words.hoursHint}
          error={areHours(edited.hours) ? null : words.badHours}
          value={edited.hours}
          onValue={(hours) => onEdited({ ...edited, hours: hours.trim() })}
        />
      </div>
      <Checkbox value={edited.authorCounts} onValue={(authorCounts) => onEdited({ ...edited, authorCounts })}>
        {words.author}
      </Checkbox>
    </fieldset>
  )
}

/** Ask for a policy, and say what came of that. */
async function ask(request: ApprovalPolicyRequest, reload: () => void): Promise<void> {
  const words = say(policyTexts)
  const result = await api.changeApprovalPolicy(request)
  if (!result.ok) return toastFailure(result)
  toast(result.value.pending === undefined ? words.saved : words.waiting)
  reload()
}

/** A policy that asks for less than the present one, and waits for another person to confirm it. */
export function PolicyWaiting({ policy, reload }: { policy: ApprovalPolicyRecord; reload: () => void }) {
  const words = say(policyTexts)
  const { pending } = policy
  if (!pending) return null
  const reason = unless('settings:manage') ?? (pending.needs_another ? words.notYours : null)
  const changed = CLASSES.filter(
    (name) => describePolicyRule(policy[name]) !== describePolicyRule(pending[name]),
  )
  return (
    <div class="notice t-warn" role="status">
      <div>
        <b>{words.waits(pending.by)}</b> {words.waitsUntil(formatExact(pending.effective_at))}
        <ul class="bullets">
          {changed.map((name) => (
            <li key={name}>
              {words.ruleChanges(
                words.class[name],
                describePolicyRule(policy[name]),
                describePolicyRule(pending[name]),
              )}
            </li>
          ))}
        </ul>
      </div>
      {pending.by_id !== me.value?.id && (
        <Action reason={reason} isReasonShown onClick={() => void ask(pending, reload)}>
          {words.confirm}
        </Action>
      )}
    </div>
  )
}

/** Which accounts count as two people, and which do not. */
export function SecondPerson() {
  const { another, anotherNot, anotherCounts } = say(policyTexts)
  return (
    <div class="muted">
      <p>{another}</p>
      <ul class="bullets">
        <li>{anotherNot}</li>
        <li>{anotherCounts}</li>
      </ul>
    </div>
  )
}

/** Says that nobody counts for what somebody else asks for, and what ends that. */
export function NoSecondPerson({ policy }: { policy: ApprovalPolicyRecord | null }) {
  const words = say(policyTexts)
  if (!policy?.lacks_second_person || classesForTwo(policy).length === 0) return null
  return (
    <div class="notice t-warn" role="status">
      <div>
        <b>{words.noSecond}</b> {words.noSecondNext}
      </div>
    </div>
  )
}

/** What makes the policy count otherwise than it says. */
function Standing({ policy }: { policy: ApprovalPolicyRecord }) {
  const words = say(policyTexts)
  return (
    <>
      {policy.sole_approver && (
        <div class="notice t-warn" role="status">
          <div>{words.sole}</div>
        </div>
      )}
      {policy.unreadable !== undefined && (
        <div class="notice t-bad" role="status">
          <div>{words.unreadable(policy.unreadable)}</div>
        </div>
      )}
    </>
  )
}

function PolicyForm({ policy, reload }: { policy: ApprovalPolicyRecord; reload: () => void }) {
  const words = say(policyTexts)
  const { production, other, unlabelled, pending } = policy
  const edited = useSignal(toFields(policy))
  // Once another policy counts, or waits, the fields show what counts: else saving them would ask for what was before.
  useEffect(() => {
    edited.value = toFields(policy)
  }, [JSON.stringify([production, other, unlabelled, pending])])
  const submit = () => {
    const now = edited.value
    if (!CLASSES.every((name) => areHours(now[name].hours))) return
    const rules = { production: toRule(now.production), other: toRule(now.other) }
    void ask({ ...rules, unlabelled: toRule(now.unlabelled) }, reload)
  }
  return (
    <>
      <Standing policy={policy} />
      <NoSecondPerson policy={policy} />
      <PolicyWaiting policy={policy} reload={reload} />
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {CLASSES.map((name) => (
          <RuleFields
            key={name}
            name={name}
            edited={edited.value[name]}
            onEdited={(next) => {
              edited.value = { ...edited.value, [name]: next }
            }}
          />
        ))}
        <div class="actions">
          <Action kind="primary" isSubmit>
            {words.save}
          </Action>
        </div>
      </form>
    </>
  )
}

/** What an approval takes, by where the config is to run. */
export function ApprovalsSection() {
  const words = say(policyTexts)
  const policy = useApprovalPolicy(true)
  return (
    <>
      <p class="muted">{words.lead}</p>
      <SecondPerson />
      <Loaded of={policy}>{(found) => <PolicyForm policy={found} reload={policy.reload} />}</Loaded>
    </>
  )
}
