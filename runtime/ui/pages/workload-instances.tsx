import { useEffect } from 'preact/hooks'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import { describeError } from '../i18n/causes.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { workloadTexts } from '../i18n/workload.ts'
import { instanceName, oddnessOf } from '../logic/instances.ts'
import { Capped } from '../parts/capped.tsx'
import { Loaded } from '../parts/failure.tsx'
import { describeHeterogeneity } from '../parts/instance-words.ts'
import { Sheet } from '../parts/page.tsx'
import { Ago, HealthMark, Mark, PushMark } from '../parts/state.tsx'
import type { TabProps } from './workload.tsx'

function MatchesCell({ instance }: { instance: LiveInstance }) {
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
  return <span class="faint">{words.matches.unknown}</span>
}

function ConfigCell({ instance }: { instance: LiveInstance }) {
  const words = say(workloadTexts)
  if (!instance.accepts_remote_config) return <span class="muted">{words.readOnly}</span>
  if (instance.reports_remote_config === false) return <span class="muted">{words.cannotReport}</span>
  const status = instance.remote_config_status
  return (
    <>
      <span class="mono muted">{shortHash(instance.effective_config_hash) || '–'}</span>{' '}
      {status && <PushMark state={status.status} />}
      {status?.status === 'failed' && <span class="bad"> {describeError(status)}</span>}
    </>
  )
}

/** How often the times of a workload's instances are fetched again, and for how many at most. */
const REFRESH_MS = 30_000
const REFRESHED_MAX = 500

/** One row per live instance, the odd ones first. */
export function InstancesTab({ workload, topology }: TabProps) {
  const words = say(workloadTexts)
  const { column } = words
  const isModest = (topology.data?.summary.connected_count ?? 0) <= REFRESHED_MAX
  // No frame tells that an instance was heard of again.
  useEffect(() => {
    if (!isModest) return
    const timer = setInterval(() => {
      if (!document.hidden) topology.reload()
    }, REFRESH_MS)
    return () => clearInterval(timer)
  }, [workload.id, isModest])
  return (
    <Loaded of={topology}>
      {({ instances, summary }) => {
        const sorted = [...instances].sort((a, b) => oddnessOf(b, summary) - oddnessOf(a, summary))
        return (
          <>
            <p class="muted" style={{ marginBottom: '12px' }}>
              {instances.length > 1 &&
                (summary.heterogeneity_reasons.length === 0
                  ? words.alike
                  : describeHeterogeneity(instances, summary).join(' '))}
            </p>
            {instances.length === 0 ? (
              <p class="empty">{words.noInstances}</p>
            ) : (
              <Sheet
                label={words.tabs.instances}
                head={
                  <>
                    <th scope="col">{column.instance}</th>
                    <th scope="col">{column.version}</th>
                    <th scope="col">{column.health}</th>
                    <th scope="col">{column.config}</th>
                    <th scope="col">{column.matches}</th>
                    <th scope="col">{column.connected}</th>
                    <th scope="col">{column.message}</th>
                    <th scope="col">{column.uid}</th>
                  </>
                }
              >
                <Capped rows={sorted}>
                  {(instance) => (
                    <tr key={instance.instance_uid}>
                      <td>
                        <a
                          class="name"
                          href={`/workloads/${workload.id}/health?instance=${instance.instance_uid}`}
                        >
                          {instanceName(instance, workload)}
                        </a>
                        {instance.described === false && (
                          <span class="muted" title={words.undescribedTitle}>
                            {' '}
                            {words.undescribed}
                          </span>
                        )}
                      </td>
                      <td class="mono">{instance.version ?? '–'}</td>
                      <td>
                        <HealthMark healthy={instance.healthy} />
                      </td>
                      <td>
                        <ConfigCell instance={instance} />
                      </td>
                      <td>
                        <MatchesCell instance={instance} />
                      </td>
                      <td class="muted">
                        <Ago at={instance.connected_at} />
                      </td>
                      <td class="muted">
                        <Ago at={instance.last_message_at} />
                      </td>
                      <td class="mono muted">{instance.instance_uid}</td>
                    </tr>
                  )}
                </Capped>
              </Sheet>
            )}
          </>
        )
      }}
    </Loaded>
  )
}
