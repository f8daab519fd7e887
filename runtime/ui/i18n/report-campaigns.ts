import type { CampaignHalt } from '../../../lib/wire/campaigns.ts'
import type { EvidenceItem, FactValue } from '../../../lib/wire/reports.ts'
import { autoApplyTexts } from './auto-apply.ts'
import { describeHalt, describeLeftOut } from './campaign-sentences.ts'
import { campaignStatusTexts } from './campaign-status.ts'
import { campaignTexts } from './campaigns.ts'
import { defineTexts, say } from './define.ts'
import { formatExact, formatNumber } from './format.ts'

const texts = defineTexts({
  en: {
    campaign: (name: string, status: string) => `Campaign “${name}”: ${status}`,
    autoApply: (name: string, status: string) => `“${name}” by itself: ${status}`,
    byCampaign: (workload: string, outcome: string, name: string) =>
      `${workload}: ${outcome}, campaign “${name}”`,
    byItself: (workload: string, outcome: string, name: string) =>
      `${workload}: ${outcome}, “${name}” by itself`,
    began: (time: string) => `began ${time}`,
    ended: (time: string) => `ended ${time}`,
  },
  fr: {
    campaign: (name: string, status: string) => `Campagne « ${name} » : ${status}`,
    autoApply: (name: string, status: string) => `« ${name} » d’elle-même : ${status}`,
    byCampaign: (workload: string, outcome: string, name: string) =>
      `${workload} : ${outcome}, campagne « ${name} »`,
    byItself: (workload: string, outcome: string, name: string) =>
      `${workload} : ${outcome}, « ${name} » d’elle-même`,
    began: (time: string) => `début ${time}`,
    ended: (time: string) => `fin ${time}`,
  },
})

type Words = Readonly<Record<string, string>>
type Facts = Readonly<Record<string, FactValue>>

const isMap = (value: FactValue | undefined): value is Facts =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const lookUp = (words: Words, value: FactValue | undefined): string =>
  words[String(value ?? '')] ?? String(value ?? '')
const isByItself = ({ resource }: EvidenceItem): boolean => resource.startsWith('auto_apply')

const statusOf = (item: EvidenceItem): string =>
  lookUp(
    isByItself(item) ? say(autoApplyTexts).status : say(campaignStatusTexts).status,
    item.facts['status'],
  )

/** How many workloads stand how. */
const sayOutcomes = (value: FactValue | undefined): string =>
  isMap(value)
    ? Object.entries(value)
        .map(([state, count]) => `${lookUp(say(campaignTexts).state, state)}: ${formatNumber(Number(count))}`)
        .join(', ')
    : ''

function sayWave(wave: FactValue): string {
  if (!isMap(wave)) return ''
  const words = say(texts)
  const { began_at: began, ended_at: ended, outcomes } = wave
  return [
    say(campaignTexts).wave(Number(wave['wave'])),
    ...(typeof began === 'string' ? [words.began(formatExact(began))] : []),
    ...(typeof ended === 'string' ? [words.ended(formatExact(ended))] : []),
    sayOutcomes(outcomes),
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function sayApproval(approval: FactValue): string {
  if (!isMap(approval)) return ''
  const { by, at, comment } = approval
  const said = `${String(by ?? '–')}, ${typeof at === 'string' ? formatExact(at) : '–'}`
  return comment ? `${said}: ${String(comment)}` : said
}

/** Why a campaign or a version stopped by itself, in the words of the campaign's page. */
function sayHalt(item: EvidenceItem): string | null {
  const {
    halt_gate: gate,
    halt_value: value,
    halt_limit: limit,
    halt_wave: wave,
    halt_title: title,
  } = item.facts
  const numbers = { value: Number(value ?? 0), limit: Number(limit ?? 0) }
  const what = typeof title === 'string' ? title : undefined
  if (!isByItself(item)) {
    if (!(String(gate) in say(campaignTexts).halt)) return null
    const halt = { gate: gate as CampaignHalt['gate'], ...numbers, wave: Number(wave ?? 1) - 1, title: what }
    return describeHalt(halt).join(' ')
  }
  const { hold, cause } = say(autoApplyTexts)
  const sentences: Record<string, (value: number, limit: number) => string> = hold
  const said = sentences[String(gate ?? '')]?.(numbers.value, numbers.limit)
  if (said === undefined) return null
  return what === undefined ? said : `${said} ${cause(what)}`
}

/** What an item of the section `campaigns` says in one line. */
export function describeCampaignItem(item: EvidenceItem): string {
  const words = say(texts)
  const text = (key: string) => String(item.facts[key] ?? '')
  const name = text('name')
  if ('outcome' in item.facts) {
    const outcome = lookUp(say(campaignTexts).state, item.facts['outcome'])
    return (isByItself(item) ? words.byItself : words.byCampaign)(text('workload_name'), outcome, name)
  }
  const halt = sayHalt(item)
  const said = (isByItself(item) ? words.autoApply : words.campaign)(name, statusOf(item))
  return halt === null ? said : `${said}. ${halt}`
}

/** A fact of the section `campaigns` that has words or a sentence of its own; null for any other. */
export function describeCampaignFact(key: string, item: EvidenceItem): string | null {
  const value = item.facts[key]
  const words = say(campaignTexts)
  if (value === undefined || value === null) return null
  if (key === 'status') return statusOf(item)
  if (key === 'outcome') return lookUp(words.state, value)
  if (key === 'verdict') return lookUp(words.verdict, value)
  if (key === 'reason') return lookUp(words.reason, value)
  if (key === 'halt') return sayHalt(item)
  if (key === 'left_out' && isMap(value))
    return describeLeftOut(value as Record<string, number>).join(', ') || '–'
  if (key === 'outcomes') return sayOutcomes(value) || '–'
  if (key === 'waves' && Array.isArray(value)) return value.map(sayWave).join('; ') || '–'
  if (key === 'approvals' && Array.isArray(value)) return value.map(sayApproval).join('; ') || '–'
  return null
}
