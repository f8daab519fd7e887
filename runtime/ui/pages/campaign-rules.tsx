import { IN_FLIGHT, LIMITED } from '../../../lib/model/campaign-rules.ts'
import type { CampaignRecord, CampaignWindow } from '../../../lib/wire/campaigns.ts'
import { campaignFormTexts, describeLimit } from '../i18n/campaign-form.ts'
import { say } from '../i18n/define.ts'
import { formatDuration } from '../i18n/format.ts'
import { Pairs } from '../parts/page.tsx'

const DAY_SECONDS = 86_400

function describeWindow({ days = [], from, to }: CampaignWindow): string {
  const words = say(campaignFormTexts)
  const on = days.length === 0 ? words.everyDay : days.map((day) => words.days[day] ?? '').join(' ')
  return `${on} ${from}–${to}`
}

/** The limits, those that are alike in one line. */
function listLimits(of: CampaignRecord): (readonly [string, string])[] {
  const words = say(campaignFormTexts)
  const names = new Map<string, string[]>()
  for (const key of LIMITED) {
    const text = describeLimit(key, of)
    names.set(text, [...(names.get(text) ?? []), words.rule[key]])
  }
  return [...names].map(([text, alike]) => [alike.join(', '), text])
}

/** How long those that are away are waited for, in days where it is whole ones, as the form asks for it. */
function describeCatchUp(seconds: number): string {
  const days = seconds / DAY_SECONDS
  return days > 0 && Number.isInteger(days)
    ? say(campaignFormTexts).ruleDays(days)
    : formatDuration(seconds * 1000)
}

/** By which rules a campaign goes: as they are approved with its plan, and limits that were raised since. */
export function CampaignRules({ of }: { of: CampaignRecord }) {
  const words = say(campaignFormTexts)
  const inFlight = words.ruleInstances(of.max_in_flight)
  return (
    <div class="pane stack tight">
      <h2>{words.rules}</h2>
      <p class="muted">{words.rulesLead}</p>
      <Pairs
        of={[
          ...listLimits(of),
          [
            words.ruleInFlight,
            of.max_in_flight === IN_FLIGHT.standard ? words.ruleStandard(inFlight) : inFlight,
          ],
          [words.ruleCatchUp, describeCatchUp(of.catch_up_seconds)],
          [
            words.ruleWindows,
            of.windows.length === 0 ? words.ruleAnyTime : of.windows.map(describeWindow).join(' · '),
          ],
          ...(of.retry_quarantined ? [[words.ruleRetry, words.ruleRetried] as const] : []),
        ]}
      />
    </div>
  )
}
