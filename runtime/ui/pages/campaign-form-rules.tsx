import {
  CATCH_UP_DAYS,
  IN_FLIGHT,
  LIMITED,
  standardLimit,
  WAVES_MAX,
  WINDOWS_MAX,
} from '../../../lib/model/campaign-rules.ts'
import { campaignFormTexts } from '../i18n/campaign-form.ts'
import { say } from '../i18n/define.ts'
import { newWave, newWindow, WAVE_SIZES, type WaveRow, type WindowRow } from '../logic/campaign-form.ts'
import { Action, Checkbox, Select, TextArea, TextField } from '../parts/controls.tsx'
import type { CampaignForm } from '../state/use-campaign-form.ts'

/** The list with another item in this place. */
const withItem = <T,>(items: readonly T[], at: number, change: Partial<T>): T[] =>
  items.map((item, index) => (index === at ? { ...item, ...change } : item))

interface WaveProps {
  of: WaveRow
  at: number
  isLast: boolean
  form: CampaignForm
}

/** How large a wave is, and how long it is watched; of the last one only the latter. */
function WaveCells({ of: wave, at, isLast, form: { values, set, errorOf } }: WaveProps) {
  const words = say(campaignFormTexts)
  const field = `waves[${at}]`
  const change = (part: Partial<WaveRow>) => set({ waves: withItem(values.waves, at, part) })
  return (
    <div class="cells">
      {!isLast && wave.by !== 'all' && (
        <TextField
          label={words.size}
          type="number"
          value={wave.size}
          onValue={(size) => change({ size })}
          error={errorOf(`${field}.${wave.by}`)}
        />
      )}
      {!isLast && (
        <Select
          label={words.byLabel}
          value={wave.by}
          onValue={(by) => change({ by })}
          options={WAVE_SIZES.map((by) => [by, words.by[by]] as const)}
        />
      )}
      <TextField
        label={words.dwell}
        type="number"
        value={wave.dwell}
        onValue={(dwell) => change({ dwell })}
        error={errorOf(`${field}.dwell_seconds`)}
      />
    </div>
  )
}

function Wave(props: WaveProps) {
  const { of: wave, at, isLast, form } = props
  const { values, set, errorOf } = form
  const words = say(campaignFormTexts)
  const name = isLast ? words.lastWave(at + 1) : words.wave(at + 1)
  return (
    <fieldset class="stack tight" aria-label={name}>
      <legend class="legend">{name}</legend>
      <WaveCells {...props} />
      {!isLast && (
        <>
          <TextArea
            label={words.waveOnly}
            value={wave.lines}
            onValue={(lines) => set({ waves: withItem(values.waves, at, { lines }) })}
            error={errorOf(`waves[${at}].selector`)}
            isMono
            rows={1}
          />
          <div class="actions">
            <Action
              kind="plain"
              onClick={() => set({ waves: values.waves.filter((_, index) => index !== at) })}
            >
              {words.removeWave(at + 1)}
            </Action>
          </div>
        </>
      )}
    </fieldset>
  )
}

/** In which waves it goes. The last one takes all that are left. */
export function WaveFields({ of: form }: { of: CampaignForm }) {
  const words = say(campaignFormTexts)
  const { waves } = form.values
  const add = () => form.set({ waves: [...waves.slice(0, -1), newWave(), ...waves.slice(-1)] })
  return (
    <section class="pane stack" aria-label={words.waves}>
      <h2>{words.waves}</h2>
      <p class="muted">{words.wavesHint}</p>
      {waves.map((wave, at) => (
        <Wave key={at} of={wave} at={at} isLast={at === waves.length - 1} form={form} />
      ))}
      {waves.length < WAVES_MAX && (
        <div class="actions">
          <Action onClick={add}>{words.addWave}</Action>
        </div>
      )}
    </section>
  )
}

/** What halts it. An empty field shows what holds then. */
export function LimitFields({ of: { values, set, errorOf, match } }: { of: CampaignForm }) {
  const words = say(campaignFormTexts)
  const here = match === null || match.selected_count === 0 ? null : match.selected_count
  return (
    <section class="pane stack" aria-label={words.limits}>
      <h2>{words.limits}</h2>
      <p class="muted">{words.limitsHint}</p>
      {LIMITED.map((key) => (
        <TextField
          key={key}
          label={words.limit[key]}
          type="number"
          value={values.limits[key]}
          onValue={(text) => set({ limits: { ...values.limits, [key]: text } })}
          error={errorOf(`limits.${key}`)}
          hint={words.limitHere(
            words.limitHint[key],
            here === null ? null : standardLimit(key, { wave: 1, targetCount: here }),
          )}
        />
      ))}
    </section>
  )
}

function Window({
  of: window,
  at,
  form: { values, set, errorOf },
}: {
  of: WindowRow
  at: number
  form: CampaignForm
}) {
  const words = say(campaignFormTexts)
  const change = (part: Partial<WindowRow>) => set({ windows: withItem(values.windows, at, part) })
  const { days } = window
  const without = (day: number) => days.filter((other) => other !== day)
  return (
    <fieldset class="stack tight" aria-label={words.window(at + 1)}>
      <legend class="legend">
        {words.window(at + 1)}
        {days.length === 0 && `: ${words.everyDay}`}
      </legend>
      <div class="actions">
        {words.days.map((name, day) => (
          <Checkbox
            key={day}
            value={days.includes(day)}
            onValue={(isOn) => change({ days: isOn ? [...days, day] : without(day) })}
          >
            {name}
          </Checkbox>
        ))}
      </div>
      <div class="cells">
        <TextField
          label={words.from}
          type="time"
          value={window.from}
          onValue={(from) => change({ from })}
          error={errorOf(`windows[${at}]`)}
        />
        <TextField label={words.to} type="time" value={window.to} onValue={(to) => change({ to })} />
      </div>
      <div class="actions">
        <Action
          kind="plain"
          onClick={() => set({ windows: values.windows.filter((_, index) => index !== at) })}
        >
          {words.removeWindow(at + 1)}
        </Action>
      </div>
    </fieldset>
  )
}

/** How fast it goes, how long it waits for those that are away, and when it may start workloads. */
export function PaceFields({ of: form }: { of: CampaignForm }) {
  const words = say(campaignFormTexts)
  const { values, set, errorOf } = form
  return (
    <section class="pane stack" aria-label={words.pace}>
      <h2>{words.pace}</h2>
      <TextField
        label={words.inFlight}
        type="number"
        value={values.maxInFlight}
        onValue={(maxInFlight) => set({ maxInFlight })}
        error={errorOf('max_in_flight')}
        hint={words.inFlightHint(IN_FLIGHT.standard, IN_FLIGHT.max)}
      />
      <TextField
        label={words.catchUp}
        type="number"
        value={values.catchUpDays}
        onValue={(catchUpDays) => set({ catchUpDays })}
        error={errorOf('catch_up_seconds')}
        hint={words.catchUpHint(CATCH_UP_DAYS.standard, CATCH_UP_DAYS.max)}
      />
      <h3>{words.windows}</h3>
      <p class="muted">{values.windows.length === 0 ? words.windowsNone : words.windowsHint}</p>
      {values.windows.map((window, at) => (
        <Window key={at} of={window} at={at} form={form} />
      ))}
      {values.windows.length < WINDOWS_MAX && (
        <div class="actions">
          <Action onClick={() => set({ windows: [...values.windows, newWindow()] })}>
            {words.addWindow}
          </Action>
        </div>
      )}
    </section>
  )
}
