import { troubleNow, troubleRank } from '../../../lib/model/troubles.ts'
import { readOnlyReason } from '../../../lib/model/workload-states.ts'
import type { FoundWorkload, SearchedOnly } from '../../../lib/wire/fleet-search.ts'
import { language, say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { sectionTexts } from '../i18n/settings-sections.ts'
import { shellTexts } from '../i18n/shell.ts'
import { describeKind } from '../i18n/trouble.ts'
import { rollBackPath } from '../logic/pushes.ts'
import { listSections } from '../logic/settings-sections.ts'
import { FLEET_FILTERS, type FleetFilter } from '../logic/workloads.ts'
import { isConnectOpen } from '../state/connecting.ts'
import { fetchedWorkload, loadFleet, workloads } from '../state/fleet.ts'
import { labelOf } from '../state/names.ts'
import { navigate, path } from '../state/router.ts'
import { can, holds, may, me, savePreferences, signOut } from '../state/session.ts'
import { areKeysShown } from './keys.tsx'

/** One thing that the palette offers. */
export interface Entry {
  text: string
  kind: string
  /** What tells it from others of one text and kind. */
  id?: string
  /** Other words that find it. */
  also?: readonly string[]
  /** The word that means it and nothing else once it is typed whole. */
  word?: string
  /** Goes past what protects: nobody is offered it who does not ask for it by how it begins, and then last. */
  isExceptional?: boolean
  run: () => void
}

const NAMED_MAX = 20

const toAction = (text: string, run: () => void, also: readonly string[] = []): Entry => ({
  text,
  kind: say(shellTexts).palette.action,
  also,
  run,
})

const VERBS = ['rollBack', 'change', 'health', 'instances', 'configuration', 'history'] as const
type Verb = (typeof VERBS)[number]
/** The tab of a workload that each verb leads to; where it is rolled back hangs on how it stands. */
const TABS: Record<Exclude<Verb, 'rollBack'>, string> = {
  change: 'change',
  health: 'health',
  instances: 'instances',
  configuration: 'configuration',
  history: 'history',
}

/** Which workloads each verb is for, where not for all. */
const ONLY: Partial<Record<Verb, SearchedOnly>> = { change: 'takes_configs', rollBack: 'pushed' }

/** Whether the reader may do this with the workload. */
function isOffered(verb: Verb, workload: FoundWorkload): boolean {
  if (verb === 'change')
    return may('config:request') && can('config_safety.approvals') && readOnlyReason(workload) === null
  if (verb === 'rollBack')
    return (
      may('workload:push_config') &&
      can('config_safety.guided_rollback') &&
      workload.current_config_push !== undefined
    )
  return true
}

const doWith = (verb: Verb, workload: FoundWorkload): Entry => ({
  ...toAction(say(shellTexts).palette[verb](labelOf(workload)), () =>
    navigate(verb === 'rollBack' ? rollBackPath(workload) : `/workloads/${workload.id}/${TABS[verb]}`),
  ),
  id: `${verb} ${workload.id}`,
})

/** What can be done with the workload whose page is open. */
function listHere(): Entry[] {
  const segment = /^\/workloads\/([^/]+)/.exec(path.value)?.[1]
  if (segment === undefined) return []
  const id = decodeURIComponent(segment)
  const fetched = fetchedWorkload.value
  const workload = workloads.get(id) ?? (fetched?.id === id ? fetched : undefined)
  if (workload === undefined) return []
  // Going back is what one looks for where something is wrong; else it is often not possible.
  const verbs = troubleNow(workload) === null ? [...VERBS.slice(1), VERBS[0]] : VERBS
  return verbs.filter((verb) => isOffered(verb, workload)).map((verb) => doWith(verb, workload))
}

/** Something to be done with workloads that a text names. */
export interface Meant {
  verb: Verb
  name: string
  /** Which workloads it can be done with; absent for all. */
  only: SearchedOnly | undefined
}

/** What a verb before the name of a workload asks for, such as `push web-1`; null where there is none. */
export function readMeant(text: string): Meant | null {
  const { verbs } = say(shellTexts).palette
  const typed = text.trimStart().toLowerCase()
  for (const verb of VERBS) {
    const word = verbs[verb].find((known) => typed.startsWith(`${known} `))
    const name = word === undefined ? '' : typed.slice(word.length).trim()
    if (name !== '') return { verb, name, only: ONLY[verb] }
  }
  return null
}

const listMeant = ({ meant, meantFor }: Offered): Entry[] =>
  meant === null
    ? []
    : meantFor.filter((one) => isOffered(meant.verb, one)).map((one) => doWith(meant.verb, one))

/** What is wrong, as it is searched for: each is a word of the codes of troubles. */
const TROUBLES = ['failed', 'halted', 'unhealthy'] as const

/** The fleet, narrowed to what has one thing in common. */
function listFilters(): Entry[] {
  const words = say(fleetTexts)
  const { palette } = say(shellTexts)
  const also: Readonly<Record<string, readonly string[]>> = palette.also
  const toFilter = (word: string, href: string, others?: readonly string[]): Entry => ({
    ...toAction(palette.fleet(word), () => navigate(href), others),
    word,
  })
  return [
    ...(Object.keys(FLEET_FILTERS) as FleetFilter[]).map((filter) =>
      toFilter(words[filter], `/?show=${filter}`, also[filter]),
    ),
    ...TROUBLES.map((kind) => toFilter(palette.troubles[kind], `/?q=why:${kind}`, also[kind])),
  ]
}

/** Whether there is something that the reader may push without approval. */
export const mayBreakGlass = (): boolean =>
  can('config_safety.approvals') && holds('config:break_glass') && holds('config:request')

function listActions(): Entry[] {
  const words = say(shellTexts)
  if (!me.value) return []
  const action = toAction
  return [
    ...listHere(),
    ...listFilters(),
    ...(mayBreakGlass()
      ? [
          {
            ...action(words.palette.breakGlass, () => navigate('/approvals'), words.palette.also.breakGlass),
            isExceptional: true,
          },
        ]
      : []),
    action(
      say(fleetTexts).connect,
      () => {
        isConnectOpen.value = true
      },
      words.palette.also.connect,
    ),
    action(words.palette.keys, () => {
      areKeysShown.value = true
    }),
    action(words.palette.light, () => void savePreferences({ theme: 'light' })),
    action(words.palette.dark, () => void savePreferences({ theme: 'dark' })),
    action(words.palette.system, () => void savePreferences({ theme: 'system' })),
    action(
      words.palette.language,
      () => void savePreferences({ language: language.value === 'en' ? 'fr' : 'en' }),
    ),
    action(words.palette.refresh, () => void loadFleet()),
    action(words.signOut, () => void signOut(), words.palette.also.signOut),
  ]
}

/** A page about one thing that has a name. */
export interface NamedPage {
  href: string
  text: string
  /** What kind of thing it is, in words, and how it stands. */
  kind: string
  /** Other words that find it. */
  also?: readonly string[]
  isExceptional?: boolean
}

/** Among what the palette finds a text: pages, things with names, workloads, and those that a verb in it is about. */
export interface Offered {
  pages: readonly { href: string; text: string }[]
  named: readonly NamedPage[]
  workloads: readonly FoundWorkload[]
  meant: Meant | null
  meantFor: readonly FoundWorkload[]
}

/** What the palette offers for a text: what a verb means, pages, actions, workloads, and other things with names. */
export function listEntries(text: string, of: Offered): Entry[] {
  const words = say(shellTexts)
  const sections = say(sectionTexts)
  const wanted = text.trim().toLowerCase()
  const also: Readonly<Record<string, readonly string[]>> = words.palette.also
  const fits = (entry: Entry) =>
    [entry.text, ...(entry.also ?? [])].some((one) => {
      const known = one.replaceAll('\u00a0', ' ').toLowerCase()
      return entry.isExceptional ? known.startsWith(wanted) : known.includes(wanted)
    })
  const toPage = (page: Pick<NamedPage, 'href' | 'text'> & Partial<NamedPage>): Entry => ({
    id: page.href,
    text: page.text,
    kind: page.kind ?? words.palette.page,
    also: page.also ?? also[page.href] ?? [],
    isExceptional: page.isExceptional ?? false,
    run: () => navigate(page.href),
  })
  const settings = [
    { href: '/settings', text: words.nav.settings },
    ...listSections(may).map((id) => ({
      href: `/settings/${id}`,
      text: words.palette.setting(sections[id]),
    })),
  ]
  const fixed = [...[...of.pages, ...settings].map(toPage), ...listActions()].filter(fits)
  if (wanted === '') return fixed
  // Of several that bear what was typed, whoever looks for one means the one that fails.
  const found = [...of.workloads]
    .sort((a, b) => troubleRank(a) - troubleRank(b))
    .map((workload): Entry => {
      const trouble = troubleNow(workload)
      return {
        id: workload.id,
        text: labelOf(workload),
        kind: trouble === null ? words.palette.workload : describeKind(trouble),
        run: () => navigate(`/workloads/${workload.id}`),
      }
    })
  // Entries that begin with what was typed come first, and so does the list of those that stand as was typed: a status is
  // a word of each workload that has it.
  const isBegun = ({ text, word }: Entry) =>
    text.toLowerCase().startsWith(wanted) || word?.toLowerCase() === wanted
  const listed = [
    ...listMeant(of),
    ...fixed.filter(isBegun),
    ...found,
    ...of.named.map(toPage).filter(fits).slice(0, NAMED_MAX),
    ...fixed.filter((entry) => !isBegun(entry)),
  ]
  return [...listed.filter((one) => !one.isExceptional), ...listed.filter((one) => one.isExceptional)]
}
