import { campaignFormTexts } from '../i18n/campaign-form.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { selectionTexts } from '../i18n/selection.ts'
import { selectorLines } from '../logic/selector-lines.ts'
import { CodeEditor } from '../parts/code.tsx'
import { Checkbox, Select, TextArea, TextField } from '../parts/controls.tsx'
import { OutsideScope } from '../parts/outside-scope.tsx'
import { TakenBackVersion } from '../parts/version-taken-back.tsx'
import type { CampaignForm } from '../state/use-campaign-form.ts'

/** What is carried: a name for it, and the config, the patch or the version. */
export function WhatFields({ of: { values, set, errorOf } }: { of: CampaignForm }) {
  const words = say(campaignTexts)
  const { version } = values
  return (
    <section class="pane stack" aria-label={say(campaignFormTexts).what}>
      <h2>{say(campaignFormTexts).what}</h2>
      <TextField
        label={words.name}
        value={values.name}
        onValue={(name) => set({ name })}
        error={errorOf('name')}
        maxLength={128}
      />
      <TextField
        label={words.description}
        value={values.description}
        onValue={(description) => set({ description })}
        error={errorOf('description')}
      />
      {version === null ? (
        <Select
          label={words.kind}
          value={values.kind}
          onValue={(kind) => set({ kind })}
          options={[
            ['text', words.kinds.text],
            ['patch', words.kinds.patch],
          ]}
        />
      ) : (
        <>
          <p>
            {say(campaignFormTexts).version(version.number)}{' '}
            <a class="link" href={`/fleet-configs/${version.fleetConfigId}?version=${version.number}`}>
              {say(campaignFormTexts).seeVersion}
            </a>
          </p>
          <TakenBackVersion fleetConfigId={version.fleetConfigId} number={version.number} />
        </>
      )}
      {values.kind !== 'patch' && (
        <Checkbox value={values.takeover} onValue={(takeover) => set({ takeover })}>
          {words.takeover}
        </Checkbox>
      )}
    </section>
  )
}

/** The config, or the patch as JSON; nothing where a version is carried. */
export function ChangeField({ of: { values, set, errorOf } }: { of: CampaignForm }) {
  const words = say(campaignTexts)
  const error = errorOf('change')
  if (values.kind === 'version') return null
  if (values.kind === 'patch')
    return (
      <div class="pane stack tight">
        <TextArea
          label={words.patch}
          value={values.text}
          onValue={(text) => set({ text })}
          hint={words.patchHint}
          error={error}
          isMono
          rows={18}
        />
        <Checkbox value={values.unfitRefuses} onValue={(unfitRefuses) => set({ unfitRefuses })}>
          {words.unfitRefuses}
        </Checkbox>
      </div>
    )
  return (
    <div class="pane flush">
      <CodeEditor text={values.text} label={words.config} onText={(text) => set({ text })} error={error} />
    </div>
  )
}

/** Whom the typed conditions mean now. */
function Matched({ of: { values, match, isCounting } }: { of: CampaignForm }) {
  const words = say(campaignFormTexts)
  if (match === null)
    return (
      <p class="muted" role="status">
        {isCounting && (values.lines.trim() !== '' || values.ids?.length) ? words.counting : ''}
      </p>
    )
  const { selected_count: count, names, unmatched, unmet, excluded_count: left } = match
  return (
    <div role="status">
      <p class={count === 0 ? 'warn' : ''}>
        <b>{count === 0 ? words.nobody : words.matches(count, match.production_count)}</b>{' '}
        {match.disconnected_count > 0 && words.disconnected(match.disconnected_count)}{' '}
        {left > 0 && words.leftOut(left)}
      </p>
      {count > 0 && <p class="muted">{words.matchedNames(names, count - names.length)}</p>}
      {unmet !== undefined && (
        <p class="warn">
          {unmet.length === 0 ? words.noneMeetsAll : words.unmet(selectorLines({ match_expressions: unmet }))}
        </p>
      )}
      <OutsideScope count={match.outside_scope_count} />
      {unmatched.length > 0 && <p class="warn">{words.unmatched(unmatched)}</p>}
    </div>
  )
}

/** Which workloads are meant, and which of them are left out. */
export function WhoFields({ of }: { of: CampaignForm }) {
  const words = say(campaignTexts)
  const own = say(campaignFormTexts)
  const { values, set, errorOf } = of
  const { ids } = values
  const area = (
    key: 'lines' | 'excludeLines' | 'excludeNames',
    field: string,
    [label, hint]: readonly [string, string],
  ) => (
    <TextArea
      label={label}
      hint={hint}
      value={values[key]}
      onValue={(text) => set({ [key]: text })}
      error={errorOf(field)}
      isMono
      rows={key === 'lines' ? 3 : 2}
    />
  )
  const scopeHint = values.version === null ? own.scopeHint : `${own.scopeHint} ${own.scopeOfVersion}`
  return (
    <section class="pane stack" aria-label={own.who}>
      <h2>{own.who}</h2>
      {ids === null && <p class="warn">{say(selectionTexts).unknown}</p>}
      {ids !== null && ids.length > 0 && <p>{words.named(ids.length)}</p>}
      {area('lines', 'scope.selector', [words.scope, scopeHint])}
      {area('excludeLines', 'scope.exclude_selector', [own.exclude, own.excludeHint])}
      {area('excludeNames', 'scope.exclude_names', [own.excludeNames, own.excludeNamesHint])}
      <Matched of={of} />
      <Checkbox value={values.retryQuarantined} onValue={(retryQuarantined) => set({ retryQuarantined })}>
        {own.retry} <span class="muted">{own.retryHint}</span>
      </Checkbox>
    </section>
  )
}
