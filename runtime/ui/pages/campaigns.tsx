import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { formatNumber } from '../i18n/format.ts'
import { CAMPAIGN_LOOK, toBar } from '../logic/campaigns.ts'
import { Capped } from '../parts/capped.tsx'
import { ActionLink, unless } from '../parts/controls.tsx'
import { EditionLine } from '../parts/edition.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Head, Sheet } from '../parts/page.tsx'
import { Ago, Mark, Track } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { can } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

/** The state of a campaign: its shape, its colour and its word. */
export function CampaignMark({ of }: { of: Pick<CampaignRecord, 'status'> }) {
  const [tone, shape] = CAMPAIGN_LOOK[of.status]
  return (
    <Mark tone={tone} shape={shape}>
      {say(campaignTexts).status[of.status]}
    </Mark>
  )
}

function Row({ campaign }: { campaign: CampaignRecord }) {
  const total = campaign.plan?.target_count ?? 0
  const applied = campaign.counts['applied'] ?? 0
  return (
    <tr>
      <td class="text">
        <a class="name" href={`/campaigns/${campaign.id}`}>
          {campaign.name}
        </a>
        {campaign.description !== '' && <span class="sub">{campaign.description}</span>}
      </td>
      <td>
        <CampaignMark of={campaign} />
      </td>
      <td>
        {total === 0 ? (
          <span class="faint">–</span>
        ) : (
          <>
            <Track parts={toBar(campaign.counts)} total={total} isSmall />{' '}
            {`${formatNumber(applied)} / ${formatNumber(total)}`}
          </>
        )}
      </td>
      <td>{campaign.created_by}</td>
      <td class="muted">
        <Ago at={campaign.created_at} />
      </td>
    </tr>
  )
}

/** Every campaign, the newest first. */
export function CampaignsPage() {
  const words = say(campaignTexts)
  const { column } = words
  const campaigns = useResource(
    can('config_safety.campaigns') ? 'campaigns' : null,
    (abort) => api.campaigns(abort),
    (frame) => frame.type === 'campaign_update',
  )
  return (
    <>
      <Head title={words.title}>
        <ActionLink href="/campaigns/new" kind="primary" reason={unless('workload:push_config')}>
          {words.create}
        </ActionLink>
      </Head>
      <p class="muted">{words.lead}</p>
      <EditionLine parts={['campaigns']} />
      {can('config_safety.campaigns') && (
        <Loaded of={campaigns}>
          {(all) =>
            all.length === 0 ? (
              <p class="empty">{words.none}</p>
            ) : (
              <Sheet
                isStacked
                label={words.title}
                head={
                  <>
                    <th scope="col">{column.name}</th>
                    <th scope="col">{column.state}</th>
                    <th scope="col">{column.progress}</th>
                    <th scope="col">{column.by}</th>
                    <th scope="col">{column.created}</th>
                  </>
                }
              >
                <Capped rows={all}>{(campaign) => <Row key={campaign.id} campaign={campaign} />}</Capped>
              </Sheet>
            )
          }
        </Loaded>
      )}
    </>
  )
}
