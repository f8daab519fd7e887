import type { ErrorOfAlert } from '../../../lib/model/alert-about.ts'
import type { Common } from '../../../lib/model/alert-groups.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { CampaignHalt } from '../../../lib/wire/campaigns.ts'
import type { Outage } from '../../../lib/wire/outages.ts'
import type { PushAftermath } from '../../../lib/wire/revisions.ts'
import { describeAftermath } from './aftermath.ts'
import { autoApplyTexts } from './auto-apply.ts'
import { describeHalt, describeHaltNext } from './campaign-sentences.ts'
import { describeCause, describeWhy } from './causes.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatDay, formatExact, formatNumber, formatWhen, shortHash } from './format.ts'
import { rolloutTexts } from './rollout.ts'

/** Texts of alerts. */
export const alertTexts = defineTexts({
  en: {
    title: 'Alerts',
    lead: 'What muster noticed by itself and somebody should look at; an alert ends with its cause.',
    open: 'Open',
    resolved: 'Resolved too',
    filter: 'Filter by workload, rule or text',
    column: {
      alert: 'Alert',
      workload: 'About',
      message: 'What happened',
      fired: 'Since',
    },
    severity: { critical: 'critical', warning: 'warning' },
    rules: {
      workload_down: 'Workload down',
      workload_unhealthy: 'Workload unhealthy',
      push_failed: 'Push failed',
      rollout_halted: 'Rollout halted',
      config_drift: 'Config drift',
      version_outdated: 'Version outdated',
      campaign_halted: 'Campaign halted',
      campaign_failures: 'Campaign with failures',
      auto_apply_held: 'Stopped applying by itself',
      config_conflict: 'Fleet configs in conflict',
      administrator_kept: 'Last administrator kept',
      approval_policy_lowered: 'Approval policy that asks less',
      approval_policy_unreadable: 'Approval policy cannot be read',
      last_resort_login: 'Sign-in of the last resort',
    },
    resolve: 'Resolve',
    resolveTitle: (rule: string, name: string) => `Resolve “${rule}” of ${name}`,
    resolveLead: 'It stays quiet until the cause has gone once. For ten minutes this can be undone.',
    resolveReason: 'Why, for whoever looks later (optional)',
    resolvedNow: 'Resolved. It stays quiet until the cause has gone once.',
    resolveMany: (count: number) => `Resolve ${formatNumber(count)} ${plural(count, 'alert', 'alerts')}`,
    resolvedMany: (count: number) =>
      `${formatNumber(count)} ${plural(count, 'alert', 'alerts')} resolved. ${plural(count, 'It stays', 'They stay')} quiet until the cause has gone once.`,
    stopped: (done: number, of: number) =>
      `Stopped after ${formatNumber(done)} of ${formatNumber(of)} alerts.`,
    chosen: (count: number) => `${formatNumber(count)} selected`,
    choose: (rule: string, name: string) => `Select “${rule}” of ${name}`,
    chooseAll: 'Select all that can be resolved',
    clear: 'Clear',
    andMore: (count: number) => `and ${formatNumber(count)} more`,
    bar: 'Selected alerts',
    see: 'See why',
    showThem: (count: number) => `Show the ${formatNumber(count)} alerts`,
    inCommon: {
      config: (hash: string) => `config ${hash}`,
      cluster: (name: string) => `cluster ${name}`,
    },
    outage: {
      down: (count: string, at: string) => `${count} workloads went down at ${at}`,
      leaving: (count: string, at: string) => `The last instances of ${count} workloads left at ${at}`,
      other: (rule: string, count: string, at: string) => `${rule} · ${count} workloads at ${at}`,
      nowhere: 'no environment',
      elsewhere: (count: string) => `others ${count}`,
    },
    bandTitle: {
      critical: 'Other critical alerts',
      outage: 'Other alerts',
      lost: 'Critical alerts of other moments',
      rest: 'Other alerts',
    },
    countOf: (shown: number, all: number) =>
      `${formatNumber(shown)} of ${formatNumber(all)} ${plural(all, 'alert', 'alerts')}`,
    undo: 'Undo',
    reopen: 'Open again',
    reopened: 'The alert is open again.',
    because: (reason: string) => `“${reason}”`,
    none: 'No alert is open. What is wrong for less than a minute is on the fleet’s page first.',
    noneFit: 'No alert fits.',
    count: (n: number) => `${formatNumber(n)} ${plural(n, 'alert', 'alerts')}`,
    resolvedAt: 'Resolved',
    sentence: {
      workload_down: 'No instance is connected any more.',
      config_drift: 'The assigned config is not applied everywhere.',
      version_outdated: 'The version is older than the minimum.',
    } as Record<string, string>,
    drift: (hash: string, count: number, of: number, failed: number) =>
      `Config ${hash} is not applied on ${formatNumber(count)} of ${formatNumber(of)} ${plural(of, 'instance', 'instances')}${failed > 0 ? `, ${formatNumber(failed)} failed it` : ''}.`,
    outdated: (version: string, minimum: string) =>
      `It runs ${version}, older than the recommended ${minimum}.`,
    helps: {
      elsewhere: 'Its config is not pushed from here: mend it where it is kept.',
      correct: 'Then correct its config.',
      correctOrBack: 'Then correct its config or roll back.',
      restart: 'Then restart them or propose a change.',
      restartOrBack: 'Then restart them, propose a change or roll back.',
    },
    onWhom: (names: string, more: number) =>
      `On ${names}${more > 0 ? ` and ${formatNumber(more)} more` : ''}.`,
    next: {
      workload_down: 'Look at its activity, and whether its hosts or pods still run.',
      workload_unhealthy: 'Look at the failing component.',
      push_failed: 'Look at the error of each instance, then propose a corrected config.',
      rollout_halted: 'Look at the stage that stopped it.',
      config_drift: 'Look at the instances that do not run it.',
      version_outdated: 'Bring its collectors to the recommended version.',
    } as Record<string, string>,
    unhealthy: (count: number, total: number) =>
      `${formatNumber(count)} of ${formatNumber(total)} live ${plural(total, 'instance', 'instances')} unhealthy for a minute or longer.`,
    unhealthySince: (count: number, total: number, hash: string, since: number) =>
      `${formatNumber(count)} of ${formatNumber(total)} live ${plural(total, 'instance', 'instances')} unhealthy${since < count ? `, ${formatNumber(since)} of them` : ''} since config ${hash} was pushed.`,
    pushFailed: (hash: string) => `Config ${hash} failed.`,
    rolloutHalted: (stage: number) =>
      `It stopped by itself in stage ${formatNumber(stage)} and waits for somebody to decide.`,
    rolloutHeld: (stage: number, why: string, isForDays: boolean) =>
      `It has waited before stage ${formatNumber(stage)} for ${isForDays ? 'a day' : 'an hour'} or longer: ${why}.`,
    recovered: (count: number) =>
      count === 1
        ? 'Its one live instance is healthy again: continue the rollout, or roll it back.'
        : `All ${formatNumber(count)} live instances are healthy again: continue the rollout, or roll it back.`,
    campaignFailures: (failed: number, total: number, names: string, more: number) =>
      `It failed on ${formatNumber(failed)} of ${formatNumber(total)} ${plural(total, 'workload', 'workloads')}: ${names}${more > 0 ? ` and ${formatNumber(more)} more` : ''}.`,
    campaignLeftOut: (count: number) =>
      `${formatNumber(count)} ${plural(count, 'was', 'were')} left out by its plan.`,
    campaignNext: 'Bring what failed a config that works: then this ends by itself.',
    conflict: (others: string, count: number) =>
      `${others} ${plural(count, 'selects a workload', 'select workloads')} of it with the same priority: ${formatNumber(count)} ${plural(count, 'stays', 'stay')} here. Change a priority or a selector.`,
    keptAdministrator:
      'The groups of the identity provider make this user no administrator, and nobody else is one. Make somebody else an administrator, or mend the groups there: the next sign-in follows them.',
    loweredPolicy: (who: string, at: string) =>
      `${who} asked for an approval policy that asks less. It counts from ${formatExact(at)}, or once a second person confirms it. Ask for the former one under Settings to stop it.`,
    loweredSince: (who: string, since: string) =>
      `The approval policy asks less since ${formatExact(since)}: ${who} asked for it, and nobody stood against it for a day. Ask for the former one under Settings to take it back. This ends by itself a day later.`,
    unreadablePolicy: (where: string) =>
      `The stored approval policy cannot be read (at ${where}): every change takes two approvals by others than its authors, given within the hour. Store the policy anew under Settings, and find out who wrote over it.`,
    lastResort: (at: string) =>
      `The only account that may sign in with a password did so at ${formatExact(at)}. Make sure that it was meant to. This ends by itself a day later.`,
  },
  fr: {
    title: 'Alertes',
    lead: 'Ce que muster a remarqué de lui-même et qu’il faut regarder ; une alerte finit avec sa cause.',
    open: 'Ouvertes',
    resolved: 'Résolues aussi',
    filter: 'Filtrer par workload, règle ou texte',
    column: {
      alert: 'Alerte',
      workload: 'À propos de',
      message: 'Ce qui s’est passé',
      fired: 'Depuis',
    },
    severity: { critical: 'critique', warning: 'avertissement' },
    rules: {
      workload_down: 'Workload absent',
      workload_unhealthy: 'Workload en défaut',
      push_failed: 'Poussée échouée',
      rollout_halted: 'Déploiement arrêté',
      config_drift: 'Écart de config',
      version_outdated: 'Version dépassée',
      campaign_halted: 'Campagne arrêtée',
      campaign_failures: 'Campagne avec échecs',
      auto_apply_held: 'Application automatique arrêtée',
      config_conflict: 'Configs de parc en conflit',
      administrator_kept: 'Dernier administrateur gardé',
      approval_policy_lowered: 'Règle d’approbation moins exigeante',
      approval_policy_unreadable: 'Règle d’approbation illisible',
      last_resort_login: 'Connexion de dernier recours',
    },
    resolve: 'Résoudre',
    resolveTitle: (rule: string, name: string) => `Résoudre « ${rule} » de ${name}`,
    resolveLead:
      'Elle se tait jusqu’à ce que la cause ait disparu une fois. On peut revenir dessus pendant dix minutes.',
    resolveReason: 'Pourquoi, pour qui regardera plus tard (facultatif)',
    resolvedNow: 'Résolue. Elle se tait jusqu’à ce que la cause ait disparu une fois.',
    resolveMany: (count: number) => `Résoudre ${formatNumber(count)} ${plural(count, 'alerte', 'alertes')}`,
    resolvedMany: (count: number) =>
      `${formatNumber(count)} ${plural(count, 'alerte résolue', 'alertes résolues')}. ${plural(count, 'Elle se tait', 'Elles se taisent')} jusqu’à ce que la cause ait disparu une fois.`,
    stopped: (done: number, of: number) =>
      `Arrêté après ${formatNumber(done)} alertes sur ${formatNumber(of)}.`,
    chosen: (count: number) => `${formatNumber(count)} ${plural(count, 'choisie', 'choisies')}`,
    choose: (rule: string, name: string) => `Choisir « ${rule} » de ${name}`,
    chooseAll: 'Choisir toutes celles qu’on peut résoudre',
    clear: 'Tout ôter',
    andMore: (count: number) => `et ${formatNumber(count)} de plus`,
    bar: 'Alertes choisies',
    see: 'Voir pourquoi',
    showThem: (count: number) => `Montrer les ${formatNumber(count)} alertes`,
    inCommon: {
      config: (hash: string) => `config ${hash}`,
      cluster: (name: string) => `cluster ${name}`,
    },
    outage: {
      down: (count: string, at: string) => `${count} workloads ont disparu à ${at}`,
      leaving: (count: string, at: string) =>
        `Les dernières instances de ${count} workloads sont parties à ${at}`,
      other: (rule: string, count: string, at: string) => `${rule} · ${count} workloads à ${at}`,
      nowhere: 'sans environnement',
      elsewhere: (count: string) => `autres ${count}`,
    },
    bandTitle: {
      critical: 'Autres alertes critiques',
      outage: 'Autres alertes',
      lost: 'Alertes critiques d’autres moments',
      rest: 'Autres alertes',
    },
    countOf: (shown: number, all: number) =>
      `${formatNumber(shown)} sur ${formatNumber(all)} ${plural(all, 'alerte', 'alertes')}`,
    undo: 'Annuler',
    reopen: 'Rouvrir',
    reopened: 'L’alerte est de nouveau ouverte.',
    because: (reason: string) => `« ${reason} »`,
    none: 'Aucune alerte n’est ouverte. Ce qui ne va pas depuis moins d’une minute se voit d’abord sur la page du parc.',
    noneFit: 'Aucune alerte ne correspond.',
    count: (n: number) => `${formatNumber(n)} ${plural(n, 'alerte', 'alertes')}`,
    resolvedAt: 'Résolue',
    unhealthy: (count: number, total: number) =>
      `${formatNumber(count)} ${plural(count, 'instance active', 'instances actives')} sur ${formatNumber(total)} en défaut depuis une minute au moins.`,
    unhealthySince: (count: number, total: number, hash: string, since: number) =>
      `${formatNumber(count)} ${plural(count, 'instance', 'instances')} sur ${formatNumber(total)} en défaut${since < count ? `, dont ${formatNumber(since)}` : ''} depuis la poussée de la config ${hash}.`,
    pushFailed: (hash: string) => `La config ${hash} a échoué.`,
    rolloutHalted: (stage: number) =>
      `Il s’est arrêté de lui-même à l’étape ${formatNumber(stage)} et attend que quelqu’un décide.`,
    rolloutHeld: (stage: number, why: string, isForDays: boolean) =>
      `Il attend depuis ${isForDays ? 'un jour' : 'une heure'} ou plus avant l’étape ${formatNumber(stage)} : ${why}.`,
    recovered: (count: number) =>
      count === 1
        ? 'Sa seule instance active est de nouveau saine : poursuivez le déploiement, ou revenez en arrière.'
        : `Les ${formatNumber(count)} instances actives sont de nouveau saines : poursuivez le déploiement, ou revenez en arrière.`,
    campaignFailures: (failed: number, total: number, names: string, more: number) =>
      `Échec sur ${formatNumber(failed)} ${plural(failed, 'workload', 'workloads')} sur ${formatNumber(total)} : ${names}${more > 0 ? ` et ${formatNumber(more)} de plus` : ''}.`,
    campaignLeftOut: (count: number) =>
      `${formatNumber(count)} ${plural(count, 'a été laissé', 'ont été laissés')} de côté par son plan.`,
    campaignNext: 'Apportez à ce qui a échoué une config qui marche : l’alerte se résout alors d’elle-même.',
    conflict: (others: string, count: number) =>
      `${others} ${plural(count, 'choisit un de ses workloads', 'choisissent de ses workloads')} avec la même priorité : ${formatNumber(count)} ${plural(count, 'reste', 'restent')} ici. Changez une priorité ou un sélecteur.`,
    keptAdministrator:
      'D’après les groupes du fournisseur d’identité, cet utilisateur n’est plus administrateur, et personne d’autre ne l’est. Nommez un autre administrateur ou corrigez les groupes là-bas : la prochaine connexion les suivra.',
    loweredPolicy: (who: string, at: string) =>
      `${who} a demandé une règle d’approbation moins exigeante. Elle vaudra à partir de ${formatExact(at)}, ou dès qu’une deuxième personne la confirme. Redemandez l’ancienne dans les réglages pour l’arrêter.`,
    loweredSince: (who: string, since: string) =>
      `La règle d’approbation est moins exigeante depuis ${formatExact(since)} : ${who} l’a demandé, et personne ne s’y est opposé pendant un jour. Redemandez l’ancienne dans les réglages pour revenir en arrière. L’alerte se résout d’elle-même un jour plus tard.`,
    unreadablePolicy: (where: string) =>
      `La règle d’approbation enregistrée est illisible (à ${where}) : tout changement demande deux approbations de personnes autres que ses auteurs, données dans l’heure. Enregistrez la règle à nouveau dans les réglages, et cherchez qui l’a modifiée.`,
    lastResort: (at: string) =>
      `Le seul compte qui peut se connecter avec un mot de passe l’a fait à ${formatExact(at)}. Assurez-vous que c’était voulu. L’alerte se résout d’elle-même un jour plus tard.`,
    drift: (hash: string, count: number, of: number, failed: number) =>
      `La config ${hash} n’est pas appliquée sur ${formatNumber(count)} ${plural(count, 'instance', 'instances')} sur ${formatNumber(of)}${failed > 0 ? `, dont ${formatNumber(failed)} en échec` : ''}.`,
    outdated: (version: string, minimum: string) =>
      `Il exécute ${version}, plus ancienne que la version recommandée ${minimum}.`,
    helps: {
      elsewhere: 'Sa config n’est pas poussée d’ici : corrigez-la là où elle est tenue.',
      correct: 'Puis corrigez sa config.',
      correctOrBack: 'Puis corrigez sa config ou revenez en arrière.',
      restart: 'Puis redémarrez-les ou proposez un changement.',
      restartOrBack: 'Puis redémarrez-les, proposez un changement ou revenez en arrière.',
    },
    onWhom: (names: string, more: number) =>
      `Sur ${names}${more > 0 ? ` et ${formatNumber(more)} de plus` : ''}.`,
    next: {
      workload_down: 'Voyez son activité, et si ses hôtes ou pods tournent encore.',
      workload_unhealthy: 'Voyez le composant en défaut.',
      push_failed: 'Voyez l’erreur de chaque instance, puis proposez une config corrigée.',
      rollout_halted: 'Voyez l’étape qui l’a arrêté.',
      config_drift: 'Voyez les instances qui ne l’exécutent pas.',
      version_outdated: 'Amenez ses collecteurs à la version recommandée.',
    },
    sentence: {
      workload_down: 'Plus aucune instance n’est connectée.',
      config_drift: 'La config assignée n’est pas appliquée partout.',
      version_outdated: 'La version est plus ancienne que le minimum.',
    },
  },
})

