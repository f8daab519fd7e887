import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { approvalTexts } from '../i18n/approvals.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { changeTexts } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { worstRiskOf } from '../logic/campaigns.ts'
import { breakable } from '../parts/breakable.tsx'
import { Waiting } from '../parts/failure.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { countOf } from '../parts/tally.tsx'
import { type NameVersion, useVersionNames } from '../parts/version-name.tsx'
import { api } from '../state/endpoints.ts'
import { waitsForMe } from '../state/for-you.ts'
import { holds } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'
import { CampaignMark, nameColumn } from './campaigns.tsx'
import { RiskMark } from './diff-summary.tsx'

/** How risky what a plan brings is, by the groups of it that touch production, and the rarest ones. */
function Risk({ of: { id, plan_hash: plan } }: { of: CampaignRecord }) {
  const isAsked = plan !== undefined && holds('config:read_content')
  const groups = useResource(isAsked ? `plan-risk:${id}:${plan}` : null, (abort) =>
    api.planGroups(`/api/campaigns/${encodeURIComponent(id)}/groups`, null, abort),
  )
  if (groups.data === null) return <span class="faint">{groups.isLoading ? '…' : '–'}</span>
  const risk = worstRiskOf(groups.data)
  return risk === null ? <span class="muted">{say(changeTexts).riskUnknown}</span> : <RiskMark risk={risk} />
}

/** How many workloads a plan changes, and how many of them are production. */
function Reach({ of: { plan } }: { of: CampaignRecord }) {
  if (plan === undefined) return <span class="faint">–</span>
  const text = say(campaignTexts).reaches(plan.target_count, plan.production_count)
  if (plan.production_count === 0) return <span class="muted">{text}</span>
  return (
    <Mark tone="warn" shape="triangle">
      {text}
    </Mark>
  )
}

/** Who asked for something, and how long ago. */
export const Asked = ({ by, at }: { by: string; at: string }) => (
  <>
    <span class="mail">{breakable(by)}</span>
    <div class="beneath">
      <Ago at={at} />
    </div>
  </>
)

function columnsOf(versionOf: NameVersion): TableColumn<CampaignRecord>[] {
  const { column } = say(approvalTexts)
  return [
    nameColumn(versionOf),
    {
      title: column.requester,
      cell: (of) => <Asked by={of.requested_by ?? of.created_by} at={of.requested_at ?? of.created_at} />,
    },
    { title: column.reach, cell: (of) => <Reach of={of} /> },
    { title: column.risk, cell: (of) => <Risk of={of} /> },
    {
      title: column.state,
      look: 'text told',
      cell: (of) => (
        <>
          <CampaignMark of={of} />
          {of.tally && <div class="beneath">{countOf(of.tally)}</div>}
          {waitsForMe(of) && <div class="beneath warn">{say(approvalTexts).forYou}</div>}
        </>
      ),
    },
  ]
}

/** Campaigns that wait for an approval: what an approver is told of a single request. */
export function WaitingCampaigns({ of }: { of: readonly CampaignRecord[] }) {
  const versionOf = useVersionNames(of)
  if (versionOf === null) return <Waiting />
  const columns = columnsOf(versionOf)
  return <Table label={say(campaignTexts).title} columns={columns} rows={of} keyOf={({ id }) => id} />
}
