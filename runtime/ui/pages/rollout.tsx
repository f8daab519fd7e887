import { useSignal } from '@preact/signals'
import type { RolloutRecord, RolloutStage, RolloutStatus } from '../../../lib/wire/rollouts.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatDuration, shortHash, tick } from '../i18n/format.ts'
import { postureTexts } from '../i18n/posture.ts'
import type { Tone } from '../logic/diagnosis.ts'
import { nameOf } from '../logic/workloads.ts'
import { Action, ActionLink, unless } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Loaded } from '../parts/failure.tsx'
import type { Shape } from '../parts/icons.tsx'
import { Head, Sheet } from '../parts/page.tsx'
import { Ago, Mark, Track } from '../parts/state.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { touchesWorkload, useResource } from '../state/use-resource.ts'

const LOOK: Record<RolloutStatus, readonly [Tone, Shape]> = {
  running: ['busy', 'half'],
  halted: ['bad', 'triangle'],
  succeeded: ['ok', 'tick'],
  promoted: ['ok', 'tick'],
  aborted: ['idle', 'cross'],
  rollback_started: ['warn', 'cross'],
  stopped: ['bad', 'triangle'],
  failed: ['bad', 'cross'],
}
const STAGE_TONE: Record<RolloutStage['status'], Tone> = {
  waiting: 'idle',
  running: 'busy',
  dwelling: 'busy',
  done: 'ok',
  halted: 'bad',
  aborted: 'idle',
  failed: 'bad',
}

function elapsedOf(stage: RolloutStage): string {
  if (!stage.started_at) return '–'
  const end = stage.ended_at ? Date.parse(stage.ended_at) : tick.value
  return formatDuration(Math.max(0, end - Date.parse(stage.started_at)))
}

function Stages({ of }: { of: RolloutRecord }) {
  const words = say(postureTexts)
  return (
    <>
      <ol class="stages" aria-label={words.rollout}>
        {of.stages.map((stage) => (
          <li key={stage.index}>
            <Track
              parts={[
                ['ok', stage.counts.applied],
                ['bad', stage.counts.failed],
                ['busy', stage.counts.applying],
              ]}
              total={stage.target_count}
            />
            <div style={{ marginTop: '4px' }}>
              <b>{words.stage(stage.index + 1)}</b>{' '}
              <span class={STAGE_TONE[stage.status]}>{words.stageStatus[stage.status]}</span>
            </div>
            <div class="muted">
              {stage.percentage ? words.share(stage.percentage) : stage.count ? '' : words.rest}{' '}
              {words.size(stage.target_count)}
            </div>
          </li>
        ))}
      </ol>
      <Sheet
        label={words.rollout}
        head={
          <>
            <th scope="col">{words.rollout}</th>
            <th scope="col">{words.column.state}</th>
            <th scope="col">{words.elapsed}</th>
            <th scope="col">{words.column.cause}</th>
          </>
        }
      >
        {of.stages.map((stage) => (
          <tr key={stage.index}>
            <td>{words.stage(stage.index + 1)}</td>
            <td>{words.stageStatus[stage.status]}</td>
            <td>{elapsedOf(stage)}</td>
            <td class="text">
              {stage.gates.map((gate) => (
                <div key={gate.name}>
                  <Mark tone={gate.passed ? 'ok' : 'bad'} shape={gate.passed ? 'tick' : 'cross'}>
                    {words.gate[gate.name] ?? gate.name}: {words.gateValue(gate.value, gate.limit)}
                  </Mark>
                </div>
              ))}
            </td>
          </tr>
        ))}
      </Sheet>
    </>
  )
}

type Step = 'promote' | 'abort' | 'rollback'

function Steer({ of, reload }: { of: RolloutRecord; reload: () => void }) {
  const words = say(postureTexts)
  const asking = useSignal<Step | null>(null)
  const isOpen = of.status === 'running' || of.status === 'halted'
  const over = isOpen ? null : words.notHalted
  const steps: [Step, string, string, string | null][] = [
    [
      'promote',
      words.continue,
      words.continueHint,
      over ?? (of.status === 'halted' ? null : words.onlyHalted),
    ],
    ['abort', words.abort, words.abortHint, over],
    ['rollback', words.rollBack, words.rollBackHint, over],
  ]
  const go = async (step: Step) => {
    const result = await api.steerRollout(of.workload_id, of.id, step)
    asking.value = null
    if (!result.ok) return toastFailure(result)
    toast(words.done)
    reload()
  }
  return (
    <div class="actions">
      {steps.map(([step, text, hint, reason]) => (
        <span key={step}>
          <Action
            kind={step === 'promote' ? 'primary' : ''}
            reason={unless('workload:push_config') ?? reason}
            onClick={() => {
              asking.value = step
            }}
          >
            {text}
          </Action>
          {asking.value === step && (
            <Dialog title={text} onClose={() => (asking.value = null)}>
              <p>{hint}</p>
              <div class="actions">
                <Action onClick={() => (asking.value = null)}>{say(commonTexts).cancel}</Action>
                <Action kind="primary" onClick={() => void go(step)}>
                  {text}
                </Action>
              </div>
            </Dialog>
          )}
        </span>
      ))}
    </div>
  )
}

function Body({ of, reload }: { of: RolloutRecord; reload: () => void }) {
  const words = say(postureTexts)
  const { halt } = of
  return (
    <div class="stack" style={{ marginTop: '16px' }}>
      {halt && (
        <div class="say t-bad" role="status" style={{ margin: '0' }}>
          <p>
            <b>{words.halted(words.gate[halt.gate] ?? halt.gate, halt.value, halt.limit, halt.stage + 1)}</b>{' '}
            {halt.instance_uids.slice(0, 5).map((uid) => (
              <a key={uid} class="mono link" href={`/workloads/${of.workload_id}/health?instance=${uid}`}>
                {uid.slice(0, 12)}{' '}
              </a>
            ))}
          </p>
        </div>
      )}
      <Stages of={of} />
      <Steer of={of} reload={reload} />
    </div>
  )
}

/** A rollout stage by stage: the bar, the gates, and what can be done. */
export function RolloutPage({ params }: { params: Record<string, string> }) {
  const words = say(postureTexts)
  const id = params['id'] ?? ''
  const rolloutId = params['rollout'] ?? ''
  const touches = touchesWorkload(id)
  const workload = useResource(`workload:${id}`, (abort) => api.workload(id, abort))
  const rollout = useResource(`rollout:${rolloutId}`, (abort) => api.rollout(id, rolloutId, abort), touches)
  return (
    <Loaded of={rollout}>
      {(data) => {
        const [tone, shape] = LOOK[data.status]
        const name = workload.data ? nameOf(workload.data) : id
        return (
          <>
            <Head
              title={words.rollout}
              beside={
                <>
                  <Mark tone={tone} shape={shape}>
                    {words.rolloutStatus[data.status]}
                  </Mark>
                  <span class="muted">
                    <a href={`/workloads/${id}`}>{name}</a> ·{' '}
                    <span class="mono">{shortHash(data.config_hash)}</span> · {data.actor} ·{' '}
                    <Ago at={data.created_at} />
                  </span>
                </>
              }
            >
              <ActionLink href={`/workloads/${id}`}>← {name}</ActionLink>
            </Head>
            <Body of={data} reload={rollout.reload} />
          </>
        )
      }}
    </Loaded>
  )
}