type Details = NonNullable<AlertRecord['details']>

const text = (value: string | number | undefined): string | undefined =>
  value === undefined ? undefined : String(value)

/** Some of the instances that an alert is about, and how many more there are; empty where it names none. */
function describeOnWhom({ instances }: Details, count: number): string {
  const names = String(instances ?? '')
  return names === '' ? '' : say(alertTexts).onWhom(names, count - names.split(', ').length)
}

/** What else to do about a workload that is unhealthy or drifts: only what is possible there now. */
function describeHelp({ rule, next_steps: steps }: AlertRecord): string {
  const words = say(alertTexts).helps
  if (!steps || (rule !== 'workload_unhealthy' && rule !== 'config_drift')) return ''
  if (!steps.includes('push')) return words.elsewhere
  const isBack = steps.includes('roll_back')
  if (rule === 'config_drift') return isBack ? words.restartOrBack : words.restart
  return isBack ? words.correctOrBack : words.correct
}

/** What to do next about an open alert; empty where the sentence says so itself. */
export const describeNext = (alert: AlertRecord): string =>
  alert.resolved_at ? '' : `${say(alertTexts).next[alert.rule] ?? ''} ${describeHelp(alert)}`.trim()

/** What happened to accounts or rights; null where an alert is about something else. */
function describePeople(rule: AlertRecord['rule'], details: AlertRecord['details']): string | null {
  const words = say(alertTexts)
  if (rule === 'administrator_kept') return words.keptAdministrator
  if (rule === 'approval_policy_unreadable' && details) return words.unreadablePolicy(String(details['name']))
  if (rule === 'approval_policy_lowered' && details?.['since'])
    return words.loweredSince(String(details['name']), String(details['since']))
  if (rule === 'approval_policy_lowered' && details)
    return words.loweredPolicy(String(details['name']), String(details['counts_at']))
  return rule === 'last_resort_login' && details ? words.lastResort(String(details['at'])) : null
}

