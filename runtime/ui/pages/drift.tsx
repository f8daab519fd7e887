import type { DriftStatus } from '../../../lib/wire/drift.ts'
import { describeAftermath } from '../i18n/aftermath.ts'
import { say } from '../i18n/define.ts'
import { formatNumber, shortHash } from '../i18n/format.ts'
import { postureTexts } from '../i18n/posture.ts'
import type { Tone } from '../logic/diagnosis.ts'
import { Capped } from '../parts/capped.tsx'
import { Loaded } from '../parts/failure.tsx'
import type { Shape } from '../parts/icons.tsx'
import { Head, Sheet } from '../parts/page.tsx'
import { Mark } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { query, setQuery } from '../state/router.ts'
import { useResource } from '../state/use-resource.ts'

const LOOK: Record<DriftStatus, readonly [Tone, Shape]> = {
  remote_config_unsupported: ['idle', 'dot'],
  missing_effective_config: ['warn', 'ring'],
  heterogeneous_effective_config: ['warn', 'half'],
  drifted: ['bad', 'triangle'],
  pending_too_long: ['warn', 'clock'],
  in_sync: ['ok', 'tick'],
}

/** What differs from its assigned config, with the cause. */
export function DriftPage() {
  const words = say(postureTexts)
  const { column } = words
  const withAll = query.value.get('all') === 'true'
  const drift = useResource(
    'drift',
    (abort) => api.drift(abort),
    (frame) => frame.type === 'push_update' || frame.type === 'alert_update',
  )
  return (
    <>
      <Head title={words.drift} />
      <Loaded of={drift}>
        {(data) => {
          const shown = data.items.filter(
            (item) =>
              withAll ||
              !['in_sync', 'remote_config_unsupported'].includes(item.drift_status) ||
              item.drift_reasons?.includes('runs_failed_config'),
          )
          return (
            <div class="stack" style={{ marginTop: '20px' }}>
              <div class="quant">
                {(Object.keys(words.counts) as (keyof typeof words.counts)[]).map((key) => (
                  <span key={key}>
                    <b>{formatNumber(data.summary[key])}</b>
                    {words.counts[key]}
                  </span>
                ))}
              </div>
              <div class="tools" style={{ margin: '0' }}>
                <button
                  type="button"
                  class="btn"
                  aria-pressed={withAll}
                  onClick={() => setQuery({ all: withAll ? null : 'true' })}
                >
                  {words.driftAll}
                </button>
              </div>
              {shown.length === 0 ? (
                <p class="empty">{words.driftNone}</p>
              ) : (
                <Sheet
                  isStacked
                  label={words.drift}
                  head={
                    <>
                      <th scope="col">{column.workload}</th>
                      <th scope="col">{column.environment}</th>
                      <th scope="col">{column.state}</th>
                      <th scope="col">{column.wanted}</th>
                      <th scope="col">{column.runs}</th>
                      <th scope="col">{column.cause}</th>
                    </>
                  }
                >
                  <Capped rows={shown}>
                    {(item) => {
                      const [tone, shape] = LOOK[item.drift_status]
                      const runs = item.effective_config_hashes ?? [item.effective_config_hash ?? '']
                      return (
                        <tr key={item.workload_id}>
                          <td>
                            <a class="name" href={`/workloads/${item.workload_id}/instances`}>
                              {item.collector}
                            </a>
                          </td>
                          <td>{item.env}</td>
                          <td>
                            <Mark tone={tone} shape={shape}>
                              {words.driftStatus[item.drift_status]}
                            </Mark>
                          </td>
                          <td class="mono muted">{shortHash(item.expected_config_hash) || '–'}</td>
                          <td class="mono muted">{runs.map(shortHash).join(' ') || '–'}</td>
                          <td class="text">
                            {(item.drift_reasons ?? [])
                              .map((reason) => words.reason[reason] ?? reason)
                              .join(' · ')}
                            {item.last_push?.aftermath && (
                              <div class="muted">{describeAftermath(item.last_push.aftermath)}</div>
                            )}
                          </td>
                        </tr>
                      )
                    }}
                  </Capped>
                </Sheet>
              )}
            </div>
          )
        }}
      </Loaded>
    </>
  )
}
