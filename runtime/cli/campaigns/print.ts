import { sayApprovalRule, sayRuleReason } from '../../../lib/model/approval-rule-words.ts'
import { findDeadEnd } from '../../../lib/model/campaign-steps.ts'
import { sayDiscount } from '../../../lib/model/discount-words.ts'
import { countLeftOut, sayLeftOut } from '../../../lib/model/left-out.ts'
import { isLapse, sayStop } from '../../../lib/model/stops.ts'
import type {
  CampaignGroup,
  CampaignHalt,
  CampaignPlan,
  CampaignRecord,
} from '../../../lib/wire/campaigns.ts'
import type { ClientIo } from '../command.ts'
import { printLine, printTable } from '../output.ts'

const counted = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`)
    .join(', ') || '-'

/** Print campaigns, a line each. */
export function printCampaigns(io: ClientIo, campaigns: readonly CampaignRecord[]): void {
  const rows = campaigns.map((one) => [
    ...[one.name, one.status, String(one.plan?.target_count ?? '-'), counted(one.counts), one.created_by],
    one.id,
  ])
  printTable(io, ['NAME', 'STATUS', 'CHANGES', 'WORKLOADS', 'BY', 'ID'], rows)
}

/** Print one campaign: where it stands, what its plan says, its waves, and why it halted. */
export function printCampaign(io: ClientIo, campaign: CampaignRecord): void {
  const { plan, halt, planning } = campaign
  const rows: string[][] = [
    ['id', campaign.id],
    ['status', campaign.status],
    ['by', campaign.created_by],
  ]
  if (planning !== undefined) rows.push(['being planned', `${planning.done} of ${planning.total}`])
  if (plan !== undefined) {
    rows.push(
      ['changes', `${plan.target_count} workloads, ${plan.instance_count} instances`],
      ['production', `${plan.production_count} workloads`],
      ['no way back', `${plan.no_way_back_count} workloads`],
      ['components unknown', `${plan.components_unknown_count ?? '-'} workloads`],
      ['away', `${plan.verdicts['offline'] ?? 0} workloads, catch up later`],
      ['left out', sayLeftOut(plan.left_out ?? countLeftOut(plan))],
      ...missingRows(plan),
      ['plan', campaign.plan_hash ?? '-'],
    )
  }
  const { version_rolled_back_by: takenBackBy } = campaign
  if (campaign.version_rolled_back)
    rows.push(['version', `was carried before, and taken back${takenBackBy ? ` by ${takenBackBy}` : ''}`])
  rows.push(...ruleRows(campaign))
  for (const { by, comment } of campaign.approvals) rows.push(['approved by', `${by}: ${comment}`])
  rows.push(...approvalRows(campaign))
  if (campaign.closed_by !== undefined)
    rows.push(['closed by', [campaign.closed_by, campaign.close_comment ?? []].flat().join(': ')])
  rows.push(['workloads', counted(campaign.counts)])
  printTable(io, ['CAMPAIGN', campaign.name], rows)
  if (plan !== undefined && plan.waves.length > 0) printWaves(io, campaign, plan.waves)
  if (halt !== undefined) for (const line of haltLines(campaign, halt)) printLine(io, line)
}

/** What workloads are refused for as they lack it. */
const missingRows = ({ missing_components: missing = [] }: CampaignPlan): string[][] =>
  missing.length === 0
    ? []
    : [['not installed', missing.map(({ component, count }) => `${component} (${count})`).join(', ')]]

/** Which rule it is approved by, and why. */
const ruleRows = ({ approval_rule: rule }: CampaignRecord): string[][] =>
  rule === undefined
    ? []
    : [
        ['approval rule', sayApprovalRule(rule)],
        ...rule.because.map((because) => ['because', sayRuleReason(because)]),
      ]

/** How far it is approved, who is in the way of an approval by whoever asks, and who could give one. */
function approvalRows({ tally, help }: CampaignRecord): string[][] {
  if (tally === undefined) return []
  const rows = [['approvals', `${tally.given} of ${tally.needed}`]]
  if (help === undefined || tally.given >= tally.needed) return rows
  const { because, could_approve: could, could_approve_count: count } = help
  if (tally.own !== 'counts') rows.push(['yours', `would not count: ${sayDiscount(tally.own)}`])
  for (const { who, account_at: at, by_provider: isByProvider } of because) {
    const name = who ?? (isByProvider ? 'the identity provider' : 'an account that is gone')
    rows.push(['in the way', `${name}${at === undefined ? '' : `, by the account, changed at ${at}`}`])
  }
  const more = (count ?? could.length) - could.length
  if (count === 0) rows.push(['could approve', 'nobody as things stand'])
  else if (could.length > 0)
    rows.push(['could approve', `${could.join(', ')}${more > 0 ? ` and ${more} more` : ''}`])
  return rows
}

function printWaves(
  io: ClientIo,
  { wave, status, wave_counts: counts }: CampaignRecord,
  waves: NonNullable<CampaignRecord['plan']>['waves'],
): void {
  const rows = waves.map((one, at) => [
    `${at + 1}${at === wave && status === 'running' ? ' now' : ''}`,
    ...[String(one.target_count), String(one.production_count), `${one.dwell_seconds} s`],
    counted(counts[at] ?? {}),
  ])
  printTable(io, ['WAVE', 'CHANGES', 'PRODUCTION', 'WATCHED', 'WORKLOADS'], rows)
}

/** Why it halted and on whom, and where it can go from there. */
function haltLines(campaign: CampaignRecord, halt: CampaignHalt): string[] {
  const { workloads = [], value } = halt
  const names = workloads.map(({ workload_name: name }) => name)
  const more = isLapse(halt.gate) ? 0 : value - names.length
  const who = `${names.join(', ')}${names.length > 0 && more > 0 ? ` and ${more} more` : ''}`
  const why = sayStop({ ...halt, title: halt.title ?? halt.cause })
  return [`Halted in wave ${halt.wave + 1}: ${why}${who && `: ${who}`}.`, sayWayOut(campaign, halt)]
}

function sayWayOut(campaign: CampaignRecord, { gate, value, holds, passed = [] }: CampaignHalt): string {
  const stays = findDeadEnd('roll-back', campaign) !== null
  /** What can be done, with or without the roll-back at its end. */
  const either = (first: string, last: string) =>
    stays
      ? `${first} or ${last}. It cannot be rolled back: no workload that runs it has a former config.`
      : `${first}, ${last}, or roll it back.`
  if (findDeadEnd('continue', campaign) !== null)
    return `No workload is left to be changed, and none has the change whole: abort it${stays ? '.' : ', or roll it back.'}`
  if (isLapse(gate) && holds === false) return either('That is as it was again: continue', 'abort')
  if (isLapse(gate))
    return `It goes on only once that is as it was. Else abort it and ask anew${stays ? '.' : ', or roll it back.'}`
  const raised = (passed.length > 0 ? passed : [{ gate, value }]).map(
    (one) => `--raise ${one.gate}=${one.value}`,
  )
  return holds
    ? either(`It would halt again as it is: continue with ${raised.join(' ')} or more`, 'abort')
    : either('Look at its workloads, then continue', 'abort')
}

/** What a diff is to, where it is not to a config of muster. */
const COMPARED: Partial<Record<NonNullable<CampaignGroup['compared_with']>, string>> = {
  reported: 'nothing that muster pushed is active: compared with what the instances report to run',
  nothing:
    'nothing that muster pushed is active, and what the instances report is not known: compared with nothing, what is lost is not shown',
}

/** Print how configs change: a group of workloads each, with the diff that they share. */
export function printGroups(io: ClientIo, groups: readonly CampaignGroup[]): void {
  for (const {
    count,
    sample_workload_name: sample,
    diff,
    risk,
    variables,
    other_matches,
    ...more
  } of groups) {
    printLine(io, '')
    printLine(io, `${count} workloads as ${sample}, risk ${risk ?? 'not known'}:`)
    for (const [name, values] of Object.entries(variables))
      printLine(
        io,
        `  ${name}: ${values.map(({ value, count }) => `${value} (${count})`).join(', ')}${sayLeft(more.more_values?.[name], 'values')}`,
      )
    const compared = more.compared_with === undefined ? undefined : COMPARED[more.compared_with]
    if (compared !== undefined) printLine(io, `  ${compared}`)
    if (other_matches !== undefined)
      printLine(io, `  named like what is renamed, and left: ${other_matches.join(', ')}`)
    for (const line of diff.split('\n')) printLine(io, `  ${line}`)
    if (more.diff_missing)
      printLine(io, '  no diff: the text is not kept any more, or comparing it takes too long')
    if (more.diff_lines_left > 0) printLine(io, `  ${more.diff_lines_left} more lines of the diff`)
  }
}

const sayLeft = (count: number | undefined, what: string): string =>
  count === undefined ? '' : `, and ${count} more ${what}`

/** Say that a plan changes workloads whose groups were not printed, and where they are shown. */
export function printGroupsLeft(io: ClientIo, count: number, url: string): void {
  if (count <= 0) return
  printLine(io, '')
  printLine(io, `${count} workloads are in other groups, or outside of your scope: ${url}`)
}