/** That a failure makes most of its workload unhealthy as well; empty where it does not. */
const describeWorse = ({ unhealthy, total }: Details): string =>
  unhealthy === undefined ? '' : say(alertTexts).unhealthy(Number(unhealthy), Number(total))

/** Why, by the details of an alert; `about` is what it is about, as far as the reader may know: alerts name nothing. */
const causeOf = (details: Details, about: ErrorOfAlert): string =>
  describeWhy({
    ...about,
    error_cause: text(details['cause']) || about.error_cause,
    error_title: text(details['cause_title'] ?? details['title']) || about.error_title,
  })

/** How many were lost at once and when: `down`, `leaving`, or the name of another rule. */
export function describeOutage(kind: string, { count, since }: Pick<Outage, 'count' | 'since'>): string {
  const { down, leaving, other } = say(alertTexts).outage
  const [many, at] = [formatNumber(count), formatWhen(since)]
  if (kind === 'down') return down(many, at)
  return kind === 'leaving' ? leaving(many, at) : other(kind, many, at)
}

/** Where those of an outage run: the environments with their numbers, and the cluster where all are in one. */
export function describeWhere({ count, environments, cluster }: Outage): string {
  const { nowhere, elsewhere } = say(alertTexts).outage
  const more = environments.reduce((rest, { count: some }) => rest - some, count)
  const parts = environments.map(({ name, count: some }) => `${name || nowhere} ${formatNumber(some)}`)
  const all = environments.length === 1 && more === 0 ? [environments[0]!.name] : parts
  return [[...all, ...(more > 0 ? [elsewhere(formatNumber(more))] : [])].join(', '), cluster]
    .filter((part) => part !== '')
    .join(' · ')
}

