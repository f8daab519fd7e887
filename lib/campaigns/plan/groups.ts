import { listDiffWords } from '../../configs/diff/words.ts'
import { riskOfTakeOver, TAKES_OVER, takesOver } from '../../configs/take-over.ts'
import { configHash } from '../../model/config-hash.ts'
import {
  type GroupPosition,
  type GroupValue,
  listCampaignGroups,
  listGroupVariables,
  type StoredCampaignGroup,
} from '../../store/campaign-targets.ts'
import type { StoredCampaign } from '../../store/campaigns.ts'
import type { CampaignGroup, CampaignVariable } from '../../wire/campaigns.ts'
import { CampaignJudge, JudgeBusy, type Judgement } from '../judge/judge.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { type Compared, compareWithReport } from './reports.ts'

/** Lines of a diff are shown up to this length at once, in UTF-16 units. */
const SHOWN_LENGTH_MAX = 20_000
/** Values of one variable that are shown beside a group; the others are read page by page. */
export const SHOWN_VALUES_MAX = 50

/** Places that a group names at most because they are called like what a patch renames. */
const SHOWN_MATCHES_MAX = 50

/** Words about what a group changes at most. */
const SHOWN_WORDS_MAX = 40

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
    if (!found.ok) throw new JudgeBusy(found)
    return found.key
  }
}

/**
 * Groups of a plan, each with the diff of one sample workload; of these workloads only, where `within` names some. Where
 * there is no base, the diff is that to what the sample reported to run when the plan was made. It is missing where the
 * text of the result is kept no more; a base that is not kept any more counts as an empty text. Throws `JudgeBusy`.
 */
export async function showGroups(
  parts: CampaignParts,
  campaign: StoredCampaign,
  within: readonly string[] | null,
  page: { after: GroupPosition | null; limit: number },
): Promise<ShownGroup[]> {
  const judge = new CampaignJudge(parts, campaign)
  const groups = await listCampaignGroups(parts.db, campaign.id, within, page)
  const of = { keys: groups.map(({ key }) => key), most: SHOWN_VALUES_MAX }
  const variables = sortValues(await listGroupVariables(parts.db, campaign.id, within, of))
  const shown: ShownGroup[] = []
  for (const group of groups) {
    const texts = await readSample(parts, judge, group)
    const { values = {}, more = {} } = variables.get(group.key) ?? {}
    const others = texts?.otherMatches ?? []
    shown.push({
      position: group,
      shown: {
        key: group.key,
        count: group.count,
        instance_count: group.instanceCount,
        production_count: group.productionCount,
        sample_workload_id: group.sampleId,
        sample_workload_name: group.sampleName,
        ...(group.samplePlace === '' ? {} : { sample_workload_place: group.samplePlace }),
        ...(await showChange(parts, texts)),
        variables: values,
        more_values: more,
        ...(others.length > 0 ? { other_matches: others.slice(0, SHOWN_MATCHES_MAX) } : {}),
      },
    })
  }
  return shown
}

/** Some lines of a diff, in their order, and how many come after them. */
export type SomeLines = { text: string; linesLeft: number }

/** A group as the wire shows it, with its place. */
export interface ShownGroup {
  position: GroupPosition
  shown: CampaignGroup
}

/**
 * The lines of a group's diff from a line on; null where there is no such group, or no diff of its sample. Throws
 * `JudgeBusy`.
 */
export async function showMoreOfDiff(
  parts: CampaignParts,
  campaign: StoredCampaign,
  within: readonly string[] | null,
  { key, from }: { key: string; from: number },
): Promise<SomeLines | null> {
  const [group] = await listCampaignGroups(parts.db, campaign.id, within, { key, limit: 1 })
  const texts =
    group === undefined ? null : await readSample(parts, new CampaignJudge(parts, campaign), group)
  return texts === null ? null : readDiff(parts, texts, from)
}

/** What a group compares: two texts, and what the first of them is. */
export interface ComparedTexts extends Compared {
  result: string
}

/**
 * The config that the sample of a group had when the plan was made, and the one that it was to get: what was approved,
 * also once it runs that, or something else. Null where it is not kept any more.
 */
