import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { adoptTexts } from '../i18n/adopt.ts'
import { describeReach } from '../i18n/campaign-sentences.ts'
import { nameStatus } from '../i18n/campaign-status.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { lookOf, toBar } from '../logic/campaigns.ts'
import { ActionLink, unless } from '../parts/controls.tsx'
import { EditionLine } from '../parts/edition.tsx'
import { Loaded } from '../parts/failure.tsx'
import { FreezeNotice } from '../parts/freeze-notice.tsx'
import { OutsideScope } from '../parts/outside-scope.tsx'
import { Head } from '../parts/page.tsx'
import { Ago, Mark, Track } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { countOf } from '../parts/tally.tsx'
import { api } from '../state/endpoints.ts'
import { can } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

/** The state of a campaign: its shape, its colour and its word. */
export function CampaignMark({
  of,
}: {
  of: Pick<CampaignRecord, 'status' | 'counts' | 'in_part' | 'by_itself_counts' | 'held_up'>
}) {
  const [tone, shape] = lookOf(of)
  return (
    <Mark tone={tone} shape={shape}>
      {nameStatus(of)}
    </Mark>
  )
}

function Progress({ of }: { of: CampaignRecord }) {
  const total = of.plan?.target_count ?? 0
  if (total === 0) return <span class="faint">–</span>
  return (
    <>
      <Track parts={toBar(of.counts)} total={total} isSmall /> {describeReach(of.status, of.counts, total)}
    </>
  )
}

/** The name of a campaign, which leads to it, with what its author says of it. */
export const nameColumn = (): TableColumn<CampaignRecord> => ({
  title: say(campaignTexts).column.name,
  look: 'text',
  cell: ({ id, name, description }) => (
    <>
      <a class="name" href={`/campaigns/${id}`}>
        {name}
      </a>{' '}
      {description !== '' && <span class="sub">{description}</span>}
    </>
  ),
})

function listColumns(): TableColumn<CampaignRecord>[] {
  const { column } = say(campaignTexts)
  return [
    nameColumn(),
    {
      title: column.state,
      cell: (campaign) => (
        <>
          <CampaignMark of={campaign} />{' '}
          {campaign.tally && <span class="sub">{countOf(campaign.tally)}</span>}
        </>
      ),
    },
    { title: column.progress, cell: (campaign) => <Progress of={campaign} /> },
    { title: column.by, cell: ({ created_by }) => created_by },
    { title: column.created, look: 'muted', cell: ({ created_at }) => <Ago at={created_at} /> },
  ]
}

/** Campaigns as a table. */
export function CampaignTable({ of }: { of: readonly CampaignRecord[] }) {
  return <Table label={say(campaignTexts).title} columns={listColumns()} rows={of} keyOf={({ id }) => id} />
}

/** Every campaign, the newest first. */
export function CampaignsPage() {
  const words = say(campaignTexts)
  const campaigns = useResource(
    can('config_safety.campaigns') ? 'campaigns' : null,
    (abort) => api.campaigns(abort),
    (frame) => frame.type === 'campaign_update',
  )
  return (
    <>
      <Head title={words.title}>
        {can('config_safety.campaigns') && <ActionLink href="/adopt">{say(adoptTexts).open}</ActionLink>}
        <ActionLink href="/campaigns/new" kind="primary" reason={unless('config:request')}>
          {words.create}
        </ActionLink>
      </Head>
      <p class="muted">{words.lead}</p>
      <FreezeNotice />
      <EditionLine parts={['campaigns']} />
      {can('config_safety.campaigns') && (
        <Loaded of={campaigns}>
          {(all) => (
            <>
              {all.length > 0 && <CampaignTable of={all} />}
              {all.length + campaigns.outside === 0 && <p class="empty">{words.none}</p>}
              <OutsideScope count={campaigns.outside} />
            </>
          )}
        </Loaded>
      )}
    </>
  )
}