/** What the alerts of a group have in common, in words. */
export function describeAlertGroup(rule: AlertRecord['rule'], common: Common): string {
  const { rules, inCommon } = say(alertTexts)
  const name = rules[rule] ?? rule
  if (common.kind === 'rule') return name
  if (common.kind === 'outage') return describeOutage(rule === 'workload_down' ? 'down' : name, common.outage)
  if (common.kind === 'config') return `${name} · ${inCommon.config(common.hash)}`
  if (common.kind === 'cluster') return `${name} · ${inCommon.cluster(common.name)}`
  return `${name} · ${describeCause(common.cause, common.title)}`
}

const asSentence = (cause: string): string => (cause === '' ? '' : `${cause}.`)

/** That a config failed, why, and what was done about it. */
function describePushFailure(details: Details, about: ErrorOfAlert): string {
  const aftermath: PushAftermath = {
    kind: String(details['aftermath']) as PushAftermath['kind'],
    config_hash: String(details['to_hash'] ?? ''),
    pushed_by: 'auto-rollback',
    applied_count: Number(details['back_applied'] ?? 0),
    failed_count: Number(details['back_failed'] ?? 0),
    no_status_count: Number(details['back_silent'] ?? 0),
    target_count: Number(details['back_total'] ?? 0),
    error_cause: text(details['back_cause']),
    error_title: text(details['back_cause_title']),
    running_count: Number(details['running']),
  }
  const cause = causeOf(details, about)
  return [
    say(alertTexts).pushFailed(shortHash(String(details['config_hash']))),
    asSentence(cause),
    describeAftermath(aftermath, cause),
    describeWorse(details),
  ]
    .filter((part) => part !== '')
    .join(' ')
}

