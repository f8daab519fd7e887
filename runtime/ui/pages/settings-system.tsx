import type { CapabilityDocument } from '../../../lib/wire/capabilities.ts'
import type { DatabaseCounters } from '../../../lib/wire/system.ts'
import { say } from '../i18n/define.ts'
import { formatDay, formatExact, formatNumber } from '../i18n/format.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { Loaded } from '../parts/failure.tsx'
import { Pairs } from '../parts/page.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { call } from '../state/api.ts'
import { api } from '../state/endpoints.ts'
import { hubState } from '../state/hub.ts'
import { useResource } from '../state/use-resource.ts'

function Probe({ path }: { path: string }) {
  const words = say(settingsTexts)
  const probe = useResource<boolean>(`probe:${path}`, async (signal) => {
    const isUp = await fetch(path, { signal }).then(
      (response) => response.ok,
      () => false,
    )
    return { ok: true, value: isUp, headers: new Headers() }
  })
  if (probe.data === null) return <span class="faint">…</span>
  return (
    <Mark tone={probe.data ? 'ok' : 'bad'} shape={probe.data ? 'full' : 'ring'}>
      {probe.data ? words.up : words.down}
    </Mark>
  )
}

/** The pool, what this edition can do, and who listens where. */
export function SystemSection() {
  const words = say(settingsTexts)
  const info = useResource('system-info', (abort) => api.systemInfo(abort))
  const database = useResource('database', (abort) => api.database(abort))
  const activity = useResource('activity', (abort) => api.pushActivity(abort))
  const capabilities = useResource('capabilities', (abort) =>
    call<CapabilityDocument>('GET', '/api/v1/capabilities', { signal: abort }),
  )
  return (
    <>
      <section class="pane" style={{ marginTop: '0' }}>
        <h2>muster</h2>
        <Loaded of={info}>
          {(data) => (
            <Pairs
              of={[
                [words.version, <span class="mono">{data.version}</span>],
                [words.edition, data.edition],
                [
                  words.runningSince,
                  <span>
                    <Ago at={data.started_at} /> · {formatExact(data.started_at)}
                  </span>,
                ],
                ['PostgreSQL', <span class="mono">{data.postgresql_version}</span>],
                ['Node.js', <span class="mono">{data.node_version}</span>],
              ]}
            />
          )}
        </Loaded>
      </section>
      <section class="pane" style={{ marginTop: '0' }}>
        <h2>{words.systemLead}</h2>
        <Loaded of={database}>
          {(counters) => (
            <div class="quant">
              {(Object.keys(words.counters) as (keyof DatabaseCounters)[]).map((key) => (
                <span key={key}>
                  <b>{formatNumber(counters[key])}</b>
                  {words.counters[key]}
                </span>
              ))}
            </div>
          )}
        </Loaded>
      </section>
      <section class="pane" style={{ marginTop: '0' }}>
        <h2>{words.listeners}</h2>
        <Pairs
          of={[
            ...(info.data?.listeners ?? []).map(
              ({ name, address }) => [words.listener[name], <span class="mono">{address}</span>] as const,
            ),
            ['/healthz', <Probe path="/healthz" />],
            ['/readyz', <Probe path="/readyz" />],
            [
              '/ws',
              <Mark
                tone={hubState.value === 'live' ? 'ok' : 'bad'}
                shape={hubState.value === 'live' ? 'full' : 'ring'}
              >
                {hubState.value === 'live' ? words.up : words.down}
              </Mark>,
            ],
          ]}
        />
      </section>
      <section class="pane" style={{ marginTop: '0' }}>
        <h2>{words.capabilities}</h2>
        <Loaded of={capabilities}>
          {(document) => (
            <div class="chips">
              {document.capabilities.map(({ id, state }) => (
                <span key={id} class={state === 'enabled' ? 'chip' : 'chip quiet'}>
                  {id} · {words.capabilityState[state] ?? state}
                </span>
              ))}
            </div>
          )}
        </Loaded>
      </section>
      <section class="pane" style={{ marginTop: '0' }}>
        <h2>{words.pushes}</h2>
        <Loaded of={activity}>
          {(days) => (
            <div class="quant">
              {days.map(({ day, count }) => (
                <span key={day}>
                  <b>{formatNumber(count)}</b>
                  {formatDay(`${day}T12:00:00Z`).replace(/ \d{4}$/, '')}
                </span>
              ))}
            </div>
          )}
        </Loaded>
      </section>
    </>
  )
}
