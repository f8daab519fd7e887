import { configHash } from '../../model/config-hash.ts'
import { listCampaignGroups, listGroupVariables } from '../../store/campaign-targets.ts'
import type { StoredCampaign } from '../../store/campaigns.ts'
import type { CampaignGroup } from '../../wire/campaigns.ts'
import { CampaignJudge, JudgeBusy, type Judgement } from '../judge/judge.ts'
import type { CampaignParts } from '../judge/parts.ts'

/** Diffs are shown up to this length, in UTF-16 units. */
const SHOWN_LENGTH_MAX = 20_000
/** Groups that are shown at most; the plan says how many there are (`group_count`). */
const SHOWN_GROUPS_MAX = 100
/** Values of one variable that are shown of a group at most. */
const SHOWN_VALUES_MAX = 50

/** Places that a group names at most because they are called like what a patch renames. */
const SHOWN_MATCHES_MAX = 50

const LABELS = { before: 'base', after: 'result' }

/** Finds out which workloads of a plan change in the same way. */
export class ChangeGroups {
  readonly #judge: CampaignJudge
  readonly #configs: CampaignParts['configs']
  /** Group keys by base hash and result hash. */
  readonly #keys = new Map<string, string>()

  constructor(judge: CampaignJudge, { configs }: Pick<CampaignParts, 'configs'>) {
    this.#judge = judge
    this.#configs = configs
  }

  /**
   * The key of the group that a workload is in: a hash of the lines that its config loses and gains, wherever in the
   * text they stand, with names of variables in place of their values; of configs that cannot be compared, of the two
   * themselves. Null where there is no result. Throws `JudgeBusy`.
   */
  async keyOf({ baseHash, result }: Judgement): Promise<string | null> {
    if (result === null) return null
    const pair = `${baseHash}\n${result.hash}`
    const known = this.#keys.get(pair)
    if (known !== undefined) return known
    const base = baseHash === null ? '' : await this.#judge.textOf(baseHash)
    const key = (base === null ? null : await this.#compare(base, result)) ?? configHash(pair).slice(0, 32)
    this.#keys.set(pair, key)
    return key
  }

  async #compare(base: string, { text, values }: NonNullable<Judgement['result']>): Promise<string | null> {
    const found = await this.#configs.changeKey(base, text, values)
    if (!found.ok) throw new JudgeBusy()
    return found.key
  }
}

/**
 * The groups of a plan, each with the diff of one sample workload; of these workloads only, where `within` names some.
 * The diff is empty when the sample is gone or gets no result now; a base that is not kept any more counts as an empty
 * text. Throws `JudgeBusy`.
 */
export async function showGroups(
  parts: CampaignParts,
  campaign: StoredCampaign,
  within: readonly string[] | null,
): Promise<CampaignGroup[]> {
  const judge = new CampaignJudge(parts, campaign)
  const shown: CampaignGroup[] = []
  const variables = sortValues(await listGroupVariables(parts.db, campaign.id, within, SHOWN_VALUES_MAX))
  for (const group of await listCampaignGroups(parts.db, campaign.id, within, SHOWN_GROUPS_MAX)) {
    const workload = parts.fleet.workload(group.sampleId)
    const result = workload === null ? null : await judge.resultFor(workload)
    const base = group.baseHash === null ? '' : ((await judge.textOf(group.baseHash)) ?? '')
    shown.push({
      key: group.key,
      count: group.count,
      instance_count: group.instanceCount,
      production_count: group.productionCount,
      sample_workload_id: group.sampleId,
      sample_workload_name: group.sampleName,
      ...(group.samplePlace === '' ? {} : { sample_workload_place: group.samplePlace }),
      diff: result?.ok ? await showDiff(parts, base, result.text) : '',
      ...(result?.ok ? await judgeRisk(parts, base, result.text) : { risks: [] }),
      variables: variables.get(group.key) ?? {},
      ...(result?.ok && result.otherMatches.length > 0
        ? { other_matches: result.otherMatches.slice(0, SHOWN_MATCHES_MAX) }
        : {}),
    })
  }
  return shown
}

async function showDiff({ configs }: CampaignParts, before: string, after: string): Promise<string> {
  const found = await configs.lines({ before, after, labels: LABELS, charactersMax: SHOWN_LENGTH_MAX })
  if (!found.ok) throw new JudgeBusy()
  return found.diff?.text ?? ''
}

/** How risky a change is, by the rules of the plan of a single request. */
async function judgeRisk(
  { configs }: CampaignParts,
  baseText: string,
  targetText: string,
): Promise<Pick<CampaignGroup, 'risk' | 'risks'>> {
  const found = await configs.diff({ baseText, targetText, workload: null, peers: [] })
  if (!found.ok) throw new JudgeBusy()
  const { valid, risk_score: score, risk_items: items } = found.diff
  if (!valid) return { risks: [] }
  const worth = items.filter(({ risk }) => risk === 'high' || risk === 'medium')
  const risks = new Map(worth.map(({ rule, title, risk }) => [`${rule}\n${title}`, { rule, title, risk }]))
  return { risk: score.severity, risks: [...risks.values()] }
}

/** The counted values by group and variable, in the order of the query: the rarest first. */
function sortValues(
  counted: readonly { key: string; name: string; value: string; count: number }[],
): Map<string, CampaignGroup['variables']> {
  const groups = new Map<string, CampaignGroup['variables']>()
  for (const { key, name, value, count } of counted) {
    const variables = groups.get(key) ?? {}
    groups.set(key, variables)
    const values = variables[name] ?? []
    variables[name] = values
    values.push({ value, count })
  }
  return groups
}