/** How a workload is called, by its id; undefined where that is not known. */
type CallById = (id: string) => string | undefined

/** The workloads that an alert of a campaign names. */
export const workloadIdsOf = ({ details }: Pick<AlertRecord, 'details'>): string[] =>
  String(details?.['workload_ids'] ?? '')
    .split(',')
    .filter((id) => id !== '')

/** The workloads that an alert of a campaign names, as pages call them where all of them are known. */
function namesOf(details: Details, callById: CallById): string[] {
  const called = workloadIdsOf({ details }).map(callById)
  if (called.length > 0 && called.every((name) => name !== undefined)) return called
  const told = text(details['workloads']) ?? ''
  return told === '' ? [] : told.split(', ')
}

/** On whom a campaign failed, why, whom it left out, and what to do; an alert from before tells only why. */
function describeCampaignFailures(details: Details, about: ErrorOfAlert, callById: CallById): string {
  const words = say(alertTexts)
  const [failed, leftOut] = [Number(details['failed']), Number(details['left_out'] ?? 0)]
  const names = namesOf(details, callById)
  return [
    names.length === 0
      ? ''
      : words.campaignFailures(failed, Number(details['total']), names.join(', '), failed - names.length),
    asSentence(causeOf(details, about)),
    leftOut > 0 ? words.campaignLeftOut(leftOut) : '',
    words.campaignNext,
  ]
    .filter((part) => part !== '')
    .join(' ')
}

