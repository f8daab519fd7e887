import { noFollowers } from '../../../lib/audit/commit-followers.ts'
import { FleetConfigs } from '../../../lib/fleet-configs/fleet-configs.ts'
import { LabelRules } from '../../../lib/label-rules/label-rules.ts'
import type { Connection } from '../../../lib/store/connection.ts'
import type { SimService } from '../service/sim-service.ts'
import { differences } from './differences.ts'
import type { Report } from './finding.ts'

/**
 * At rest a service holds of fleet configs, memberships, holds, the freeze and label rules what a service that started
 * now would load, and every workload wears the labels that the rules give.
 */
export async function checkFleetConfigMemory(
  service: SimService,
  watcher: Connection,
  report: Report,
): Promise<void> {
  const { fleetConfigs: held, labelRules, fleet, db, clock, hub } = service.ctx
  const stored = new FleetConfigs({ db, clock, fleet, followers: noFollowers })
  await stored.load(watcher)
  const rules = new LabelRules({ db, hub, fleet: () => fleet, followers: noFollowers })
  await rules.load(watcher)
  const workloads = [...fleet.state.workloads.values()]
  const describe = (configs: FleetConfigs, given: LabelRules) => ({
    configs: configs.configs,
    freeze: configs.freeze,
    rules: given.rules.map(({ rows: _, ...rule }) => rule),
    ...Object.fromEntries(
      workloads.flatMap((workload) => [
        [`member ${workload.id}`, configs.writtenMembershipOf(workload.id)],
        [`under ${workload.id}`, configs.membershipOf(workload)],
        [`hold ${workload.id}`, configs.holdOf(workload.id)],
      ]),
    ),
  })
  for (const difference of differences(describe(held, labelRules), describe(stored, rules)))
    report(`fleet configs are held with ${difference} as stored`)
  for (const { id, ruleLabels, fingerprintKeys } of workloads)
    for (const difference of differences(
      { labels: ruleLabels },
      { labels: rules.labelsFor(fingerprintKeys) },
    ))
      report(`${id} wears by rules ${difference}`)
}
