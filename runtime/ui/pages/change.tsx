import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { baseOfReport } from '../../../lib/configs/effective/base-of-report.ts'
import { namesProduction } from '../../../lib/model/production.ts'
import { environmentOf } from '../../../lib/model/workload-states.ts'
import type { FleetStanding } from '../../../lib/wire/fleet-configs.ts'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { ConfigPlan } from '../../../lib/wire/plan.ts'
import type { ValidationMessage, ValidationResult } from '../../../lib/wire/validation.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { describeGroup, describeWhy } from '../i18n/causes.ts'
import { changeTexts, sayNotOurs } from '../i18n/change.ts'
import { findingTexts, translated } from '../i18n/check-findings.ts'
import { language, say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { gitTexts } from '../i18n/git.ts'
import { reviewNoticeTexts } from '../i18n/review-notices.ts'
import { nameRevision, sideTexts } from '../i18n/sides.ts'
import { listComponents, pathOfComponent } from '../logic/health.ts'
import { lineOfFault } from '../logic/still-there.ts'
import { faultLine } from '../logic/yaml-lines.ts'
import { ApprovalOutlook } from '../parts/approval-outlook.tsx'
import { CodeEditor, type CodeMark, CompareView } from '../parts/code.tsx'
import { Action, ActionLink, bind, Checkbox, TextArea, TextField, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { useStanding } from '../parts/fleet-standing.tsx'
import { Form } from '../parts/form.tsx'
import { GitNotice } from '../parts/git-notice.tsx'
import { LeftOutFor } from '../parts/left-out-for.tsx'
import { Head } from '../parts/page.tsx'
import { Mark } from '../parts/state.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { headingOf } from '../parts/workload-link.tsx'
import { keepDraft, readDraft, readDraftAside, readDraftFrom, setDraftAside } from '../state/drafts.ts'
import { api } from '../state/endpoints.ts'
import { callOf } from '../state/names.ts'
import { navigate, query, setQuery } from '../state/router.ts'
import { can, may } from '../state/session.ts'
import { textKey, useDebounced } from '../state/use-debounced.ts'
import { useFailing } from '../state/use-failing.ts'
import { useInGit } from '../state/use-in-git.ts'
import { isSettled, type Resource, touchesWorkload, useOnce, useResource } from '../state/use-resource.ts'
import { type Base, BaseMoved, loadBase, useBefore, useKeptBase, wantedHash } from './change-base.tsx'
import { Checks, PolicyPane, ReachPane } from './change-checks.tsx'
import { Placeholders } from './change-placeholders.tsx'
import { DiffSummary, findsNobody } from './diff-summary.tsx'
import {
  FailedBefore,
  FrozenNotice,
  LastChangeFailed,
  TakesPlaceOf,
  UnderFleetConfig,
  useLastFailure,
} from './review-notices.tsx'
import { describeComplaint } from './workload-sentence.tsx'

/** All that the server is asked about a draft while it is typed; a plan is made for what it is compared with. */
function useChecks(workload: WorkloadRecord, draft: string, base: Base) {
  const rested = useDebounced(draft, 450)
  const isEmpty = rested.trim() === ''
  const key = `${workload.id}:${textKey(rested)}`
  const validation = useResource(isEmpty ? null : `validate:${key}`, (abort) =>
    api.validate(workload.id, rested, abort),
  )
  const plan = useResource(
    isEmpty || !can('config_safety.policy_preview') ? null : `plan:${key}:${base.hash ?? ''}`,
    (abort) => api.plan(workload.id, rested, abort),
  )
  return { validation, plan, rested, isStale: rested !== draft }
}

/** What unhealthy instances complain of, where the draft has that part: its line, and what is said of it. */
function useComplaint(
  workload: WorkloadRecord,
  instances: readonly LiveInstance[],
  draft: string,
  plan: ConfigPlan | null,
): { text: string; mark: CodeMark; isChanged: boolean } | null {
  const { components, complaint } = useFailing(workload.id, instances)
  const [component] = listComponents(components)
  if (component === undefined) return null
  const { unknown_host: host, address, port } = complaint?.error_parameters ?? {}
  const about = [host, address, port].filter((text) => text !== undefined)
  const line = faultLine(draft, pathOfComponent(component), about)
  if (line === null) return null
  const text = describeComplaint({ components, complaint })
  const path = pathOfComponent(component)
  // It is said of what runs: once the draft changes that part, nobody knows yet how it does.
  const isChanged =
    plan?.failing_now?.some((one) => one.component === path && one.is_changed === true) === true
  return { text, mark: { severity: 'warning', line, message: text }, isChanged }
}

/** What fails in what runs, and in which line of the draft that stands, unless the draft changes it. */
function Complained({ of: { text, mark, isChanged } }: { of: NonNullable<ReturnType<typeof useComplaint>> }) {
  const words = say(changeTexts)
  return (
    <p class="pane-said">
      <Mark tone={isChanged ? 'idle' : 'bad'} shape={isChanged ? 'ring' : 'cross'}>
        {`${isChanged ? words.complainsChanged : words.complains(mark.line ?? 1)} ${text}`}
      </Mark>
    </p>
  )
}

/** What the config failed of that the draft starts from: where that stood, and where the draft has it still. */
function useFault(workload: WorkloadRecord, base: Base, draft: string) {
  const failed = useLastFailure(workload.id, wantedHash() ?? base.failedHash ?? undefined)
  const group = failed?.error_groups?.[0]
  const line = lineOfFault(group, draft)
  return { began: lineOfFault(group, base.start), still: line === null ? null : { line, group } }
}

/** In which line of the draft still stands what the config failed of that it starts from. */
const FailedAt = ({ of: { line, group } }: { of: NonNullable<ReturnType<typeof useFault>['still']> }) => (
  <p class="pane-said">
    <Mark tone="bad" shape="cross">
      {say(changeTexts).failedAt(line, describeGroup(group))}
    </Mark>
  </p>
)

/** All that is marked in the draft: findings, what fails in what runs, and what the config failed of that it starts from. */
function useMarks(
  validation: Resource<ValidationResult>,
  complained: CodeMark | null,
  { still }: ReturnType<typeof useFault>,
): CodeMark[] {
  const message = still === null ? '' : say(changeTexts).failedOf(describeGroup(still.group))
  return useMemo(
    () => [
      ...toMarks(validation),
      ...(complained === null ? [] : [complained]),
      ...(still === null ? [] : [{ severity: 'warning' as const, line: still.line, message }]),
    ],
    [validation.data, language.value, complained?.message, complained?.line, still?.line, message],
  )
}

/** Findings as marks in the text, in the reader's language. */
function toMarks({ data }: Resource<ValidationResult>): CodeMark[] {
  const finding = say(findingTexts)
  const toMark =
    (severity: CodeMark['severity']) =>
    (found: Pick<ValidationMessage, 'code' | 'message' | 'path' | 'line'>) => ({
      severity,
      path: found.path,
      line: found.line,
      message: translated(finding, found.code, found.message),
    })
  return [
    ...(data?.errors ?? []).map(toMark('error')),
    ...(data?.warnings ?? []).filter(({ path }) => path !== undefined).map(toMark('warning')),
  ]
}

/** Forget a draft that was asked for, and go to its request. */
function leaveDraft(workloadId: string, approvalId: string): void {
  keepDraft(workloadId, null)
  setDraftAside(workloadId, null)
  toast(say(changeTexts).requested)
  navigate(`/workloads/${workloadId}/changes/${approvalId}`)
}

/** Whether a draft that failed here is asked for again as it is, which takes somebody who says to know it. */
function useAgain(workloadId: string, hash: string | undefined, draft: string) {
  const isKnown = useSignal(false)
  // The service may know of a failure of which the history here says nothing yet.
  const refused = useSignal<string | null>(null)
  return {
    isKnown,
    isAsked: useLastFailure(workloadId, hash)?.status === 'failed' || refused.value === draft,
    ask: () => {
      refused.value = draft
    },
  }
}

/** The group that the request is for, and whose request for it this one takes the place of. */
function GroupField({ workloadId, group }: { workloadId: string; group: Signal<string> }) {
  const words = say(changeTexts)
  return (
    <>
      <TextField label={words.group} hint={words.groupHint} {...bind(group)} />
      <TakesPlaceOf workloadId={workloadId} group={group.value.trim()} />
    </>
  )
}

/** What was filled in, as it is sent. */
const toRequest = (of: {
  draft: string
  comment: Signal<string>
  group: Signal<string>
  environment: Signal<string>
  isConfirmed: Signal<boolean>
  again: ReturnType<typeof useAgain>
}) => ({
  draft_yaml: of.draft,
  target_group: of.group.value.trim(),
  target_env: of.environment.value.trim(),
  comment: of.comment.value.trim(),
  prod_confirmation: of.isConfirmed.value,
  retry_quarantined: of.again.isAsked && of.again.isKnown.value,
})

function RequestForm({
  workload,
  draft,
  blocker,
  isProduction,
  isManaged,
  hash,
}: {
  workload: WorkloadRecord
  draft: string
  /** Of the draft; absent until the service has said it. */
  hash: string | undefined
  blocker: string | null
  isProduction: boolean
  /** The config is kept in Git. */
  isManaged: boolean
}) {
  const words = say(changeTexts)
  const comment = useSignal('')
  const group = useSignal('')
  const environment = useSignal(environmentOf(workload))
  const isConfirmed = useSignal(false)
  const asksProduction = useSignal(false)
  const isEmergency = useSignal(false)
  const again = useAgain(workload.id, hash, draft)
  const mayReachProduction =
    isProduction || asksProduction.value || [environment.value, group.value].some(namesProduction)
  const reason =
    unless('config:request') ??
    (isManaged && !isEmergency.value ? say(gitTexts).mustBeEmergency : null) ??
    (draft.trim() === '' ? words.mustChange : blocker) ??
    (again.isAsked && !again.isKnown.value ? say(reviewNoticeTexts).mustKnow : null) ??
    (mayReachProduction && !isConfirmed.value ? words.mustConfirm : null)
  const submit = async () => {
    const asked = { draft, comment, group, environment, isConfirmed, again }
    const result = await api.requestApproval(workload.id, toRequest(asked))
    if (result.ok) return leaveDraft(workload.id, result.value.id)
    // The server judges production by more than we see here; then it asks for the confirmation.
    if (result.code === 'production_confirmation_required') asksProduction.value = true
    if (result.code === 'config_quarantined') again.ask()
    toastFailure(result)
  }
  return (
    <Form class="pane stack" onSend={submit} send={words.request} reason={reason}>
      <FailedBefore workloadId={workload.id} hash={hash} />
      <TextArea label={words.comment} hint={words.commentHint} {...bind(comment)} />
      <TextField label={words.environment} {...bind(environment)} />
      <GroupField workloadId={workload.id} group={group} />
      {isManaged && <Checkbox {...bind(isEmergency)}>{say(gitTexts).emergency}</Checkbox>}
      {again.isAsked && <Checkbox {...bind(again.isKnown)}>{say(reviewNoticeTexts).isKnown}</Checkbox>}
      {mayReachProduction && <Checkbox {...bind(isConfirmed)}>{words.prodConfirm}</Checkbox>}
      <ApprovalOutlook
        workload={workload}
        hash={blocker === null && !isManaged ? hash : undefined}
        group={group.value}
        environment={environment.value}
      />
    </Form>
  )
}

/** The draft from before somebody started over, as long as it can be restored. */
function useDraftAside(workloadId: string) {
  const kept = useSignal(readDraftAside(workloadId))
  useEffect(() => {
    if (kept.value === null) return
    const timer = setTimeout(() => {
      kept.value = readDraftAside(workloadId)
    }, kept.value.untilMs - Date.now())
    return () => clearTimeout(timer)
  }, [kept.value, workloadId, kept])
  return {
    draft: kept.value,
    set: (text: string | null) => {
      kept.value = setDraftAside(workloadId, text)
    },
  }
}

/** What the address says to start from; null where it says nothing. */
function ownStart(): string | null {
  const [template, hash] = ['template', 'hash'].map((key) => query.value.get(key) ?? '')
  return template || hash ? `${template}:${hash}` : null
}

/**
 * The draft's text: kept in the browser while it differs from its start. Somebody can start over, and for a while
 * restore what was written.
 */
function useDraft(workload: WorkloadRecord, base: Base) {
  const start = ownStart()
  const hasOwnStart = start !== null
  const kept = useMemo(
    () => (start === null ? readDraft(workload.id) : readDraftFrom(workload.id, start)),
    [],
  )
  const text = useSignal(kept ?? base.start)
  const revision = useSignal(0)
  const aside = useDraftAside(workload.id)
  // What was being written is there to be brought back where the address says to start from something else.
  useEffect(() => {
    const left = kept === null ? readDraft(workload.id) : null
    if (left !== null && left !== base.start) aside.set(left)
  }, [])
  const isOwn = text.value !== base.start
  useEffect(() => keepDraft(workload.id, isOwn ? text.value : null, start), [text.value, base])
  const replace = (next: string) => {
    text.value = next
    revision.value++
  }
  const startOver = () => {
    const startsBroken = base.failedHash !== null && !hasOwnStart
    const fresh = startsBroken
      ? base.start
      : base.isReported
        ? baseOfReport(base.running, '')
        : base.running || base.start
    if (text.value !== fresh) aside.set(text.value)
    replace(fresh)
  }
  const bringBack = () => {
    const back = aside.draft
    aside.set(null)
    if (back) replace(back.text)
  }
  return { text, revision, replace, startOver, bringBack, isOwn, isAside: aside.draft !== null }
}

type DraftState = ReturnType<typeof useDraft>

/** The draft beside what it would replace. */
function Comparison({ base, draft }: { base: Base; draft: string }) {
  const words = say(sideTexts)
  const { isReported, pushed } = base
  const side = isReported || pushed === null ? words.reported : words.active(nameRevision(pushed))
  return <CompareView before={useBefore(base, draft)} after={draft} sides={[side, words.draft]} />
}

/** The draft to write in, or beside what runs. */
function DraftPane({
  workload,
  base,
  draft,
  validation,
  plan,
  instances,
}: {
  workload: WorkloadRecord
  base: Base
  draft: DraftState
  validation: Resource<ValidationResult>
  plan: ConfigPlan | null
  instances: readonly LiveInstance[]
}) {
  const words = say(changeTexts)
  const isComparing = query.value.get('view') === 'compare'
  const complained = useComplaint(workload, instances, draft.text.value, plan)
  const complainedMark = complained === null || complained.isChanged ? null : complained.mark
  const fault = useFault(workload, base, draft.text.value)
  const errorLine = validation.data?.errors.find(({ line }) => line !== undefined)?.line
  const marks = useMarks(validation, complainedMark, fault)
  return (
    <div class="pane flush">
      <div class="pane-head">
        <Action isPressed={!isComparing} onClick={() => setQuery({ view: null })}>
          {words.edit}
        </Action>
        <Action isPressed={isComparing} onClick={() => setQuery({ view: 'compare' })}>
          {words.compare}
        </Action>
        <span class="grow muted small">{draft.isOwn && words.keptHere}</span>
        {draft.isAside && <Action onClick={draft.bringBack}>{words.bringBack}</Action>}
        <Action kind="plain" onClick={draft.startOver}>
          {words.discard}
        </Action>
      </div>
      {complained !== null && <Complained of={complained} />}
      {fault.still !== null && <FailedAt of={fault.still} />}
      {isComparing ? (
        <Comparison base={base} draft={draft.text.value} />
      ) : (
        <div class="code-room" style={{ '--lines': draft.text.value.split('\n').length }}>
          <CodeEditor
            text={draft.text.value}
            revision={draft.revision.value}
            label={words.draft}
            marks={marks}
            begin={fault.began ?? errorLine ?? complainedMark?.line ?? null}
            components={workload.available_components?.components}
            onText={bind(draft.text).onValue}
          />
        </div>
      )}
    </div>
  )
}

/** Why a draft cannot be requested; null when it can. */
function findBlocker(
  workload: WorkloadRecord,
  base: Base,
  draft: string,
  checked: ValidationResult | null,
): string | null {
  const words = say(changeTexts)
  const push = workload.current_config_push
  // A config that is active and failed may be requested again unchanged.
  const mayRepeat = push?.status === 'failed' && push.config_hash === workload.active_config_hash
  if (base.active !== '' && draft === base.active && !mayRepeat) return words.nothingChanges
  return checked !== null && !checked.valid ? words.mustBeValid : null
}

/** That the draft starts from a config that failed everywhere, why it failed, and what it is compared with. */
function StartsBroken({ workload, base, hash }: { workload: WorkloadRecord; base: Base; hash: string }) {
  const words = say(changeTexts)
  const push = workload.current_config_push
  const why =
    describeGroup(push?.error_groups?.[0]) || (workload.trouble ? describeWhy(workload.trouble) : '')
  return (
    <div class="notice t-bad" role="status">
      <div>
        <b>{words.startsBroken(shortHash(hash), push?.failed_count ?? 0, push?.target_count ?? 0)}</b>{' '}
        {why !== '' && `${why}.`} {!base.isReported && words.brokenUnknown}
      </div>
    </div>
  )
}

/** What to know before a draft is written. */
function Notices({ workload, base, standing }: Pick<DraftProps, 'workload' | 'standing'> & { base: Base }) {
  const wanted = wantedHash()
  return (
    <>
      <FrozenNotice standing={standing} can="askedNow" />
      <UnderFleetConfig standing={standing} />
      <FailedBefore workloadId={workload.id} hash={wanted} />
      <LastChangeFailed workloadId={workload.id} from={wanted ?? base.failedHash} />
      {base.failedHash !== null && <StartsBroken workload={workload} base={base} hash={base.failedHash} />}
    </>
  )
}

/** What the service says of a draft, whom it would reach, and the request for it. */
function Judged({
  workload,
  draft,
  plan,
  validation,
  isStale,
  instances,
  blocker,
  isManaged,
  isThere,
}: {
  workload: WorkloadRecord
  draft: DraftState
  plan: ConfigPlan | null
  /** Whether the first checks are done: what stands below them would be pushed down by each that comes. */
  isThere: boolean
  validation: Resource<ValidationResult>
  isStale: boolean
  instances: readonly LiveInstance[]
  blocker: string | null
  isManaged: boolean
}) {
  // A bare placeholder may also be meant for the collector, so fields for them are only shown for a draft from a
  // template, or where the checks warn of them.
  const mayHoldPlaceholders =
    query.value.has('template') ||
    validation.data?.warnings.some(({ code }) => code === 'unfilled_placeholder') === true
  return (
    <div>
      {mayHoldPlaceholders && <Placeholders draft={draft.text.value} onFill={draft.replace} />}
      <Checks of={validation} isStale={isStale} isAway={plan !== null && findsNobody(plan)} />
      {isThere && (
        <>
          {plan && <PolicyPane plan={plan} />}
          {plan && (
            <ReachPane
              plan={plan}
              workload={workload}
              instances={instances}
              environment={environmentOf(workload)}
              isProduction={plan.prod_target === true}
            />
          )}
          <RequestForm
            workload={workload}
            draft={draft.text.value}
            hash={isStale ? undefined : plan?.config_hash}
            blocker={blocker}
            isProduction={plan?.prod_target === true}
            isManaged={isManaged}
          />
        </>
      )}
    </div>
  )
}

interface DraftProps {
  workload: WorkloadRecord
  begun: Base
  /** What keeps the workload from pushes; null until that is known. */
  standing: FleetStanding | null
  isManaged: boolean
}

function Draft({ workload, begun, standing, isManaged }: DraftProps) {
  const { base, hasMoved, take } = useKeptBase(workload, begun)
  const draft = useDraft(workload, base)
  const text = draft.text.value
  const { validation, plan, rested, isStale } = useChecks(workload, text, base)
  const before = useBefore(base, rested)
  const topology = useResource(
    `topology:${workload.id}`,
    (abort) => api.topology(workload.id, abort),
    touchesWorkload(workload.id),
  )
  const instances = topology.data?.instances ?? []
  const takeNew = () => {
    const newer = take?.()
    // Where nothing was written yet, the draft is what is active now.
    if (newer && text === base.start) draft.replace(newer.start)
  }
  const blocker = hasMoved ? say(changeTexts).mustCompare : findBlocker(workload, base, text, validation.data)
  const isThere = useOnce([plan, validation, topology].every(isSettled))
  const judged = { plan: plan.data, validation, isStale, instances, blocker, isThere }
  return (
    <div class="two" style={{ marginTop: '24px' }}>
      <div class="stack">
        <Notices workload={workload} base={base} standing={standing} />
        {hasMoved && <BaseMoved workload={workload} onTake={take && takeNew} />}
        <DraftPane
          workload={workload}
          base={base}
          draft={draft}
          validation={validation}
          plan={isStale ? null : plan.data}
          instances={instances}
        />
        <DiffSummary
          workloadId={workload.id}
          before={before}
          after={rested}
          reported={base.isReported ? sayNotOurs(workload) : null}
          isInvalid={validation.data !== null && !validation.data.valid}
          planned={isStale || hasMoved ? null : plan.data}
          whyNothing={unless('config:read_content')}
        />
      </div>
      <Judged workload={workload} draft={draft} isManaged={isManaged} {...judged} />
    </div>
  )
}

/** The page on which a workload's config is changed: draft, checks, request. */
export function ChangePage({ params }: { params: Record<string, string> }) {
  const words = say(changeTexts)
  const id = params['id'] ?? ''
  const workload = useResource(`workload:${id}`, (abort) => api.workload(id, abort), touchesWorkload(id))
  const standing = useStanding(id)
  const git = useInGit(id, standing)
  const start = ownStart() ?? ''
  const mayRead = may('config:read_content')
  const base = useResource(workload.data && mayRead ? `base:${id}:${start}` : null, (abort) =>
    loadBase(workload.data!, abort),
  )
  return (
    <Loaded of={workload} title={headingOf(id)}>
      {(data) => (
        <>
          <Head title={words.title(callOf(data))}>
            <ActionLink href={`/workloads/${id}`}>← {callOf(data)}</ActionLink>
            <ActionLink href={`/templates?for=${id}`}>{words.startTemplate}</ActionLink>
          </Head>
          <GitNotice workload={data} git={git} />
          {!mayRead && <LeftOutFor permission="config:read_content" />}
          {mayRead && (
            <Loaded of={base}>
              {(loaded) => (
                <Draft
                  key={start}
                  workload={data}
                  begun={loaded}
                  standing={standing.data}
                  isManaged={git.keptBy !== null}
                />
              )}
            </Loaded>
          )}
        </>
      )}
    </Loaded>
  )
}