/** What keeps a rollout from its next stage, in the reader's words. */
function whyHeld(reason: string): string {
  const { why } = say(rolloutTexts).hold
  return why[reason as keyof typeof why] ?? reason
}

/** Why a rollout stands still, and how its workload is meanwhile. */
function describeStop(details: Details, about: ErrorOfAlert): string {
  const words = say(alertTexts)
  return [
    details['hold'] === undefined
      ? words.rolloutHalted(Number(details['stage']))
      : words.rolloutHeld(
          Number(details['stage']),
          whyHeld(String(details['hold'])),
          details['hold'] === 'unpromoted',
        ),
    asSentence(causeOf(details, about)),
    describeWorse(details),
    details['recovered'] === undefined ? '' : words.recovered(Number(details['recovered'])),
  ]
    .filter((part) => part !== '')
    .join(' ')
}

/** On how many instances a workload is unhealthy, since which push where that is known, of what, and some of them. */
function describeUnhealthy(details: Details, about: ErrorOfAlert): string {
  const words = say(alertTexts)
  const [count, total] = [Number(details['unhealthy']), Number(details['total'])]
  const hash = text(details['since_hash'])
  const what =
    hash === undefined
      ? words.unhealthy(count, total)
      : words.unhealthySince(count, total, shortHash(hash), Number(details['since_count'] ?? count))
  return [what, asSentence(causeOf(details, about)), describeOnWhom(details, count)]
    .filter((part) => part !== '')
    .join(' ')
}

