import type { FleetVerdict } from '../logic/overview.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatList, formatNumber } from './format.ts'

const n = formatNumber

/** Texts of the overview of the fleet. */
export const overviewTexts = defineTexts({
  en: {
    title: 'Overview',
    health: 'Health',
    window: 'Period',
    chart: 'Workloads over time',
    noChart: 'How the fleet is will be drawn here; there is nothing to draw yet.',
    unwellAlone: 'Drawn is only what is not well, which is at most a tenth of the fleet.',
    gap: 'The worst count of each stretch, of four a minute; the last one runs until now. Where nothing is drawn, nothing was counted.',
    countedSince: (moment: string) => `Counted since ${moment}.`,
    alerts: 'Open alerts',
    noAlerts: 'No alert is open.',
    allAlerts: (count: number) => `All ${n(count)} open alerts`,
    versions: 'Versions',
    allVersions: 'All about versions',
    unknownVersion: 'unknown',
    partly: (count: number) => `${n(count)} only in part`,
    outdated: 'older than recommended',
    destinations: 'Who exports where',
    destinationsMore: 'By the configs that workloads are to run or, without one, that they report.',
    noDestinations: 'No known config sends data away.',
    destination: { address: 'Destination', exporter: 'Exporter', signals: 'Signals', who: 'Workloads' },
    failingNow: (count: number, all: number) =>
      all === 1 ? 'failing' : `failing for ${n(count)} of ${n(all)}`,
    noAddress: 'no address in the config',
    likely: 'by its name it is',
    andMore: (count: number) => `and ${n(count)} more`,
    more: (count: number) => `${n(count)} more`,
    changes: 'Changed in the last 24 hours',
    noChanges: 'Nothing was changed.',
    allChanges: 'All changes',
    well: (all: number) =>
      all === 1
        ? 'The one workload is connected and healthy.'
        : `All ${n(all)} workloads are connected and healthy.`,
    unwell: (bad: number, all: number) =>
      `Something is wrong with ${n(bad)} of ${n(all)} ${plural(all, 'workload', 'workloads')}.`,
    worst: 'The worst',
    ofCause: (count: number) => `${n(count)} workloads`,
    moreWorst: (count: number) => `and ${n(count)} more`,
    over: (count: number) =>
      `${n(count)} ${plural(count, 'alert closes', 'alerts close')} shortly: what caused ${plural(count, 'it', 'them')} is over.`,
    isOver: 'its cause is gone',
    open: (count: number) => `${n(count)} ${plural(count, 'alert is', 'alerts are')} open.`,
    quiet: 'No config was changed in the last 24 hours.',
    elsewhere: 'No config was changed in the last 24 hours: the cause is likely elsewhere.',
    ofConfig: (count: number) =>
      `No config was changed in the last 24 hours, but the trouble of ${n(count)} of these workloads comes from ${plural(count, 'its config', 'their configs')}.`,
    changed: (count: string, isOne: boolean) =>
      `${count} ${isOne ? 'change' : 'changes'} in the last 24 hours`,
    noneBad: 'none of them failed.',
    ofOlder: (said: string, count: number) =>
      `${said} The trouble of ${n(count)} of these workloads comes from a config that was pushed before.`,
    undecided: (said: string, count: number) =>
      `${said}; ${n(count)} ${plural(count, 'has', 'have')} not ended yet.`,
    broke: (said: string, count: number) => `${said}; since ${n(count)} of them instances are unhealthy.`,
    noneBadOf: (read: number) => `none of the newest ${n(read)} failed.`,
    unread: 'Whether somebody changed a config could not be read.',
    bad: (count: number) => `${n(count)} of them failed or ${plural(count, 'stands', 'stand')} still.`,
    badOf: (count: number, read: number) =>
      `${n(count)} of the newest ${n(read)} failed or ${plural(count, 'stands', 'stand')} still.`,
  },
  fr: {
    title: 'Vue d’ensemble',
    health: 'Santé',
    window: 'Période',
    chart: 'Workloads au fil du temps',
    noChart: 'L’état du parc sera dessiné ici ; il n’y a encore rien à dessiner.',
    unwellAlone: 'Seul ce qui ne va pas est dessiné : c’est au plus un dixième du parc.',
    gap: 'Le pire compte de chaque tranche, sur quatre par minute ; la dernière court jusqu’à maintenant. Là où rien n’est dessiné, rien n’a été compté.',
    countedSince: (moment: string) => `Compté depuis le ${moment}.`,
    alerts: 'Alertes ouvertes',
    noAlerts: 'Aucune alerte n’est ouverte.',
    allAlerts: (count: number) => `Les ${n(count)} alertes ouvertes`,
    versions: 'Versions',
    allVersions: 'Tout sur les versions',
    unknownVersion: 'inconnue',
    partly: (count: number) => `dont ${n(count)} en partie`,
    outdated: 'plus ancienne que recommandé',
    destinations: 'Qui exporte où',
    destinationsMore:
      'D’après les configs assignées ou, sans elles, d’après celles que rapportent les agents.',
    noDestinations: 'Aucune config connue n’envoie de données ailleurs.',
    destination: { address: 'Destination', exporter: 'Exporteur', signals: 'Signaux', who: 'Workloads' },
    failingNow: (count: number, all: number) =>
      all === 1 ? 'en échec' : `en échec pour ${n(count)} sur ${n(all)}`,
    noAddress: 'pas d’adresse dans la config',
    likely: 'd’après son nom, c’est',
    andMore: (count: number) => `et ${n(count)} ${plural(count, 'autre', 'autres')}`,
    more: (count: number) => `${n(count)} ${plural(count, 'autre', 'autres')}`,
    changes: 'Changé ces dernières 24 heures',
    noChanges: 'Rien n’a été changé.',
    allChanges: 'Tous les changements',
    well: (all: number) =>
      all === 1
        ? 'Le seul workload est connecté et sain.'
        : `Les ${n(all)} workloads sont connectés et sains.`,
    unwell: (bad: number, all: number) =>
      `Quelque chose ne va pas sur ${n(bad)} ${plural(bad, 'workload', 'workloads')} sur ${n(all)}.`,
    worst: 'Les pires',
    ofCause: (count: number) => `${n(count)} workloads`,
    moreWorst: (count: number) => `et ${n(count)} ${plural(count, 'autre', 'autres')}`,
    over: (count: number) =>
      `${n(count)} ${plural(count, 'alerte se ferme', 'alertes se ferment')} sous peu : la cause a disparu.`,
    isOver: 'sa cause a disparu',
    open: (count: number) => `${n(count)} ${plural(count, 'alerte ouverte', 'alertes ouvertes')}.`,
    quiet: 'Aucune config n’a changé ces dernières 24 heures.',
    elsewhere: 'Aucune config n’a changé ces dernières 24 heures : la cause est sans doute ailleurs.',
    ofConfig: (count: number) =>
      `Aucune config n’a changé ces dernières 24 heures, mais pour ${n(count)} de ces workloads, le problème vient de la config.`,
    changed: (count: string, isOne: boolean) =>
      `${count} ${isOne ? 'changement' : 'changements'} ces dernières 24 heures`,
    noneBad: 'aucun échec.',
    ofOlder: (said: string, count: number) =>
      `${said} Pour ${n(count)} de ces workloads, le problème vient d’une config poussée avant.`,
    undecided: (said: string, count: number) => `${said} ; ${n(count)} en suspens.`,
    broke: (said: string, count: number) =>
      `${said} ; depuis ${n(count)} d’entre eux, des instances sont en défaut.`,
    noneBadOf: (read: number) => `aucun échec parmi les ${n(read)} plus récents.`,
    unread: 'Impossible de lire si quelqu’un a changé une config.',
    bad: (count: number) => `${n(count)} en échec ou à l’arrêt.`,
    badOf: (count: number, read: number) => `${n(count)} des ${n(read)} plus récents en échec ou à l’arrêt.`,
  },
})

