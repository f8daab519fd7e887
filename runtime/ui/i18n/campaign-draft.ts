import type {
  CampaignChange,
  CampaignRecord,
  CampaignScope,
  CampaignWave,
} from '../../../lib/wire/campaigns.ts'
import type { Selector } from '../../../lib/wire/selectors.ts'
import { selectorLines } from '../logic/selector-lines.ts'
import { campaignFormTexts } from './campaign-form.ts'
import { campaignTexts } from './campaigns.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatDuration, formatList, formatNumber } from './format.ts'
import { describeScopes } from './user-groups.ts'

const n = formatNumber

/** Texts of a campaign that was not planned yet. */
export const campaignDraftTexts = defineTexts({
  en: {
    underIt: 'all that are under the fleet config',
    all: 'the whole fleet',
    without: (what: string) => `without ${what}`,
    within: (scopes: string) => `within ${scopes}`,
    counted: (count: number) => `${n(count)} ${plural(count, 'workload', 'workloads')}`,
    share: (percentage: number) => `${n(percentage)} % of all`,
    left: 'all that are left',
  },
  fr: {
    underIt: 'tous ceux sous la config de parc',
    all: 'tout le parc',
    without: (what: string) => `sans ${what}`,
    within: (scopes: string) => `dans ${scopes}`,
    counted: (count: number) => `${n(count)} ${plural(count, 'workload', 'workloads')}`,
    share: (percentage: number) => `${n(percentage)} % de l’ensemble`,
    left: 'tous ceux qui restent',
  },
})

/** All conditions of a selector, also those that the form does not know. */
function conditionsOf(selector: Selector): string[] {
  const { types, versions, capabilities } = selector
  const others = Object.entries({ type: types, version: versions, capability: capabilities })
  return [
    ...selectorLines(selector),
    ...others.flatMap(([key, values]) => (values ? `${key} in (${values.join(', ')})` : [])),
  ]
}

/** Whom a campaign means, part by part, and whom it leaves out. */
export function describeScope(scope: CampaignScope, kind: CampaignChange['kind']): string {
  const words = say(campaignDraftTexts)
  const { selector, workload_ids: ids, exclude_selector: without, exclude_ids, exclude_names } = scope
  const meant = [
    ...(ids ? [say(campaignTexts).named(ids.length)] : []),
    ...(selector ? [conditionsOf(selector).join(', ') || words.all] : []),
  ]
  if (meant.length === 0) meant.push(kind === 'version' ? words.underIt : words.all)
  const left = [...(without ? conditionsOf(without) : []), ...(exclude_names ?? [])]
  if (exclude_ids && exclude_ids.length > 0) left.push(words.counted(exclude_ids.length))
  const within = scope.cut_to ? [words.within(describeScopes(scope.cut_to))] : []
  return [...meant, ...within, ...(left.length > 0 ? [words.without(formatList(left))] : [])].join(' · ')
}

function describeWave(wave: CampaignWave, isLast: boolean): string {
  const words = say(campaignDraftTexts)
  const { count, percentage, selector, dwell_seconds: dwell = 0 } = wave
  const size =
    count !== undefined ? words.counted(count) : percentage !== undefined ? words.share(percentage) : ''
  const only = selector ? conditionsOf(selector).join(', ') : ''
  const who = isLast ? words.left : [size, only].filter((part) => part !== '').join(', ') || words.left
  return dwell > 0 ? `${who}, ${say(campaignTexts).watchedFor(formatDuration(dwell * 1000))}` : who
}

/** What a campaign would carry to whom, in which waves: as it was written down, before there is a plan of it. */
export function describeDraft({
  change,
  scope,
  waves,
}: Pick<CampaignRecord, 'change' | 'scope' | 'waves'>): [string, string][] {
  const own = say(campaignFormTexts)
  const words = say(campaignTexts)
  return [
    [own.what, change.kind === 'version' ? own.version(change.number) : words.kinds[change.kind]],
    [own.who, describeScope(scope, change.kind)],
    ...waves.map((wave, at): [string, string] => [
      own.wave(at + 1),
      describeWave(wave, at === waves.length - 1),
    ]),
  ]
}
