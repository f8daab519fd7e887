import type { LiveInstance } from '../../../lib/wire/instances.ts'
import { describeWhy } from '../i18n/causes.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { workloadTexts } from '../i18n/workload.ts'
import { Ago, Mark, PushMark } from './state.tsx'

const NOTHING: ReadonlySet<string> = new Set()

/** Whether an instance runs what it was asked to. */
export function MatchesCell({ instance }: { instance: LiveInstance }) {
  const words = say(workloadTexts)
  if (instance.effective_matches === true)
    return (
      <Mark tone="ok" shape="tick">
        {words.matches.yes}
      </Mark>
    )
  if (instance.effective_matches === false)
    return (
      <span title={words.mismatches((instance.effective_mismatch_paths ?? []).join(', '))}>
        <Mark tone="warn" shape="triangle">
          {words.matches.no}
        </Mark>
      </span>
    )
  // What it failed it does not run: the cell beside says so.
  if (instance.remote_config_status?.status === 'failed') return <span class="faint">–</span>
  return <span class="faint">{words.matches.unknown}</span>
}

/** Why an instance failed the config that it was given; '' where it did not, or nobody knows. */
export const whyFailed = ({ remote_config_status: status }: LiveInstance): string =>
  status?.status === 'failed' ? describeWhy(status) : ''

/**
 * The config that an instance says it runs, and what became of the one that it was given; `told` are the reasons of a failure
 * that stand above all instances.
 */
export function ConfigCell({
  instance,
  told = NOTHING,
}: {
  instance: LiveInstance
  told?: ReadonlySet<string>
}) {
  const words = say(workloadTexts)
  if (!instance.accepts_remote_config) return <span class="muted">{words.readOnly}</span>
  if (instance.reports_remote_config === false) return <span class="muted">{words.cannotReport}</span>
  const { remote_config_status: status, altered_since: since } = instance
  const hash = shortHash(instance.effective_config_hash)
  // What it said that it applied is not what it runs.
  const isAltered = instance.effective_matches === false && status?.status === 'applied'
  return (
    <>
      {hash !== '' && <span class="mono muted">{hash}</span>} {hash === '' && !status && '–'}
      {isAltered ? (
        <Mark tone="warn" shape="triangle">
          {words.changedThere} {since && <Ago at={since} />}
        </Mark>
      ) : (
        status && <PushMark state={status.status} />
      )}
      {!told.has(whyFailed(instance)) && <span class="bad"> {whyFailed(instance)}</span>}
    </>
  )
}