async function readSample(
  parts: CampaignParts,
  judge: CampaignJudge,
  group: StoredCampaignGroup,
): Promise<(ComparedTexts & { otherMatches: readonly string[] }) | null> {
  const result = await judge.plannedResult(group)
  if (result === null) return null
  const { baseHash, reportedHash } = group
  const { text, otherMatches } = result
  const compared =
    baseHash === null
      ? await compareWithReport(parts, reportedHash, text)
      : { base: (await judge.textOf(baseHash)) ?? '', comparedWith: 'active' as const }
  return { ...compared, result: text, otherMatches }
}

/** Lines of the diff of a change from a line on; null where comparing takes too long. Throws `JudgeBusy`. */
export async function readDiff(
  { configs }: Pick<CampaignParts, 'configs'>,
  { base: before, result: after }: Pick<ComparedTexts, 'base' | 'result'>,
  from: number,
): Promise<SomeLines | null> {
  const asked = { before, after, labels: LABELS, from, charactersMax: SHOWN_LENGTH_MAX }
  const found = await configs.diffLines(asked)
  if (!found.ok) throw new JudgeBusy(found)
  return found.diff
}

/** The first lines of a change and how risky it is; null for one of which there is no text. Throws `JudgeBusy`. */
export async function showChange(
  parts: Pick<CampaignParts, 'configs'>,
  texts: ComparedTexts | null,
): Promise<
  Pick<
    CampaignGroup,
    'diff' | 'diff_lines_left' | 'diff_missing' | 'compared_with' | 'risk' | 'risks' | 'does'
  >
> {
  const diff = texts === null ? null : await readDiff(parts, texts, 0)
  return {
    diff: diff?.text ?? '',
    diff_lines_left: diff?.linesLeft ?? 0,
    diff_missing: diff === null,
    ...(texts === null
      ? { risks: [] }
      : {
          compared_with: texts.comparedWith,
          ...(await judgeRisk(parts, texts)),
        }),
  }
}

/** What a change does and how risky that is, by the rules of the plan of a single request. */
async function judgeRisk(
  { configs }: Pick<CampaignParts, 'configs'>,
  { base: baseText, result: targetText, comparedWith }: ComparedTexts,
): Promise<Pick<CampaignGroup, 'risk' | 'risks' | 'does'>> {
  const found = await configs.diff({ baseText, targetText, workload: null, peers: [] })
  if (!found.ok) throw new JudgeBusy(found)
  const { valid, risk_score: score, risk_items: items } = found.diff
  if (!valid) return { risks: [] }
  const worth = items.filter(({ risk }) => risk === 'high' || risk === 'medium')
  const risks = new Map(worth.map(({ rule, title, risk }) => [`${rule}\n${title}`, { rule, title, risk }]))
  const does = listDiffWords(found.diff).slice(0, SHOWN_WORDS_MAX)
  if (!takesOver(comparedWith)) return { does, risk: score.severity, risks: [...risks.values()] }
  return { does, risk: riskOfTakeOver(score.severity), risks: [...risks.values(), TAKES_OVER] }
}

/** A counted value as the wire shows it. */
export const toVariable = ({ value, count, choices, choiceCount }: GroupValue): CampaignVariable => ({
  value,
  count,
  chosen_by: choices,
  ...(choiceCount > choices.length ? { more_choices: choiceCount - choices.length } : {}),
})

/** Of one group: the counted values by variable, in the order of the query, and how many more there are of each. */
interface CountedValues {
  values: CampaignGroup['variables']
  more: CampaignGroup['more_values']
}

function sortValues(counted: Awaited<ReturnType<typeof listGroupVariables>>): Map<string, CountedValues> {
  const groups = new Map<string, CountedValues>()
  for (const { key, name, total, ...one } of counted) {
    const group = groups.get(key) ?? { values: {}, more: {} }
    groups.set(key, group)
    const values = group.values[name] ?? []
    group.values[name] = values
    values.push(toVariable(one))
    if (total > SHOWN_VALUES_MAX) group.more[name] = total - SHOWN_VALUES_MAX
  }
  return groups
}
