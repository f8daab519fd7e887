import type { Split } from '../../../lib/model/workload-states.ts'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { HeterogeneityFlag, TopologySummary } from '../../../lib/wire/topology.ts'
import { describeWhy } from '../i18n/causes.ts'
import { say } from '../i18n/define.ts'
import { formatList, shortHash } from '../i18n/format.ts'
import { describeReason } from '../i18n/trouble.ts'
import { describeSplit, workloadTexts } from '../i18n/workload.ts'
import { countValues, listDiffering, type Oddity } from '../logic/instances.ts'

/** Why an instance stands out, in words. */
export function describeOddity(oddity: Oddity, instance: LiveInstance): string {
  const words = say(workloadTexts).odd
  switch (oddity) {
    case 'failed': {
      return describeWhy(instance.remote_config_status ?? {}) || words.failed
    }
    case 'other_config':
      return words.runs(shortHash(instance.effective_config_hash))
    case 'old_version':
      return words.version(instance.version ?? '')
    default:
      return words[oddity]
  }
}

/** What is wrong with an instance, as far as it is known and is not its failure of a config; '' for nothing. */
export const describeFault = ({ fault }: Pick<LiveInstance, 'fault'>): string =>
  fault === undefined ? '' : describeReason(fault)

/** How many instances said what of the last config that they were offered, the most common first. */
function describeAnswers({ remote_config_status_counts: counts }: TopologySummary): string {
  const { share, answer } = say(workloadTexts).odd
  const said = (Object.keys(answer) as (keyof typeof answer)[])
    .filter((state) => counts[state] > 0)
    .sort((a, b) => counts[b] - counts[a])
  return formatList(said.map((state) => share(counts[state], answer[state])))
}

/** Reasons that another one says in full. */
const SAID_BY: Partial<Record<HeterogeneityFlag, HeterogeneityFlag>> = {
  failed_remote_config: 'mixed_remote_config_statuses',
  applying_remote_config: 'mixed_remote_config_statuses',
}

/** What says less than who runs what an aborted rollout brought: nobody asks the others. */
const SAID_BY_SPLIT: ReadonlySet<HeterogeneityFlag> = new Set([
  'mixed_effective_config_hashes',
  'mixed_remote_config_statuses',
])

/**
 * How the instances of a workload differ from each other and from what is assigned, in sentences with numbers. `split`: how
 * an aborted rollout left it.
 */
export function describeHeterogeneity(
  instances: readonly LiveInstance[],
  summary: TopologySummary,
  split: Split | null = null,
): string[] {
  const words = say(workloadTexts)
  const counted = (read: (instance: LiveInstance) => string | undefined) =>
    formatList(countValues(instances, read).map(({ value, count }) => words.odd.share(count, value)))
  const toText = (reason: HeterogeneityFlag): string => {
    switch (reason) {
      case 'mixed_versions':
        return words.odd.versions(counted(({ version }) => version))
      case 'mixed_effective_config_hashes':
        return words.odd.configs(
          counted((one) => shortHash(one.effective_config_hash ?? one.reported_config_hash)),
        )
      case 'unhealthy_instances':
        return words.odd.sick(summary.unhealthy_count)
      case 'applying_remote_config':
        return words.odd.takes(summary.remote_config_status_counts.applying)
      case 'failed_remote_config':
        return words.odd.cannot(summary.remote_config_status_counts.failed)
      case 'mixed_remote_config_statuses':
        return words.odd.answers(describeAnswers(summary))
    }
  }
  const reasons = summary.heterogeneity_reasons.filter(
    (reason) => split === null || !SAID_BY_SPLIT.has(reason),
  )
  const left = split === null ? [] : [`${describeSplit(split)}.`]
  const told = reasons.filter((reason) => !reasons.some((other) => other === SAID_BY[reason])).map(toText)
  const differing = listDiffering({ instances: [...instances], summary }).length
  return [...left, ...told, ...(differing > 0 ? [words.odd.differ(differing)] : [])]
}
