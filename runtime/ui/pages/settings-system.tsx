import type { ComponentChildren } from 'preact'
import type { CapabilityDocument } from '../../../lib/wire/capabilities.ts'
import type { DatabaseCounters, SystemInfo } from '../../../lib/wire/system.ts'
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

function Pane({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="pane" style={{ marginTop: '0' }}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

/** Figures in a row. */
function Figures({ of }: { of: readonly (readonly [string, number])[] }) {
  return (
    <div class="quant">
      {of.map(([name, value]) => (
        <span key={name}>
          <b>{formatNumber(value)}</b>
          {name}
        </span>
      ))}
    </div>
  )
}

function Process({ info }: { info: SystemInfo }) {
  const words = say(settingsTexts)
  return (
    <Pairs
      of={[
        [words.version, <span class="mono">{info.version}</span>],
        [words.edition, words.editions[info.edition] ?? info.edition],
        [
          words.runningSince,
          <span>
            <Ago at={info.started_at} /> · {formatExact(info.started_at)}
          </span>,
        ],
        ['PostgreSQL', <span class="mono">{info.postgresql_version}</span>],
        ['Node.js', <span class="mono">{info.node_version}</span>],
      ]}
    />
  )
}

function Listeners({ of }: { of: SystemInfo['listeners'] }) {
  const words = say(settingsTexts)
  const isLive = hubState.value === 'live'
  return (
    <Pairs
      of={[
        ...of.map(
          ({ name, address }) => [words.listener[name], <span class="mono">{address}</span>] as const,
        ),
        ['/healthz', <Probe path="/healthz" />],
        ['/readyz', <Probe path="/readyz" />],
        [
          '/ws',
          <Mark tone={isLive ? 'ok' : 'bad'} shape={isLive ? 'full' : 'ring'}>
            {isLive ? words.up : words.down}
          </Mark>,
        ],
      ]}
    />
  )
}

function Capabilities({ of }: { of: CapabilityDocument['capabilities'] }) {
  const words = say(settingsTexts)
  return (
    <div class="chips">
      {of.map(({ id, state }) => (
        <span key={id} class={state === 'enabled' ? 'chip' : 'chip quiet'}>
          {id} · {words.capabilityState[state] ?? state}
        </span>
      ))}
    </div>
  )
}

const countersOf = (counters: DatabaseCounters) => {
  const words = say(settingsTexts)
  const keys = Object.keys(words.counters) as (keyof DatabaseCounters)[]
  return keys.map((key) => [words.counters[key], counters[key]] as const)
}

/** `2 Jan` of a day. */
const shortDay = (day: string): string => formatDay(`${day}T12:00:00Z`).replace(/ \d{4}$/, '')

/** The database sessions, the capabilities of this edition, and the addresses of the listeners. */
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
      <Pane title="muster">
        <Loaded of={info}>{(data) => <Process info={data} />}</Loaded>
      </Pane>
      <Pane title={words.systemLead}>
        <Loaded of={database}>{(counters) => <Figures of={countersOf(counters)} />}</Loaded>
      </Pane>
      <Pane title={words.listeners}>
        <Listeners of={info.data?.listeners ?? []} />
      </Pane>
      <Pane title={words.capabilities}>
        <Loaded of={capabilities}>{(document) => <Capabilities of={document.capabilities} />}</Loaded>
      </Pane>
      <Pane title={words.pushes}>
        <Loaded of={activity}>
          {(days) => <Figures of={days.map(({ day, count }) => [shortDay(day), count] as const)} />}
        </Loaded>
      </Pane>
    </>
  )
}
