import type { ClientIo } from '../command.ts'
import { printLine, printTable, shortHash, toLines } from '../output.ts'
import type { FleetStep } from './fleet-steps.ts'
import type { Step } from './run.ts'

const WORDS: Readonly<Record<string, string>> = {
  failed: 'it failed there',
  rejected: 'its request was rejected',
  replaced: 'something else took its place',
  rolling_out: 'it is being rolled out in stages: apply again once that has ended',
  other_rolling_out: 'another config is being rolled out: apply again once that has ended, or end it',
  aborted: 'its campaign was aborted',
  rolled_back: 'its campaign was rolled back',
  other_under_way: 'another campaign is under way: wait for its end, or abort it or roll it back',
  nothing_changes: 'no workload would change',
}

/** What becomes of a campaign whose rules the folder has changed. */
const RULES = {
  new: 'its campaign is proposed with the new rules',
  former: 'its campaign was started and goes on by its former rules: the new ones count for the next',
} as const

/** The same of a fleet config whose campaign came to its end: what became of it at a workload since. */
const AT_A_WORKLOAD: Readonly<Record<string, string>> = {
  failed: 'it failed at a workload',
  rolled_back: 'a workload was rolled back',
  replaced: 'something else took its place at a workload',
}

const NOT_COMPARED =
  'nothing was pushed there yet, so this cannot be compared: the page of its request says what changes against what runs, and how risky that is'

/**
 * Print what `plan` found or `apply` did, a line for each workload and fleet config, and how many files hold no
 * document.
 */
export function print(io: ClientIo, steps: readonly (Step | FleetStep)[], others: number): void {
  const workloads = steps.filter((step) => step.kind === 'WorkloadConfig')
  const fleets = steps.filter((step) => step.kind === 'FleetConfig')
  if (workloads.length > 0) {
    const rows = workloads.map((step) => [
      ...[step.workload, step.action, shortHash(step.active_config_hash), shortHash(step.config_hash)],
      step.action === 'refused' ? '-' : (WORDS[step.reason ?? ''] ?? step.approval_id ?? '-'),
    ])
    printTable(io, ['WORKLOAD', 'ACTION', 'ACTIVE', 'WANTED', 'ABOUT'], rows)
  }
  if (fleets.length > 0) {
    const rows = fleets.map((step) => [
      ...[step.fleet_config, step.action, step.version === undefined ? 'new' : String(step.version)],
      ...[String(step.workload_count ?? '-'), step.campaign_status ?? '-'],
      step.action === 'refused' ? '-' : aboutFleet(step),
    ])
    printTable(io, ['FLEET CONFIG', 'ACTION', 'VERSION', 'WORKLOADS', 'CAMPAIGN', 'ABOUT'], rows)
  }
  for (const step of fleets)
    for (const change of tellDefinition(step)) printLine(io, `${step.fleet_config}: ${change}`)
  for (const { fleet_config: name, campaign_rules: rules } of fleets)
    if (rules !== undefined) printLine(io, `${name}: ${RULES[rules]}`)
  for (const step of steps)
    for (const change of step.changes ?? []) printLine(io, `${nameOf(step)}: ${change}`)
  for (const step of workloads) if (step.not_compared) printLine(io, `${step.workload}: ${NOT_COMPARED}`)
  for (const { action, reason } of steps) if (action === 'refused') io.error(`${toLines(reason ?? '')}\n`)
  if (steps.some(({ action }) => action === 'held')) io.out('What is held is asked for with --again.\n')
  if (steps.some(({ action }) => action === 'leftover'))
    io.out('What is left over is no longer kept from Git after apply --prune.\n')
  if (others > 0) io.out(`YAML files that hold no document of muster: ${others}\n`)
}

/** The workload or the fleet config that a step is about, by its name. */
export const nameOf = (step: Step | FleetStep): string =>
  step.kind === 'WorkloadConfig' ? step.workload : step.fleet_config

/** What a line says last: in words where there is something to say, with the campaign that is meant. */
function aboutFleet({ reason = '', campaign_id: id = '', campaign_status: status }: FleetStep): string {
  const words = (status === 'done' ? AT_A_WORKLOAD[reason] : undefined) ?? WORDS[reason]
  if (words === undefined) return id || '-'
  return reason === 'other_under_way' && id !== '' ? `${id}: ${words}` : words
}

/** What becomes another of a fleet config beside its text, and for how many workloads. */
function tellDefinition({
  definition_changes: parts = [],
  joining_count: joining = 0,
  leaving_count: leaving = 0,
}: FleetStep): string[] {
  const changes = parts.map((part) => `${part} changes`)
  if (joining + leaving === 0) return changes
  return [...changes, `workloads that come under it: ${joining}, that leave it: ${leaving}`]
}
