import type { EvidenceItem, EvidencePack } from '../wire/reports.ts'
import { namePerson, type People } from './people.ts'

/** So many changes, and workloads, are told one by one; the sections have all. */
const SHOWN = 20
const SHORT_HASH = 12
const DIFFERS: ReadonlySet<unknown> = new Set(['drifted', 'altered'])
const OUTCOMES: Readonly<Record<string, string>> = {
  in_part: 'applied in part',
  pending: 'not over yet',
}

const itemsOf = ({ sections }: EvidencePack, id: string): readonly EvidenceItem[] =>
  sections.find((section) => section.id === id)?.items ?? []

const textOf = ({ facts }: EvidenceItem, name: string): string => {
  const value = facts[name]
  return typeof value === 'string' ? value : ''
}

/** How often each text is there, the most frequent first; empty ones do not count. */
function countBy(items: readonly EvidenceItem[], read: (item: EvidenceItem) => string): [string, number][] {
  const counts = new Map<string, number>()
  for (const text of items.map(read)) if (text !== '') counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
}

const tellWho = (items: readonly EvidenceItem[], fact: string, people: People): string =>
  countBy(items, (item) => textOf(item, fact))
    .map(([who, count]) => `${count} by ${namePerson(who, people)}`)
    .join(', ') || 'none'

/** The first lines of a list, and how many more there are. */
const tellSome = (items: readonly EvidenceItem[], tell: (item: EvidenceItem) => string): string[] => {
  const lines = items.slice(0, SHOWN).map(tell)
  return items.length <= SHOWN ? lines : [...lines, `and ${items.length - SHOWN} more below`]
}

/** So much of somebody's words tells which change it is; the whole is below. */
const WORDS_MAX = 160
/** What others wrote, in quotes: it ends where its quotes do, so that nothing in it reads as the pack's own words. */
const quote = (text: string): string =>
  JSON.stringify(text.length > WORDS_MAX ? `${text.slice(0, WORDS_MAX)}…` : text)

/** What workloads are called, by their ids. */
type Names = ReadonlyMap<string, string>

/** The workload of an item as it is called in the pack; by its id where the pack has no section of workloads. */
const tellWorkload = (item: EvidenceItem, names: Names): string => {
  const id = textOf(item, 'workload_id')
  return quote(names.get(id) ?? id)
}

/** One change: what, who asked for it and when, who approved it and when; and last what was said of it. */
function tellPlan(plan: EvidenceItem, names: Names, people: People): string {
  const how = plan.facts['break_glass'] === true ? ' by break-glass' : ''
  const what = `config ${textOf(plan, 'draft_config_hash').slice(0, SHORT_HASH)} ${textOf(plan, 'status')}${how}`
  const who = textOf(plan, 'requested_by')
  const asked = `asked for by ${who === '' ? 'nobody known' : namePerson(who, people)} at ${textOf(plan, 'requested_at')}`
  const by = textOf(plan, 'approved_by')
  const approved =
    by === '' ? 'not approved' : `approved by ${namePerson(by, people)} at ${textOf(plan, 'approved_at')}`
  const comment = textOf(plan, 'request_comment').split('\n')[0]!
  const said = comment === '' ? '' : `: ${quote(comment)}`
  return `${tellWorkload(plan, names)}: ${what}, ${asked}, ${approved}${said}`
}

function tellPushed(pushes: readonly EvidenceItem[]): string {
  const byHand = pushes.filter((push) => textOf(push, 'kind') !== 'auto-rollback')
  const back = pushes.length - byHand.length
  const outcomes = countBy(byHand, (push) => textOf(push, 'outcome') || textOf(push, 'status'))
  const told = outcomes.map(([outcome, count]) => `${count} ${OUTCOMES[outcome] ?? outcome}`)
  return [...told, ...(back > 0 ? [`${back} gone back by itself`] : [])].join(', ') || 'none'
}

const tellRuns = (config: EvidenceItem, names: Names): string =>
  `${tellWorkload(config, names)} runs ${textOf(config, 'config_hash').slice(0, SHORT_HASH)} since ${textOf(config, 'applied_at')}`

/** What a pack comes to, line by line under a heading each: who approved what and when, what became of it, and what runs. */
export function summarize(pack: EvidencePack, people: People): [heading: string, lines: string[]][] {
  const names = new Map(itemsOf(pack, 'workloads').map((item) => [item.resource_id, item.summary]))
  const plans = itemsOf(pack, 'config_plan')
  const self = plans.filter(({ facts }) => facts['self_approved'] === true).length
  const glass = plans.filter(({ facts }) => facts['break_glass'] === true)
  const drift = itemsOf(pack, 'drift')
  const differing = drift.filter(({ facts }) => DIFFERS.has(facts['drift_status'])).length
  const configs = itemsOf(pack, 'current_config').filter((item) => textOf(item, 'status') === 'applied')
  const has = (id: string) => pack.sections.some((section) => section.id === id)
  const found: [boolean, string, string[]][] = [
    [has('config_plan'), 'Asked for', [`${plans.length}: ${tellWho(plans, 'requested_by', people)}`]],
    [has('config_plan'), 'Approved', [tellWho(plans, 'approved_by', people)]],
    [self > 0, 'Approved by whoever asked for it', [String(self)]],
    [has('config_plan'), 'Break-glass', [tellWho(glass, 'requested_by', people)]],
    [plans.length > 0, 'Changes', tellSome(plans, (plan) => tellPlan(plan, names, people))],
    [has('config_history'), 'Pushed', [tellPushed(itemsOf(pack, 'config_history'))]],
    [configs.length > 0, 'Runs now', tellSome(configs, (config) => tellRuns(config, names))],
    [has('drift'), 'Runs something else than it should', [`${differing} of ${drift.length}`]],
    [
      has('audit_verification'),
      'The record',
      itemsOf(pack, 'audit_verification').map((item) => item.summary),
    ],
  ]
  return found.flatMap(([isThere, heading, lines]) =>
    isThere ? [[heading, lines] as [string, string[]]] : [],
  )
}
