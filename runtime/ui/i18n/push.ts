import { defineTexts, plural } from './define.ts'
import { formatNumber, quoted } from './format.ts'

const n = formatNumber

/** Texts of the page of one push. */
export const pushTexts = defineTexts({
  en: {
    title: (hash: string) => `Push ${hash}`,
    backTo: (hash: string) => `Back to ${hash}`,
    by: (who: string) => `by ${who}`,
    auto: 'the automatic rollback',
    waiting: 'waiting',
    applying: 'applying',
    applied: 'applied',
    failed: 'failed',
    counts: (applied: number, failed: number, applying: number, waiting: number) =>
      `${n(applied)} applied · ${n(failed)} failed · ${n(applying)} applying · ${n(waiting)} waiting`,
    reached: (applied: number, failed: number, total: number) =>
      `${n(applied)} applied, ${n(failed)} failed of ${n(total)} ${plural(total, 'instance', 'instances')}.`,
    theRequest: 'The request',
    askedBy: (who: string, approver: string) =>
      approver ? `requested by ${who}, approved by ${approver}` : `requested by ${who}, approved by nobody`,
    glass: {
      broken: (who: string, why: string) =>
        `The glass was broken by ${who}, without an approval${why && `: ${quoted(why)}`}.`,
      noted: (what: string) => `For the record: ${quoted(what)}.`,
      unseen: 'Nobody else has looked at it yet.',
      see: 'What is to be looked at',
      seen: (who: string, ago: string, isInOrder: boolean) =>
        `${who} looked at it (${ago}): ${isInOrder ? 'in order' : 'not in order'}.`,
    },
    helped: (total: number, since: string) =>
      `${total === 1 ? 'Its instance is' : total === 2 ? 'Both instances are' : `All ${n(total)} instances are`} healthy again${since && ` (since ${since})`}.`,
    notHelped: (count: number, total: number) =>
      `${n(count)} of ${n(total)} ${plural(total, 'instance is', 'instances are')} unhealthy still, as before the push.`,
    since: (count: number, total: number) =>
      `${n(count)} of ${n(total)} ${plural(total, 'instance', 'instances')} ${plural(count, 'is', 'are')} unhealthy since this push.`,
    unhealthy: (count: number, total: number) =>
      `${n(count)} of ${n(total)} ${plural(total, 'instance', 'instances')} ${plural(count, 'is', 'are')} unhealthy now.`,
    whatIsWrong: 'What is wrong, and what to do',
    difference: 'See the difference',
    bar: 'How far it got',
    noAnswer: (count: number) => `${n(count)} without an answer`,
    silent: (count: number) => `${n(count)} ${plural(count, 'does', 'do')} not answer.`,
    late: 'after the push had ended',
    of: (total: number) => `of ${n(total)} ${plural(total, 'instance', 'instances')}`,
    sick: (count: number) => `${n(count)} unhealthy with it`,
    timeTo: (percent: string) => `to ${percent} %`,
    stragglers: 'Not there yet',
    share: (key: string, value: string, count: number) =>
      `${n(count)} of them have ${key} ${value} in common.`,
    causes: 'What went wrong',
    others: (count: number) => `and ${n(count)} more`,
    targets: 'Instances',
    joined: 'Joined later',
    seeRollback: 'See the rollback',
    isRollback: (hash: string) => `This is a rollback: it answers the failure of ${hash}.`,
    superseded: 'Another push of this workload took its place.',
    noStatus:
      'None of its instances was there to answer. Nothing is known to run it: it is decided by those that come back. See whether their hosts or pods run.',
    nobody: (total: number) =>
      total === 1
        ? 'The one instance has not answered: nobody knows what it runs. See whether its supervisor is up; an answer that comes later still counts.'
        : `None of ${n(total)} instances has answered: nobody knows what they run. See whether their supervisors are up; answers that come later still count.`,
    allDone: (time: string) => `Every instance applied it within ${time}.`,
    someFailed: (failed: number, total: number) =>
      `${n(failed)} of ${n(total)} ${plural(total, 'instance', 'instances')} could not apply it.`,
    failedNext: 'See what keeps those that failed from running it, or propose a config that they can run.',
    silentNext:
      'Of these only what they ran before is known. See whether their supervisors are up, then push again or, where another config was applied before, roll back.',
    running: (applied: number, total: number) => `It is on its way: ${n(applied)} of ${n(total)} have it.`,
    ended: (applied: number, total: number) => `It has ended: ${n(applied)} of ${n(total)} applied it.`,
    halted: (applied: number, total: number) =>
      `It is halted: ${n(applied)} of ${n(total)} have it, and nobody else receives it until somebody decides.`,
    excluded: (count: number) => `${n(count)} left out: not compatible`,
    column: { instance: 'Instance', state: 'State', time: 'Took', error: 'Error', version: 'Version' },
    timeline: 'Steps',
    more: (shown: number, all: number) => `The first ${n(shown)} of ${n(all)}.`,
    rollout: 'See the stages',
  },
  fr: {
    title: (hash: string) => `Poussée ${hash}`,
    backTo: (hash: string) => `Retour à ${hash}`,
    by: (who: string) => `par ${who}`,
    auto: 'le retour automatique',
    waiting: 'en attente',
    applying: 'en application',
    applied: 'appliquées',
    failed: 'échouées',
    counts: (applied: number, failed: number, applying: number, waiting: number) =>
      `${n(applied)} ${plural(applied, 'appliquée', 'appliquées')} · ${n(failed)} ${plural(failed, 'échouée', 'échouées')} · ${n(applying)} en application · ${n(waiting)} en attente`,
    reached: (applied: number, failed: number, total: number) =>
      `${n(applied)} ${plural(applied, 'appliquée', 'appliquées')}, ${n(failed)} ${plural(failed, 'échouée', 'échouées')} sur ${n(total)} ${plural(total, 'instance', 'instances')}.`,
    theRequest: 'La demande',
    askedBy: (who: string, approver: string) =>
      approver ? `demandé par ${who}, approuvé par ${approver}` : `demandé par ${who}, approuvé par personne`,
    glass: {
      broken: (who: string, why: string) =>
        `La glace a été brisée par ${who}, sans approbation${why && ` : ${quoted(why)}`}.`,
      noted: (what: string) => `Pour le journal : ${quoted(what)}.`,
      unseen: 'Personne d’autre n’y a encore regardé.',
      see: 'Ce qui est à regarder',
      seen: (who: string, ago: string, isInOrder: boolean) =>
        `${who} y a regardé (${ago}) : ${isInOrder ? 'en ordre' : 'pas en ordre'}.`,
    },
    helped: (total: number, since: string) =>
      `${total === 1 ? 'Son instance est' : total === 2 ? 'Les deux instances sont' : `Les ${n(total)} instances sont`} de nouveau ${plural(total, 'saine', 'saines')}${since && ` (depuis ${since})`}.`,
    notHelped: (count: number, total: number) =>
      `${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(total)} toujours en défaut, comme avant la poussée.`,
    since: (count: number, total: number) =>
      `${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(total)} en défaut depuis cette poussée.`,
    unhealthy: (count: number, total: number) =>
      `${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(total)} en défaut en ce moment.`,
    whatIsWrong: 'Ce qui ne va pas, et que faire',
    difference: 'Voir la différence',
    bar: 'Où elle en est',
    noAnswer: (count: number) => `${n(count)} sans réponse`,
    silent: (count: number) => `${n(count)} ${plural(count, 'ne répond', 'ne répondent')} pas.`,
    late: 'après la fin de la poussée',
    sick: (count: number) => `${n(count)} en défaut avec elle`,
    of: (total: number) => `sur ${n(total)} ${plural(total, 'instance', 'instances')}`,
    timeTo: (percent: string) => `pour ${percent} %`,
    stragglers: 'Pas encore arrivées',
    share: (key: string, value: string, count: number) =>
      `${n(count)} d’entre elles ont ${key} ${value} en commun.`,
    causes: 'Ce qui n’a pas marché',
    others: (count: number) => `et ${n(count)} de plus`,
    targets: 'Instances',
    joined: 'Arrivées ensuite',
    seeRollback: 'Voir le retour',
    isRollback: (hash: string) => `C’est un retour : il répond à l’échec de ${hash}.`,
    superseded: 'Une autre poussée de ce workload a pris sa place.',
    noStatus:
      'Aucune de ses instances n’était là pour répondre. On ne sait si quelqu’un l’exécute : celles qui reviennent le diront. Voyez si leurs hôtes ou pods tournent.',
    nobody: (total: number) =>
      total === 1
        ? 'La seule instance n’a pas répondu : on ne sait pas ce qu’elle exécute. Voyez si son superviseur tourne ; une réponse tardive compte encore.'
        : `Aucune des ${n(total)} instances n’a répondu : on ne sait pas ce qu’elles exécutent. Voyez si leurs superviseurs tournent ; les réponses tardives comptent encore.`,
    allDone: (time: string) => `Toutes les instances l’ont appliquée en ${time}.`,
    someFailed: (failed: number, total: number) =>
      `${n(failed)} ${plural(failed, 'instance', 'instances')} sur ${n(total)} ${plural(failed, 'n’a', 'n’ont')} pas pu l’appliquer.`,
    failedNext:
      'Voyez ce qui en empêche celles qui ont échoué, ou proposez une config qu’elles peuvent exécuter.',
    silentNext:
      'De celles-ci, on ne sait que ce qu’elles exécutaient avant. Voyez si leurs superviseurs tournent, puis poussez de nouveau ou, si une autre config y fut appliquée, revenez en arrière.',
    running: (applied: number, total: number) => `Elle est en route : ${n(applied)} sur ${n(total)} l’ont.`,
    ended: (applied: number, total: number) =>
      `Elle est terminée : ${n(applied)} sur ${n(total)} l’ont appliquée.`,
    halted: (applied: number, total: number) =>
      `Elle est arrêtée : ${n(applied)} sur ${n(total)} l’ont, et plus personne ne la reçoit avant une décision.`,
    excluded: (count: number) => `${n(count)} laissées de côté : non compatibles`,
    column: { instance: 'Instance', state: 'État', time: 'Durée', error: 'Erreur', version: 'Version' },
    timeline: 'Étapes',
    more: (shown: number, all: number) => `Les ${n(shown)} premières sur ${n(all)}.`,
    rollout: 'Voir les étapes',
  },
})
