import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { adoptTexts } from '../i18n/adopt.ts'
import { describeReach } from '../i18n/campaign-sentences.ts'
import { nameStatus } from '../i18n/campaign-status.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { formatNumber } from '../i18n/format.ts'
import { CAMPAIGN_KINDS, lookOf, toBar, wrongState } from '../logic/campaigns.ts'
import { ActionLink, unless } from '../parts/controls.tsx'
import { EditionLine } from '../parts/edition.tsx'
import { Loaded, Waiting } from '../parts/failure.tsx'
import { FreezeNotice } from '../parts/freeze-notice.tsx'
import { OutsideScope } from '../parts/outside-scope.tsx'
import { Head } from '../parts/page.tsx'
import { Ago, Mark, Track } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { countOf } from '../parts/tally.tsx'
import { type NameVersion, useVersionNames } from '../parts/version-name.tsx'
import { api } from '../state/endpoints.ts'
import { hrefWith, query } from '../state/router.ts'
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
  const wrong = wrongState(of)
  if (total === 0) return <span class="faint">–</span>
  return (
    <>
      <Track parts={toBar(of.counts)} total={total} isSmall /> {describeReach(of.status, of.counts, total)}{' '}
      {wrong !== null && (
        <a class="link" href={`/campaigns/${of.id}?state=${wrong}`}>
          {say(campaignTexts).seeFailed}
        </a>
      )}
    </>
  )
}

/** The name of a campaign, which leads to it, with what its author says of it. */
export const nameColumn = (versionOf: NameVersion): TableColumn<CampaignRecord> => ({
  title: say(campaignTexts).column.name,
  look: 'text',
  cell: ({ id, name, description, change }) => {
    const version = versionOf(change)
    return (
      <>
        <a class="name" href={`/campaigns/${id}`}>
          {name}
        </a>{' '}
        {description !== '' && <span class="sub">{description}</span>}{' '}
        {version !== null && <span class="sub">{version}</span>}
      </>
    )
  },
})

function listColumns(versionOf: NameVersion): TableColumn<CampaignRecord>[] {
  const { column } = say(campaignTexts)
  return [
    nameColumn(versionOf),
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
  const versionOf = useVersionNames(of)
  if (versionOf === null) return <Waiting />
  const columns = listColumns(versionOf)
  return <Table label={say(campaignTexts).title} columns={columns} rows={of} keyOf={({ id }) => id} />
}

/** Campaigns as a table that is narrowed by the address, with how many each of these would show. */
function Narrowed({ of }: { of: readonly CampaignRecord[] }) {
  const words = say(campaignTexts)
  const wanted = KINDS.find((kind) => kind === query.value.get('show'))
  const shown = wanted === undefined ? of : of.filter(CAMPAIGN_KINDS[wanted])
  const link = (kind: (typeof KINDS)[number] | null, text: string) => (
    <a
      class="link"
      key={kind}
      aria-current={(wanted ?? null) === kind ? 'true' : undefined}
      href={hrefWith({ show: kind })}
    >
      {text}
    </a>
  )
  return (
    <>
      <nav class="actions" aria-label={words.showLabel}>
        {link(null, words.show.all)}
        {KINDS.map((kind) =>
          link(kind, `${words.show[kind]} ${formatNumber(of.filter(CAMPAIGN_KINDS[kind]).length)}`),
        )}
      </nav>
      {shown.length === 0 ? <p class="empty">{words.noneSuch}</p> : <CampaignTable of={shown} />}
    </>
  )
}

const KINDS = ['open', 'over', 'failures'] as const

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
              {all.length > 0 && <Narrowed of={all} />}
              {all.length + campaigns.outside === 0 && <p class="empty">{words.none}</p>}
              <OutsideScope count={campaigns.outside} />
            </>
          )}
        </Loaded>
      )}
    </>
  )
}