/** Some of many by name, and how many more there are. */
export const listSome = (names: readonly string[], more: number): string =>
  formatList([...names, ...(more > 0 ? [say(overviewTexts).more(more)] : [])])

/** Is it us? What is wrong with the fleet, and whether somebody changed something, in a few sentences. */
export function describeFleet(of: FleetVerdict): { state: string; cause: string } {
  const words = say(overviewTexts)
  const { counts, troubled_count: troubled, alerts } = of.now
  const standing = alerts.open_count - alerts.over_count
  const state = [
    troubled === 0 ? words.well(counts.all) : words.unwell(troubled, counts.all),
    ...(standing > 0 ? [words.open(standing)] : []),
    ...(alerts.over_count > 0 ? [words.over(alerts.over_count)] : []),
  ].join(' ')
  if (of.changeCount === null) return { state, cause: words.unread }
  if (of.changeCount === 0) return { state, cause: sayUnchanged(of.now) }
  const count = `${n(of.changeCount)}${of.hasMoreChanges ? '+' : ''}`
  const changed = words.changed(count, of.changeCount === 1 && !of.hasMoreChanges)
  const bad = sayBad(of, of.changeCount)
  // Of one that has not ended nobody knows yet whether it failed.
  const ended = of.openCount > 0 ? words.undecided(bad.replace(/\.$/, ''), of.openCount) : bad
  const said = of.brokeCount > 0 ? words.broke(ended.replace(/\.$/, ''), of.brokeCount) : ended
  // Where nothing of today went wrong, one looks at what was pushed before.
  const isOlder = of.badChangeCount + of.brokeCount === 0 && of.now.of_config_count > 0
  const cause = `${changed}, ${said}`
  return { state, cause: isOlder ? words.ofOlder(cause, of.now.of_config_count) : cause }
}

/** That nobody changed anything lately: with what is wrong that is no news where it comes from an older config. */
function sayUnchanged({ troubled_count: troubled, of_config_count: ofConfig }: FleetVerdict['now']): string {
  const words = say(overviewTexts)
  if (ofConfig > 0) return words.ofConfig(ofConfig)
  return troubled > 0 ? words.elsewhere : words.quiet
}

/** How many changes went wrong: of those that were read, where there are more. */
function sayBad({ badChangeCount: bad, hasMoreChanges }: FleetVerdict, read: number): string {
  const words = say(overviewTexts)
  if (hasMoreChanges) return bad > 0 ? words.badOf(bad, read) : words.noneBadOf(read)
  return bad > 0 ? words.bad(bad) : words.noneBad
}
