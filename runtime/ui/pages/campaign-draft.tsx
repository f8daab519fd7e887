import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { describeDraft } from '../i18n/campaign-draft.ts'
import { campaignFormTexts } from '../i18n/campaign-form.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { textOfChange } from '../logic/campaign-form.ts'
import { CodeView } from '../parts/code.tsx'
import { Pairs } from '../parts/page.tsx'
import { CampaignRules } from './campaign-rules.tsx'

/** A campaign without a plan: what was written down of it. */
export function CampaignDraft({ of }: { of: CampaignRecord }) {
  const words = say(campaignTexts)
  const own = say(campaignFormTexts)
  const { change } = of
  const text = textOfChange(change)
  return (
    <div class="stack">
      <p class="muted">{words.noPlan}</p>
      <div class="two even">
        <div class="pane stack tight">
          <h2>{words.kind}</h2>
          <Pairs of={describeDraft(of)} />
          {change.kind === 'version' && (
            <a class="link" href={`/fleet-configs/${change.fleet_config_id}?version=${change.number}`}>
              {own.seeVersion}
            </a>
          )}
        </div>
        <CampaignRules of={of} />
      </div>
      {text !== '' && (
        <div class="pane flush">
          <CodeView text={text} label={change.kind === 'patch' ? words.patch : words.config} />
        </div>
      )}
    </div>
  )
}
