import { useSignal } from '@preact/signals'
import type { RolloutGateName } from '../../../lib/wire/rollouts.ts'
import { ROLLOUT_GATES } from '../../../lib/wire/values.ts'
import { changeTexts } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { listStageSizes, readShares, toStageRequests, USUAL_STAGES } from '../logic/stages.ts'
import { bind, Checkbox, TextField } from '../parts/controls.tsx'

/** The longest dwell of a stage in seconds: a week. */
const DWELL_SECONDS_MAX = 604_800

/**
 * The stages of a push as its form holds them, on where they are suggested until somebody says otherwise: that may be known
 * a moment after the form is open. `wanted` is what is asked for, null when nothing is or something is wrong.
 */
export function useStages(isSuggested: boolean, connected: number) {
  const chosen = useSignal<boolean | null>(null)
  const isOn = chosen.value ?? isSuggested
  const shares = useSignal(USUAL_STAGES.shares.join(', '))
  const dwell = useSignal(String(USUAL_STAGES.dwellSeconds))
  const gates = useSignal<RolloutGateName[]>([...ROLLOUT_GATES])
  const read = readShares(shares.value)
  const seconds = dwell.value.trim() === '' ? Number.NaN : Number(dwell.value)
  const words = say(changeTexts)
  const fault = !isOn
    ? null
    : read === null
      ? words.stageFault
      : Number.isInteger(seconds) && seconds >= 0 && seconds <= DWELL_SECONDS_MAX
        ? null
        : words.stageDwellFault
  const wanted = isOn && fault === null ? toStageRequests(read ?? [], seconds, gates.value, connected) : null
  return { isOn, chosen, isSuggested, shares, dwell, gates, fault, wanted }
}

/** The part of the form of a push that asks whether, and in which stages, it is rolled out. */
export function Stages({ of, connected }: { of: ReturnType<typeof useStages>; connected: number }) {
  const words = say(changeTexts)
  return (
    <>
      <Checkbox
        value={of.isOn}
        onValue={(isOn) => {
          of.chosen.value = isOn
        }}
      >
        {words.stages}
      </Checkbox>
      {of.isSuggested && <p class="muted">{of.isOn ? words.stagesSuggested : words.stagesLeft}</p>}
      {of.isOn && (
        <div class="stack tight">
          <TextField
            label={words.stageShares}
            hint={
              of.wanted === null
                ? words.stageHint
                : words.stagePreview(listStageSizes(of.wanted, connected), connected)
            }
            error={of.fault === words.stageFault ? of.fault : null}
            {...bind(of.shares)}
          />
          <TextField
            label={words.stageDwell}
            type="number"
            error={of.fault === words.stageDwellFault ? of.fault : null}
            {...bind(of.dwell)}
          />
          <fieldset class="field">
            <legend class="label muted">{words.stageGates}</legend>
            {ROLLOUT_GATES.map((gate) => (
              <Checkbox
                key={gate}
                value={of.gates.value.includes(gate)}
                onValue={(isOn) => {
                  of.gates.value = ROLLOUT_GATES.filter((id) =>
                    id === gate ? isOn : of.gates.value.includes(id),
                  )
                }}
              >
                {words.gates[gate]}
              </Checkbox>
            ))}
          </fieldset>
        </div>
      )}
    </>
  )
}
