import { useSignal } from '@preact/signals'
import { environmentOf } from '../../../lib/model/workload-states.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { RollbackConfig, RollbackPrepare } from '../../../lib/wire/rollback.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { changeTexts } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { sayFinding } from '../i18n/findings.ts'
import { shortHash } from '../i18n/format.ts'
import { describeEndedBy, historyTexts } from '../i18n/history.ts'
import { nameSide, sideTexts } from '../i18n/sides.ts'
import { CompareView } from '../parts/code.tsx'
import { bind, TextArea } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Loaded } from '../parts/failure.tsx'
import { FleetStandingNote, useStanding } from '../parts/fleet-standing.tsx'
import { Form } from '../parts/form.tsx'
import { Ago } from '../parts/state.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { WorstHealth } from '../parts/worst-health.tsx'
import { api } from '../state/endpoints.ts'
import { callOf } from '../state/names.ts'
import { navigate } from '../state/router.ts'
import { useResource } from '../state/use-resource.ts'
import { DiffSummary } from './diff-summary.tsx'

const COMMENT_LENGTH_MAX = 1_000

/** One of the two configs: its hash, its label, and who pushed it when. */
function Side({ title, config }: { title: string; config: RollbackConfig }) {
  const words = say(historyTexts)
  const { label, known_good: isPinned, pushed_by: who, applied_at: at } = config.metadata
  return (
    <>
      <dt>{title}</dt>
      <dd>
        <span class="mono">{config.hash ? shortHash(config.hash) : '–'}</span>
        {label && (
          <>
            {' '}
            <span class="chip">{label}</span>
          </>
        )}
        {isPinned && (
          <>
            {' '}
            <span class="chip quiet">{words.pinned}</span>
          </>
        )}
        {who && (
          <span class="muted">
            {' · '}
            {words.pushedBy(who === 'auto-rollback' ? words.autoRollback : who)}
            {at && (
              <>
                {' · '}
                <Ago at={at} />
              </>
            )}
          </span>
        )}
        <WorstHealth of={config.metadata.worst_health} />
      </dd>
    </>
  )
}

/** Why a rollback cannot begin, in the reader's language. */
const whatBlocks = ({ validation }: RollbackPrepare): string =>
  validation.findings
    .filter(({ blocking }) => blocking)
    .map(sayFinding)
    .join(' ')

/** One of the two configs, as the heading of its text. */
const nameConfig = ({ hash, metadata: { pushed_by, applied_at: at } }: RollbackConfig): string =>
  hash ? nameSide(hash, { pushed_by, at }) : '–'

/** What goes back: from which config to which, in words and line by line, and what the checks say. */
function WhatGoesBack({ workloadId, of }: { workloadId: string; of: RollbackPrepare }) {
  const words = say(historyTexts)
  const { current_config: current, target_config: target, validation } = of
  return (
    <>
      <dl class="pairs">
        <Side title={words.rollBackFrom} config={current} />
        <Side title={words.rollBackTo} config={target} />
      </dl>
      {validation.findings.length > 0 && (
        <ul class="list">
          {validation.findings.map((finding) => (
            <li key={`${finding.code}${finding.path}`} class={finding.blocking ? 'bad' : 'warn'}>
              <div>{sayFinding(finding)}</div>
            </li>
          ))}
        </ul>
      )}
      <DiffSummary
        workloadId={workloadId}
        before={current.content ?? ''}
        after={target.content ?? ''}
        reported={null}
        isInvalid={!validation.valid}
      />
      <div class="pane flush">
        <CompareView
          before={current.content ?? ''}
          after={target.content ?? ''}
          sides={[say(sideTexts).from(nameConfig(current)), say(sideTexts).back(nameConfig(target))]}
        />
      </div>
    </>
  )
}

/** What a rollback would change, for whom, and why it is done; then the rollback itself. */
export function RollbackDialog({
  workload,
  row,
  onClose,
}: {
  workload: WorkloadRecord
  row: RevisionRecord
  onClose: () => void
}) {
  const words = say(historyTexts)
  const comment = useSignal('')
  const name = callOf(workload)
  const standing = useStanding(workload.id)
  const prepared = useResource(`prepare:${row.workload_id}:${row.config_hash}`, (abort) =>
    api.prepareRollback(row.workload_id, row.config_hash, abort),
  )
  const go = async () => {
    const result = await api.rollbackTo(row.workload_id, row.config_hash, { comment: comment.value.trim() })
    if (!result.ok) return toastFailure(result)
    toast(words.rolledBack)
    onClose()
    navigate(`/workloads/${row.workload_id}/pushes/${row.config_hash}?push=${result.value.push_id ?? ''}`)
  }
  return (
    <Dialog title={words.rollBackTitle(name, shortHash(row.config_hash))} onClose={onClose}>
      <p>
        {say(changeTexts).pushReach(name, environmentOf(workload), workload.connected_instance_count, null)}{' '}
        {describeEndedBy(workload)}
      </p>
      <FleetStandingNote workloadId={row.workload_id} standing={standing} isPush isRollback />
      <Loaded of={prepared}>
        {(data) => (
          <Form
            onSend={go}
            send={words.rollBackGo}
            onCancel={onClose}
            reason={data.action.can_submit ? null : whatBlocks(data)}
          >
            <WhatGoesBack workloadId={row.workload_id} of={data} />
            <TextArea label={words.rollBackComment} maxLength={COMMENT_LENGTH_MAX} {...bind(comment)} />
          </Form>
        )}
      </Loaded>
    </Dialog>
  )
}