/** What happened, in the reader's words where they are known; else the server's own sentence. */
export function describeAlert(
  { rule, message, details }: AlertRecord,
  about: ErrorOfAlert = {},
  callById: CallById = () => undefined,
): string {
  const words = say(alertTexts)
  if (rule === 'workload_unhealthy' && details) return describeUnhealthy(details, about)
  if (rule === 'config_drift' && details) {
    const count = Number(details['overdue'])
    const hash = shortHash(text(details['config_hash']))
    const said = words.drift(hash, count, Number(details['judged']), Number(details['failed']))
    return [said, asSentence(causeOf(details, about)), describeOnWhom(details, count)]
      .filter((part) => part !== '')
      .join(' ')
  }
  if (rule === 'version_outdated' && details)
    return words.outdated(String(details['version']), String(details['minimum']))
  if (rule === 'push_failed' && details) return describePushFailure(details, about)
  if (rule === 'campaign_halted' && details) {
    const text = (key: string) => String(details[key] ?? '')
    const halt = {
      gate: text('gate') as CampaignHalt['gate'],
      value: Number(details['value']),
      limit: Number(details['limit']),
      wave: Number(details['wave'] ?? 0),
      cause: text('cause'),
      title: text('title'),
    }
    const called = namesOf(details, callById)
    return [...describeHalt(halt, undefined, { about, called }), describeHaltNext(halt)].join(' ')
  }
  if (rule === 'campaign_failures' && details) return describeCampaignFailures(details, about, callById)
  if (rule === 'rollout_halted' && details) return describeStop(details, about)
  if (rule === 'auto_apply_held' && details) {
    const { hold, cause, paused, notContinued } = say(autoApplyTexts)
    if (details['gate'] === 'paused') return paused(formatDay(String(details['ends_at'])))
    if (details['gate'] === 'not_continued') return notContinued
    const why = hold[String(details['gate']) as keyof typeof hold]
    const title = String(details['title'] ?? '')
    const said =
      why?.(Number(details['value']), Number(details['limit']), text(details['approvers'])) ?? message
    return title === '' ? said : `${said} ${cause(title)}`
  }
  const ofPeople = describePeople(rule, details)
  if (ofPeople !== null) return ofPeople
  if (rule === 'config_conflict' && details)
    return words.conflict(String(details['others']), Number(details['count']))
  return words.sentence[rule] ?? message
}
