import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { shownStatusOf } from '../../../lib/model/workload-states.ts'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatAgo, formatExact, formatMoment } from '../i18n/format.ts'
import type { Tone } from '../logic/diagnosis.ts'
import { PRESENCE_LOOK } from '../logic/presence.ts'
import { seenAt, watchSeen } from '../state/seen.ts'
import { Icon, type Shape } from './icons.tsx'

/** A state: its shape, its colour and its word. */
export function Mark({ tone, shape, children }: { tone: Tone; shape: Shape; children: ComponentChildren }) {
  return (
    <span class={`st ${tone}`}>
      <Icon shape={shape} />
      <span>{children}</span>
    </span>
  )
}

const STATUS = { ...PRESENCE_LOOK, archived: ['idle', 'box'] } as const

/** The status of a workload. */
export function StatusMark({ of }: { of: WorkloadRecord }) {
  const status = shownStatusOf(of)
  const [tone, shape] = STATUS[status] ?? STATUS.disconnected
  return (
    <Mark tone={tone} shape={shape}>
      {say(commonTexts).status[status] ?? status}
    </Mark>
  )
}

const PUSH: Record<string, readonly [Tone, Shape]> = {
  applied: ['ok', 'tick'],
  in_part: ['bad', 'half'],
  failed: ['bad', 'cross'],
  applying: ['busy', 'half'],
  halted: ['bad', 'triangle'],
  superseded: ['idle', 'dot'],
  aborted: ['idle', 'cross'],
  no_status: ['warn', 'ring'],
  rolled_back: ['idle', 'back'],
}

/** How far a push, or one instance of it, got. */
export function PushMark({ state }: { state: string }) {
  const [tone, shape] = PUSH[state] ?? ['busy', 'clock']
  const words = say(commonTexts).push as Record<string, string>
  return (
    <Mark tone={tone} shape={shape}>
      {words[state] ?? state}
    </Mark>
  )
}

/** What an instance or a component says of its health; one that is not ready yet does not count as unhealthy. */
export function HealthMark({
  of: { healthy, settling },
}: {
  of: Pick<LiveInstance, 'healthy' | 'settling'>
}) {
  const words = say(commonTexts)
  if (settling)
    return (
      <Mark tone="idle" shape="half">
        {words.settling}
      </Mark>
    )
  return healthy ? (
    <Mark tone="ok" shape="full">
      {words.healthy}
    </Mark>
  ) : (
    <Mark tone="warn" shape="half">
      {words.unhealthy}
    </Mark>
  )
}

/** How long ago, with the exact time on hover. */
export function Ago({ at }: { at: string | undefined | null }) {
  if (!at) return <span class="faint">–</span>
  return (
    <time dateTime={at} title={formatExact(at)}>
      {formatAgo(at)}
    </time>
  )
}

/** When exactly, for whoever compares times; how long ago that is on hover. */
export const Moment = ({ at }: { at: string }) => (
  <time dateTime={at} title={`${formatAgo(at)} · ${formatExact(at)}`}>
    {formatMoment(at)}
  </time>
)

/**
 * When a workload was last heard of. The server is asked again as long as it is on the screen, since no frame tells of
 * that.
 */
export function SeenAgo({ workload }: { workload: Pick<WorkloadRecord, 'id' | 'status' | 'last_seen_at'> }) {
  const { id, status, last_seen_at: known } = workload
  const isLive = status !== 'disconnected'
  useEffect(() => (isLive ? watchSeen(id) : undefined), [id, isLive])
  const told = isLive ? seenAt.value[id] : undefined
  return <Ago at={told !== undefined && told > known ? told : known} />
}

/** Parts of a whole as one bar; only used beside words that say the same. */
export function Track({
  parts,
  total,
  isSmall = false,
}: {
  parts: readonly (readonly ['ok' | 'busy' | 'bad' | 'warn' | 'idle', number])[]
  total: number
  isSmall?: boolean
}) {
  return (
    <span class={isSmall ? 'meter' : 'track'} aria-hidden="true">
      {parts.map(
        ([tone, count]) =>
          // Nothing of it leaves no gap either.
          count > 0 && (
            <i
              key={tone}
              class={`f-${tone}`}
              style={{ width: `${total > 0 ? (100 * count) / total : 0}%` }}
            />
          ),
      )}
    </span>
  )
}
