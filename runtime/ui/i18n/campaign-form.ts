import type { Limited } from '../../../lib/model/campaign-rules.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatList, formatNumber } from './format.ts'

const n = formatNumber
const workloads = (count: number) => `${n(count)} ${plural(count, 'workload', 'workloads')}`

/** Texts of the form in which a campaign is written down, and of its rules. */
export const campaignFormTexts = defineTexts({
  en: {
    title: 'New campaign',
    editTitle: 'Change the campaign',
    edit: 'Change',
    remove: 'Remove the draft',
    removeLead: 'Nobody was asked to approve it, and nothing has come of it. It cannot be brought back.',
    removed: 'The draft is gone.',
    again: 'Copy as a new one',
    forgotten: 'It ended more than 90 days ago: what it carried is not kept any more.',
    cannotEdit:
      'It selects by types, versions or capabilities, which this form does not know: change it by the API.',
    back: 'Back to the campaign',
    gone: 'It is past its plan and cannot be changed any more.',
    what: 'What',
    version: (number: number) => `Version ${n(number)} of a fleet config`,
    seeVersion: 'See it',
    who: 'Which workloads',
    scopeHint:
      'One condition a line, all of them hold: muster/env=staging · identity/host.name in (web-*) · team=payments · !muster/kept.',
    scopeOfVersion: 'Empty: all that are under the fleet config.',
    exclude: 'Leave out those that meet',
    excludeHint: 'One condition a line, all of them hold; empty leaves nobody out.',
    excludeNames: 'Leave out, by name or id',
    excludeNamesHint:
      'Commas or line ends between them: names of workloads, hosts or Kubernetes objects; web-* too.',
    counting: 'Counting…',
    matches: (count: number, production: number) =>
      `Means ${workloads(count)}${production > 0 ? `, ${n(production)} of production` : ''}.`,
    nobody: 'Means no workload.',
    matchedNames: (names: readonly string[], more: number) =>
      `${more > 0 ? 'Such as' : 'They are'} ${formatList(names)}.`,
    leftOut: (count: number) => `${workloads(count)} left out.`,
    disconnected: (count: number) => `${n(count)} of them away now.`,
    unmet: (lines: readonly string[]) => `No workload meets ${formatList(lines)}.`,
    noneMeetsAll: 'Each condition is met by some workload, and no workload meets them all.',
    unmatched: (names: readonly string[]) => `Nobody here is called ${formatList(names)}.`,
    waves: 'Waves',
    wavesHint:
      'Each wave starts when the one before it is over and was watched. A change of production begins with one workload, whatever stands here.',
    wave: (number: number) => `Wave ${n(number)}`,
    lastWave: (number: number) => `Wave ${n(number)}: all that are left`,
    size: 'How many',
    by: { count: 'workloads', percentage: '% of all', all: 'all that meet' },
    byLabel: 'Of what',
    waveOnly: 'Only those that meet',
    dwell: 'Watch for (seconds)',
    addWave: 'Add a wave',
    removeWave: (number: number) => `Remove wave ${n(number)}`,
    limits: 'What stops it',
    limitsHint:
      'It halts by itself when more workloads than this are in a bad way. Empty: the number beside it.',
    limit: {
      failed: 'Failed, at most',
      unhealthy: 'Became unhealthy, at most',
      drifted: 'Applied it and run something else since, at most',
      silent: 'Skipped or without an answer, at most',
    } satisfies Record<Limited, string> as Record<Limited, string>,
    limitHint: {
      failed: 'Empty: none in the first wave, then 3 or 1 %, whichever is more',
      unhealthy:
        'Those that were well when their turn came. Empty: none in the first wave, then 3 or 1 %, whichever is more',
      drifted:
        'For half a minute, and not before their turn. Empty: none in the first wave, then 3 or 1 %, whichever is more',
      silent: 'Empty: 5 %',
    } satisfies Record<Limited, string> as Record<Limited, string>,
    limitHere: (hint: string, count: number | null) =>
      count === null ? `${hint}.` : `${hint}: ${n(count)} here.`,
    pace: 'How fast, and when',
    inFlight: 'Instances changed at one time',
    inFlightHint: (standard: number, max: number) =>
      `No further workload is started while so many instances restart; ${n(standard)} where nobody says, ${n(max)} at most.`,
    catchUp: 'Wait for those that are away (days)',
    catchUpHint: (standard: number, max: number) =>
      `Who comes back within this time gets it then; ${n(standard)} where nobody says, ${n(max)} at most, 0 waits for nobody.`,
    windows: 'Windows',
    windowsNone: 'No window: workloads are started at any time.',
    windowsHint:
      'Workloads are started within a window only. Times are UTC; an end before the start is on the next day.',
    window: (number: number) => `Window ${n(number)}`,
    days: ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as string[],
    everyDay: 'every day',
    from: 'From (UTC)',
    to: 'To (UTC)',
    addWindow: 'Add a window',
    removeWindow: (number: number) => `Remove window ${n(number)}`,
    retry: 'Also where this config has failed before',
    retryHint: 'Such workloads are left out where nobody says so.',
    fault: {
      missing: 'This has to be filled in.',
      json: 'This is no JSON object.',
      time: 'A window needs a start and another end.',
      nobody: 'This means nobody.',
      unknown: 'The workloads that were chosen are not known to this tab any more.',
    },
    faultLine: (line: string) => `“${line}” is no condition.`,
    faultNumber: (min: number, max: number) => `A number from ${n(min)} to ${n(max)}.`,
    faults: 'Some fields are not filled in as they have to be.',
    rules: 'Rules',
    ruleStandard: (text: string) => `${text} (default)`,
    ruleAtMost: (count: number) => `at most ${n(count)}`,
    ruleRaised: (count: number, approved: string) =>
      `at most ${n(count)} since it was continued; approved: ${approved}`,
    ruleRaisedStandard: (count: number, approved: string) =>
      `${approved}, and at least ${n(count)} since it was continued`,
    rulesLead: 'With more workloads than this in a bad way it halts; of two numbers the greater one counts.',
    ruleFailed: 'none in wave 1, then 3 or 1 %',
    ruleSilent: '5 %',
    rule: {
      failed: 'Failed',
      unhealthy: 'Became unhealthy',
      drifted: 'Drifted',
      silent: 'Skipped or silent',
    } satisfies Record<Limited, string> as Record<Limited, string>,
    ruleInFlight: 'Changed at one time',
    ruleInstances: (count: number) => `${n(count)} ${plural(count, 'instance', 'instances')}`,
    ruleCatchUp: 'Waits for those that are away',
    ruleDays: (days: number) => `${n(days)} ${plural(days, 'day', 'days')}`,
    ruleWindows: 'Windows (UTC)',
    ruleAnyTime: 'at any time',
    ruleRetry: 'Where it failed before',
    ruleRetried: 'is tried again',
  },
  fr: {
    title: 'Nouvelle campagne',
    editTitle: 'Modifier la campagne',
    edit: 'Modifier',
    remove: 'Supprimer le brouillon',
    removeLead: 'Personne n’a été prié de l’approuver, et rien n’en est venu. Il ne peut être rétabli.',
    removed: 'Le brouillon est supprimé.',
    again: 'Copier en une nouvelle',
    forgotten: 'Elle s’est terminée il y a plus de 90 jours : ce qu’elle portait n’est plus conservé.',
    cannotEdit:
      'Elle choisit par types, versions ou capacités, que ce formulaire ne connaît pas : modifiez-la par l’API.',
    back: 'Retour à la campagne',
    gone: 'Son plan est dépassé : elle ne peut plus être modifiée.',
    what: 'Quoi',
    version: (number: number) => `Version ${n(number)} d’une config de parc`,
    seeVersion: 'La voir',
    who: 'Quels workloads',
    scopeHint:
      'Une condition par ligne, toutes valent : muster/env=staging · identity/host.name in (web-*) · team=payments · !muster/kept.',
    scopeOfVersion: 'Vide : tous ceux qui suivent la config de parc.',
    exclude: 'Laisser de côté ceux qui remplissent',
    excludeHint: 'Une condition par ligne, toutes valent ; vide ne laisse personne de côté.',
    excludeNames: 'Laisser de côté, par nom ou id',
    excludeNamesHint:
      'Séparés par des virgules ou des fins de ligne : noms de workloads, d’hôtes ou d’objets Kubernetes ; web-* aussi.',
    counting: 'On compte…',
    matches: (count: number, production: number) =>
      `Vise ${workloads(count)}${production > 0 ? `, dont ${n(production)} en production` : ''}.`,
    nobody: 'Ne vise aucun workload.',
    matchedNames: (names: readonly string[], more: number) =>
      `${more > 0 ? 'Par exemple' : 'À savoir'} ${formatList(names)}.`,
    leftOut: (count: number) => `${workloads(count)} de côté.`,
    disconnected: (count: number) => `${n(count)} sont absents en ce moment.`,
    unmet: (lines: readonly string[]) => `Aucun workload ne remplit ${formatList(lines)}.`,
    noneMeetsAll: 'Chaque condition est remplie par quelques workloads, et aucun ne les remplit toutes.',
    unmatched: (names: readonly string[]) => `Personne ici ne s’appelle ${formatList(names)}.`,
    waves: 'Vagues',
    wavesHint:
      'Chaque vague commence quand la précédente est finie et a été observée. En production, un seul workload commence, quoi qu’il soit écrit ici.',
    wave: (number: number) => `Vague ${n(number)}`,
    lastWave: (number: number) => `Vague ${n(number)} : tous ceux qui restent`,
    size: 'Combien',
    by: { count: 'workloads', percentage: '% du tout', all: 'tous ceux qui remplissent' },
    byLabel: 'De quoi',
    waveOnly: 'Seulement ceux qui remplissent',
    dwell: 'Observer pendant (secondes)',
    addWave: 'Ajouter une vague',
    removeWave: (number: number) => `Enlever la vague ${n(number)}`,
    limits: 'Ce qui l’arrête',
    limitsHint:
      'Elle s’arrête d’elle-même quand plus de workloads que cela vont mal. Vide : le nombre indiqué à côté.',
    limit: {
      failed: 'Échoués, au plus',
      unhealthy: 'Devenus malades, au plus',
      drifted: 'L’ont appliquée puis exécutent autre chose, au plus',
      silent: 'Sautés ou sans réponse, au plus',
    } as Record<Limited, string>,
    limitHint: {
      failed: 'Vide : aucun dans la première vague, puis 3 ou 1 %, le plus élevé des deux',
      unhealthy:
        'Ceux qui allaient bien à leur tour. Vide : aucun dans la première vague, puis 3 ou 1 %, le plus élevé des deux',
      drifted:
        'Depuis une demi-minute, et pas avant leur tour. Vide : aucun dans la première vague, puis 3 ou 1 %, le plus élevé des deux',
      silent: 'Vide : 5 %',
    } as Record<Limited, string>,
    limitHere: (hint: string, count: number | null) =>
      count === null ? `${hint}.` : `${hint} : ${n(count)} ici.`,
    pace: 'À quel rythme, et quand',
    inFlight: 'Instances modifiées à la fois',
    inFlightHint: (standard: number, max: number) =>
      `Aucun autre workload ne commence tant que tant d’instances redémarrent ; ${n(standard)} si rien n’est dit, ${n(max)} au plus.`,
    catchUp: 'Attendre les absents (jours)',
    catchUpHint: (standard: number, max: number) =>
      `Qui revient dans ce délai la reçoit alors ; ${n(standard)} si rien n’est dit, ${n(max)} au plus, 0 n’attend personne.`,
    windows: 'Fenêtres',
    windowsNone: 'Aucune fenêtre : les workloads commencent à toute heure.',
    windowsHint:
      'Les workloads ne commencent que dans une fenêtre. Heures UTC ; une fin avant le début est au lendemain.',
    window: (number: number) => `Fenêtre ${n(number)}`,
    days: ['dim', 'lun', 'mar', 'mer', 'jeu', 'ven', 'sam'],
    everyDay: 'chaque jour',
    from: 'De (UTC)',
    to: 'À (UTC)',
    addWindow: 'Ajouter une fenêtre',
    removeWindow: (number: number) => `Enlever la fenêtre ${n(number)}`,
    retry: 'Aussi là où cette configuration a déjà échoué',
    retryHint: 'Ces workloads sont laissés de côté si rien n’est dit.',
    fault: {
      missing: 'Ce champ doit être rempli.',
      json: 'Ce n’est pas un objet JSON.',
      time: 'Une fenêtre a besoin d’un début et d’une autre fin.',
      nobody: 'Cela ne vise personne.',
      unknown: 'Cet onglet ne connaît plus les workloads choisis.',
    },
    faultLine: (line: string) => `« ${line} » n’est pas une condition.`,
    faultNumber: (min: number, max: number) => `Un nombre de ${n(min)} à ${n(max)}.`,
    faults: 'Certains champs ne sont pas remplis comme il faut.',
    rules: 'Règles',
    ruleStandard: (text: string) => `${text} (par défaut)`,
    ruleAtMost: (count: number) => `${n(count)} au plus`,
    ruleRaised: (count: number, approved: string) =>
      `${n(count)} au plus depuis la reprise ; approuvé : ${approved}`,
    ruleRaisedStandard: (count: number, approved: string) =>
      `${approved}, et au moins ${n(count)} depuis la reprise`,
    rulesLead:
      'Plus de workloads que cela en difficulté, et elle s’arrête ; de deux nombres, le plus grand compte.',
    ruleFailed: 'aucun dans la vague 1, puis 3 ou 1 %',
    ruleSilent: '5 %',
    rule: {
      failed: 'Échoués',
      unhealthy: 'Devenus malades',
      drifted: 'Ont dérivé',
      silent: 'Sautés ou muets',
    } as Record<Limited, string>,
    ruleInFlight: 'Modifiées à la fois',
    ruleInstances: (count: number) => `${n(count)} ${plural(count, 'instance', 'instances')}`,
    ruleCatchUp: 'Attend les absents',
    ruleDays: (days: number) => `${n(days)} ${plural(days, 'jour', 'jours')}`,
    ruleWindows: 'Fenêtres (UTC)',
    ruleAnyTime: 'à toute heure',
    ruleRetry: 'Là où elle a échoué',
    ruleRetried: 'nouvel essai',
  },
})

function describeApproved(key: Limited, limit: number | undefined): string {
  const words = say(campaignFormTexts)
  if (limit !== undefined) return words.ruleAtMost(limit)
  return words.ruleStandard(key === 'silent' ? words.ruleSilent : words.ruleFailed)
}

/** A limit as it was approved with the plan, and what it was raised to since. */
export function describeLimit(
  key: Limited,
  { limits, raised = {} }: Pick<CampaignRecord, 'limits' | 'raised'>,
): string {
  const words = say(campaignFormTexts)
  const asked = limits[key]
  const approved = describeApproved(key, asked)
  const now = raised[key]
  if (now === undefined) return approved
  // Where nobody asked for one, a later wave may allow more than it was raised to.
  return asked === undefined ? words.ruleRaisedStandard(now, approved) : words.ruleRaised(now, approved)
}
